package backtest

import (
	"testing"

	"github.com/varq-project/varq/predictor/accounting/swf"
	"github.com/varq-project/varq/predictor/queue"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/archive"
)

// TestBaselinesOnTraces scores the baselines on real logs. Others have found, for the
// best that knows cells, a pinball loss of the .95 quantile of .245 (KTH) and .339
// (SDSC-SP2) of the mean wait, with cells of their own. Ours are to be about as hard to
// beat. On KTH, which has no queues, the whole log answers for a cell without a past;
// where such jobs are left out the loss is less.
func TestBaselinesOnTraces(t *testing.T) {
	for log, want := range map[string]float64{"KTH-SP2-1996": .30, "SDSC-SP2-1998": .33} {
		t.Run(log, func(t *testing.T) {
			jobs := readTrace(t, log)
			var q queue.Queue
			var methods []Method
			for _, m := range Methods {
				if m.Baseline {
					methods = append(methods, m.New(Cluster{Queue: &q}))
				}
			}
			r, err := Run(jobs, &q, methods, Options{Quantiles: someQuantiles, Budgets: someBudgets})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range r.Scores {
				last := s.Quantiles[len(s.Quantiles)-1]
				t.Logf("%-14s covers %.3f, relative pinball loss %.3f", s.Method, last.Coverage.Share, *last.Relative)
				if s.Answered < .99 {
					t.Errorf("%s answers %v", s.Method, s.Answered)
				}
			}
			best := r.Best(len(someQuantiles) - 1)
			if got := *best.Quantiles[len(someQuantiles)-1].Relative; got > want {
				t.Errorf("the best, %s, has a relative loss of %.3f, want %v", best.Method, got, want)
			}
		})
	}
}

func readTrace(t *testing.T, name string) []workload.Job {
	t.Helper()
	log, err := swf.Open(archive.Log(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var jobs []workload.Job
	for job, err := range log.Jobs() {
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, job)
	}
	return jobs
}
