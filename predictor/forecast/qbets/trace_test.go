package qbets_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/archive"
)

// TestTrace replays real logs. At every fourth submission, it computes a bound on the wait
// from earlier events. The first tenth is warm-up. A coverage that is .02 too low is
// accepted, because the bound uses no other present state of the queue than the ages of
// waiting jobs.
func TestTrace(t *testing.T) {
	for _, name := range []string{"SDSC-SP2-1998", "KTH-SP2-1996"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			jobs := readTrace(t, name)
			starts := slices.Clone(jobs)
			slices.SortStableFunc(starts, func(a, b workload.Job) int {
				return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
			})
			p := qbets.New()
			quantiles := []float64{.5, .75, .95}
			held, asked, down := make([]int, len(quantiles)), make([]int, len(quantiles)), 0
			for i, job := range jobs {
				for len(starts) > 0 && starts[0].Start < job.Submit {
					p.Started(&starts[0])
					starts = starts[1:]
				}
				wait, _ := job.Wait()
				for j, q := range quantiles {
					if i < len(jobs)/10 || i%4 != 0 {
						break
					}
					b := p.Bound(job.Request, job.Submit, q)
					if b.Down != "" {
						down++
						break
					}
					if b.OK {
						asked[j]++
						if wait <= b.Seconds {
							held[j]++
						}
					}
				}
				job.Start, job.End = 0, 0
				p.Submitted(&job)
			}
			t.Logf("refused as during an outage: %d", down)
			if 4*200*down > len(jobs) {
				t.Error("more than one in 200")
			}
			for j, q := range quantiles {
				coverage := float64(held[j]) / float64(asked[j])
				t.Logf("bound on the %v quantile: held for %.4f of %d", q, coverage, asked[j])
				if coverage < q-.02 {
					t.Errorf("bound on the %v quantile holds for %.4f", q, coverage)
				}
			}
		})
	}
}

// readTrace returns a log's jobs that started, by submission.
func readTrace(t *testing.T, name string) (jobs []workload.Job) {
	t.Helper()
	for job := range archive.Jobs(t, name) {
		if _, ok := job.Wait(); ok {
			jobs = append(jobs, job)
		}
	}
	slices.SortStableFunc(jobs, func(a, b workload.Job) int {
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID))
	})
	return jobs
}
