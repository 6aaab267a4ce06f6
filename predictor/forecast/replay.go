package forecast

import (
	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/workload"
)

// Replay tells the queue and the observers of the Events of jobs, which come in any order.
// Just before it submits a job that starts later, Replay calls ask with that job. The job
// has its true Start and End, so ask may pass on no more than its Request to a Forecaster.
// An error of ask ends the replay and is returned.
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
