package study

import (
	"iter"
	"math"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// results are outcomes by the name of their case and its seed.
type results map[Case]Values

func resultsOf(outcomes []Outcome) results {
	r := make(results, len(outcomes))
	for _, o := range outcomes {
		r[o.Case] = o.Values
	}
	return r
}

// value returns what a case measured, NaN if it is missing.
func (r results) value(name string, seed uint64, measure string) float64 {
	if v, ok := r[Case{Name: name, Seed: seed}][measure]; ok {
		return v
	}
	return math.NaN()
}

// mean returns the mean of those x that are not NaN, or NaN.
func mean(x []float64) float64 {
	sum, n := 0., 0
	for _, v := range x {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(n)
}

// overSeeds returns the interval of what is measured with each of the seeds 1 to
// n; NaN is left out.
func overSeeds(n int, measure func(seed uint64) float64) Interval {
	var x []float64
	for seed := range n {
		if v := measure(uint64(seed) + 1); !math.IsNaN(v) {
			x = append(x, v)
		}
	}
	return intervalOf(x)
}

// more returns by how many per cent x is more than y.
func more(x, y float64) float64 { return 100 * (x/y - 1) }

// paper is a number that a paper gives.
func paper(x float64) *float64 { return &x }

// readJobs reads those jobs of a log that use takes, at most so many, into
// memory: a case simulates them again and again. Use may change a job.
func readJobs(traces Traces, name string, most int, use func(*sched.Job) bool) (iter.Seq2[sched.Job, error], error) {
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
