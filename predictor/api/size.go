package api

import "github.com/varq-project/varq/predictor/workload"

// The values of SizeRequest.By.
const (
	SizeAuto = "auto" // the least expected turnaround: wait and run time
	SizeCost = "cost" // the least work, of those equal the least turnaround
)

// SizeRequest asks which size a job had better have that is submitted now, without a promise.
type SizeRequest struct {
	// Job is what is common to all sizes, as in a ProbeRequest.
	Job   workload.Request `json:"job"`
	Needs *workload.Needs  `json:"needs,omitempty"`
	// Sizes are the sizes that the job can have, 1 to MaxProbeSizes. It is taken to run for its
	// time limit.
	Sizes []Size `json:"sizes"`
	By    string `json:"by"` // SizeAuto or SizeCost
	// Aversion is how much a longer wait must be expected to gain, as a fraction of the run time
	// without it, from 0 to MaxAversion. It goes together with SizeAuto only.
	Aversion float64 `json:"aversion,omitempty"`
	// Reconsider says that the size is not locked in: as long as the job waits, varqd may give it
	// another of Sizes. It goes together with SizeAuto only.
	Reconsider bool `json:"reconsider,omitempty"`
	// TasksPerNode is how many tasks of the job each node has, 0 if their number is the same for
	// all sizes, or not given. It matters to Reconsider only.
	TasksPerNode int32 `json:"tasks_per_node,omitempty"`
}

// MaxAversion is the greatest SizeRequest.Aversion.
const MaxAversion = 100

// SizeAnswer is the answer to a SizeRequest. Times are seconds from now on.
type SizeAnswer struct {
	// Best is the index, in Sizes, of the size to take.
	Best int `json:"best"`
	// Sizes are those of the request, in its order.
	Sizes []SizeForecast `json:"sizes"`
	// Comment, if not empty, is to be in the job's comment: by it varqd finds the job whose size is
	// not locked in.
	Comment string `json:"comment,omitempty"`
}

// SizeForecast is what is expected of a size.
type SizeForecast struct {
	Nodes int32 `json:"nodes"`
	Limit int64 `json:"limit"`
	// Wait is the expected wait, nil if too little is known or the cluster does not allow the size.
	Wait *float64 `json:"wait"`
	// Refused is why the cluster does not allow the size: a sentence without a full stop, or "".
	Refused string `json:"refused,omitempty"`
}

// Check returns what is wrong with the question by itself: Mistakes, or nil.
func (r *SizeRequest) Check() error {
	var c checker
	c.work(&r.Job, r.Needs, r.Sizes)
	c.wrong(len(r.Sizes) == 0, "sizes", "there are none")
	c.wrong(r.By != SizeAuto && r.By != SizeCost, "by", "%.40q is neither %s nor %s", r.By, SizeAuto, SizeCost)
	c.wrong(!(r.Aversion >= 0 && r.Aversion <= MaxAversion), "aversion", "%v is not a share of the run time, from 0 to %d", r.Aversion, MaxAversion)
	c.odd(r.Aversion > 0 && r.By != SizeAuto, "aversion", "goes together with %v=%s only: it is about when the job ends, and about nothing else", Field("by"), SizeAuto)
	c.odd(r.Reconsider && r.By != SizeAuto, "reconsider", "goes together with %v=%s only: what a size costs does not change while the job waits", Field("by"), SizeAuto)
	c.wrong(r.TasksPerNode < 0, "tasks_per_node", "%d is less than 0", r.TasksPerNode)
	return c.err()
}
