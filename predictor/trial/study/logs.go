package study

import (
	"iter"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// LongestLog bounds what a log of failures may span, in days: 100 years.
const LongestLog = 100 * 366

// ReadJobs reads the first jobs of a log for which use returns true, at most a number of
// them. use may change a job. The jobs are in memory, so that a case can simulate them
// several times.
func ReadJobs(traces Traces, name string, most int, use func(*sched.Job) bool) (iter.Seq2[sched.Job, error], error) {
	if traces == nil {
		return nil, ErrNoTraces
	}
	log, _, err := traces.Open(name)
	if err != nil {
		return nil, err
	}
	var jobs []sched.Job
	for job, err := range log {
		if err != nil {
			return nil, err
		}
		if len(jobs) == most {
			break
		}
		if use(&job) {
			jobs = append(jobs, job)
		}
	}
	return func(yield func(sched.Job, error) bool) {
		for _, job := range jobs {
			if !yield(job, nil) {
				return
			}
		}
	}, nil
}
