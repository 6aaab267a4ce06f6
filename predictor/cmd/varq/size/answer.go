package size

import (
	"context"
	"math"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/promise/moldable"
	"github.com/varq-project/varq/predictor/varqd/client"
)

// answer is what is known of all sizes.
type answer struct {
	By    moldable.Criterion `json:"by"`
	Best  int32              `json:"best,omitempty"` // its nodes; 0 if no wait can be forecast
	Sizes []row              `json:"sizes"`
	// Refused are the sizes that the cluster cannot have.
	Refused []refusedSize `json:"refused,omitempty"`
	api.Evidence
}

// row is a size. Times are seconds from now on; nil where too little is known.
type row struct {
	Nodes    int32    `json:"nodes"`
	Limit    int64    `json:"limit"`     // the time limit, seconds
	Median   *float64 `json:"median"`    // of the wait
	Ninety   *float64 `json:"ninety"`    // the .9 quantile of the wait
	Wait     *float64 `json:"wait"`      // expected: see moldable.Wait
	Run      float64  `json:"run"`       // expected
	RunLow   float64  `json:"run_low"`   // the interval of the median run time, if it was fitted
	RunHigh  float64  `json:"run_high"`  //
	Ends     *float64 `json:"ends"`      // expected turnaround
	Prob     *float64 `json:"prob"`      // of meeting the deadline, if there is one
	NodeTime float64  `json:"node_time"` // node-seconds of the run
}

type refusedSize struct {
	Nodes int32  `json:"nodes"`
	Why   string `json:"why"`
}

// answer asks varqd about each shape. Sizes that varqd refuses are not an error, unless it refuses
// all.
func (q *question) answer(ctx context.Context, varqd *client.Client, job *options.Job, all shapes) (answer, error) {
	a := answer{By: q.rules.By, Sizes: []row{}}
	var options []moldable.Option
	var refusal error
	for _, s := range all.list {
		request, err := s.request(job)
		if err != nil {
			return a, err
		}
		request.Quantiles, request.Forecaster = moldable.Quantiles(), q.forecaster
		prediction, err := varqd.Predict(ctx, request)
		if api.Refused(err) {
			a.Refused = append(a.Refused, refusedSize{s.nodes, err.Error()})
			refusal = err
			continue
		}
		if err != nil {
			return a, err
		}
		if len(a.Sizes) == 0 {
			a.Evidence = prediction.Evidence
		}
		option, row := q.evaluate(s, &prediction)
		options, a.Sizes = append(options, option), append(a.Sizes, row)
	}
	best, ok := q.rules.Choose(options)
	if !ok {
		return a, refusal
	}
	if !math.IsInf(options[best].Wait, 1) {
		a.Best = options[best].Nodes
	}
	return a, nil
}

// evaluate returns what a prediction comes to for a shape.
func (q *question) evaluate(s shape, p *api.Prediction) (moldable.Option, row) {
	row := row{Nodes: s.nodes, Limit: s.limit, RunLow: s.low, RunHigh: s.high}
	var quantiles []delay.Quantile
	for _, b := range p.Bounds {
		if b.Expected == nil {
			break
		}
		quantiles = append(quantiles, delay.Quantile{Q: b.Quantile, Seconds: *b.Expected})
		switch b.Quantile {
		case .5:
			row.Median = b.Expected
		case .9:
			row.Ninety = b.Expected
		}
	}
	for _, t := range s.times {
		row.Run += t / float64(len(s.times))
	}
	row.NodeTime = float64(s.nodes) * row.Run
	wait := delay.Through(quantiles)
	o := moldable.Option{Nodes: s.nodes, Wait: moldable.Wait(&wait), Run: row.Run, Cost: row.NodeTime}
	if !math.IsInf(o.Wait, 1) {
		ends := o.Turnaround()
		row.Wait, row.Ends = &o.Wait, &ends
	}
	if q.within > 0 && len(quantiles) > 0 {
		times := s.times
		if q.starts {
			times = []float64{0}
		}
		o.Prob = moldable.Ends(&wait, times, float64(q.within))
		row.Prob = &o.Prob
	}
	return o, row
}
