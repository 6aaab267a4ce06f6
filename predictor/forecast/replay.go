package forecast

import (
	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/workload"
)

// Replay tells the queue and the observers what happened to jobs, given in any order,
// as Events lists it. Before a job that is going to start begins to wait, Replay calls
// ask with that job. Its Start and End are the truth: a Forecaster may be told no more
// than its Request. An error of ask ends the replay and is returned.
func Replay(jobs []workload.Job, q *queue.Queue, observers []Observer, ask func(j *workload.Job) error) error {
	for _, e := range Events(jobs) {
		if e.Kind == Submitted && e.Job.Start > 0 {
			if err := ask(e.Job); err != nil {
				return err
			}
		}
		e.Tell(q, observers...)
	}
	return nil
}
