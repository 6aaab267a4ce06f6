package twin_test

import (
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/synthetic"
)

// TestLearnsPolicy: a twin learns by which policy jobs were started.
func TestLearnsPolicy(t *testing.T) {
	const procs = 128
	for _, c := range synthetic.Policies {
		policy := c.Policy
		jobs := synthetic.Scheduled(policy, procs, c.Load, 4000)
		var q queue.Queue
		w := twin.New(&q, nil)
		replay(t, jobs, &q, []forecast.Observer{w}, func(*workload.Job) {})
		s := w.Snapshot(&jobs[len(jobs)-1].Request, jobs[len(jobs)-1].End, 0)
		t.Logf("%v: learnt %v, %d processors", policy, s.Policy, s.Procs)
		if s.Policy != policy {
			t.Errorf("%v taken for %v", policy, s.Policy)
		}
		if s.Procs < procs*9/10 || s.Procs > procs {
			t.Errorf("%d processors of %d", s.Procs, procs)
		}
	}
}

// replay replays a log.
func replay(t *testing.T, jobs []workload.Job, q *queue.Queue, observers []forecast.Observer, asked func(*workload.Job)) {
	t.Helper()
	err := forecast.Replay(jobs, q, observers, func(j *workload.Job) error {
		asked(j)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
