package cluster

import (
	"iter"

	"github.com/varq-project/varq/predictor/workload"
)

// EndingAt shifts all times of a history by the same amount, so that the latest end is at end,
// in Unix seconds. Times that are 0 stay 0. EndingAt holds the history in memory.
func EndingAt(end int64, jobs iter.Seq2[workload.Job, error]) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		var all []workload.Job
		var last int64
		for job, err := range jobs {
			if err != nil {
				yield(workload.Job{}, err)
				return
			}
			all = append(all, job)
			last = max(last, job.End)
		}
		for _, job := range all {
			for _, t := range []*int64{&job.Submit, &job.Eligible, &job.Start, &job.End} {
				if *t != 0 {
					*t += end - last
				}
			}
			if !yield(job, nil) {
				return
			}
		}
	}
}
