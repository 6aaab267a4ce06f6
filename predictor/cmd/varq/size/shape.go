package size

import (
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// shape is a size that the job can have.
type shape struct {
	nodes     int32
	limit     int64     // its time limit, seconds
	times     []float64 // the run times expected, seconds, each equally likely
	low, high float64   // the interval of their median, if it was fitted
}

// shapes are all sizes of a job, by their nodes. The past is nil unless they come from past runs.
type shapes struct {
	list []shape
	past *past
}

// request returns the request of a prediction for the job in this shape.
func (s shape) request(job *options.Job) (api.PredictRequest, error) {
	shaped := *job
	shaped.Size.Nodes = fmt.Sprint(s.nodes)
	shaped.Time = slurmtime.FormatDuration(s.limit)
	request, err := shaped.Request()
	if err != nil {
		return api.PredictRequest{}, err
	}
	needs, err := shaped.Needs()
	return api.PredictRequest{Job: request, Needs: needs}, err
}
