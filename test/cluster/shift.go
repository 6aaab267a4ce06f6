package cluster

import (
	"iter"

	"github.com/varq-project/varq/predictor/workload"
)

// EndingAt moves a history in time, as a whole, so that its last job ends at
// the Unix second end. It holds the history in memory.
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
