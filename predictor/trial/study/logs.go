package study

import (
	"iter"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
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

// Pool is a log whose machine is taken for one pool of processors.
type Pool struct {
	Jobs  []sched.Job // in the order of their submission
	Procs int32
	// Request returns what a job asks for, in no partition.
	Request func(*sched.Job) workload.Request
}

// Pool reads the first jobs of a log of the Traces, at most a number of them. The error is
// ErrNoTraces, or that of the Traces.
func (o Options) Pool(name string, most int) (p Pool, err error) {
	if o.Traces == nil {
		return p, ErrNoTraces
	}
	log, procs, err := o.Traces.Open(name)
	if err != nil {
		return p, err
	}
	for job, err := range log {
		if err != nil {
			return p, err
		}
		if len(p.Jobs) == most {
			break
		}
		p.Jobs = append(p.Jobs, job)
	}
	request, err := o.Traces.Requests(name)
	p.Procs, p.Request = procs, func(j *sched.Job) workload.Request {
		r := request(j)
		r.Partition = ""
		return r
	}
	return p, err
}
