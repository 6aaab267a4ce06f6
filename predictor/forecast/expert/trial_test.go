package expert

import (
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// trial is how well a forecaster's answers did, of which there are so many.
type trial struct {
	answered        int
	score, anybody  float64 // sums of the CRPS: its own, and that of the distribution of all waits
	held            []int   // by level: of how many answers the quantile held
	asked, measured int     // the questions, and those of them that were measured
}

// share returns the share of the answers of which the quantile of a level held.
func (r *trial) share(level int) float64 { return float64(r.held[level]) / float64(r.answered) }

// try asks a forecaster about each job when it is submitted. Measured is told whether it answered,
// and says whether that is measured.
func try(t *testing.T, jobs []workload.Job, q *queue.Queue, f forecast.Forecaster, levels []float64, measured func(asked int, ok bool) bool, others ...forecast.Observer) *trial {
	t.Helper()
	var all delay.Distribution
	for i := range jobs {
		wait, _ := jobs[i].Wait()
		for k := delay.Index(float64(wait)); k < delay.Points; k++ {
			all[k] += 1 / float64(len(jobs))
		}
	}
	r := &trial{held: make([]int, len(levels))}
	err := forecast.Replay(jobs, q, append([]forecast.Observer{f}, others...), func(j *workload.Job) error {
		var a forecast.Answer
		question := forecast.AtSubmission(j)
		ok := f.Forecast(&question, &a)
		if r.asked++; !measured(r.asked, ok) {
			return nil
		}
		if r.measured++; !ok {
			return nil
		}
		r.answered++
		wait, _ := j.Wait()
		r.score += a.Wait.CRPS(float64(wait))
		r.anybody += all.CRPS(float64(wait))
		for i, level := range levels {
			if float64(wait) <= a.Wait.Quantile(level) {
				r.held[i]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
