package shadow

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/workload"
)

// Past plans reservations of past jobs, as they would have been planned then. One goroutine at a
// time calls its methods.
type Past struct {
	// Foresee is as of Options, from what was known before the job came.
	Foresee func(j *workload.Job, at int64, waits []int64) ([]float64, error)
	Rand    *rand.Rand
	rows    []row
}

// Ask plans for a past job, with its true times: those after its submission count for what became
// of it only. A job that an own limit kept from starting it leaves out.
func (p *Past) Ask(j *workload.Job) error {
	if _, waited := j.Wait(); !waited {
		return nil
	}
	asked := *j
	asked.Start, asked.End, asked.State, asked.On = 0, 0, workload.Pending, nil
	within, err := plan(&asked, j.Since(), p.Foresee, p.Rand)
	if err != nil {
		return err
	}
	p.rows = append(p.rows, row{
		Submission: j.Submission(), partition: j.Partition, nodes: max(1, j.Nodes), within: within, eligible: j.Since(), start: j.Start, end: j.End,
	})
	return nil
}

// Shadow returns what would have come of it, as of a time.
func (p *Past) Shadow(now int64) api.Shadow {
	slices.SortStableFunc(p.rows, func(a, b row) int { return cmp.Compare(a.eligible, b.eligible) })
	return sum(p.rows, now)
}
