package deadline

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// Admission is a way to decide which ends are promised.
type Admission struct {
	// Withdraws is true if a promised job is withdrawn as soon as its limit no longer fits before
	// its deadline.
	Withdraws bool
	begin     func(*queue.Queue, *Experiment) judge
}

// judge decides for one run.
type judge interface {
	forecast.Observer
	// promises reports whether the end of a job that is about to be submitted is promised within a
	// number of seconds.
	promises(q *forecast.Question, within int64) bool
}

// Everybody promises whatever is asked.
func Everybody() Admission {
	return Admission{begin: func(*queue.Queue, *Experiment) judge { return everybody{} }}
}

// Distribution promises what completion.Prospect gives a probability of at least prob, by the plain
// forecast of the wait. varqd is more careful.
func Distribution(prob float64) Admission {
	return Admission{begin: func(q *queue.Queue, e *Experiment) judge {
		random := rand.New(rand.NewPCG(e.Seed, 0x7661_7271))
		p := predictor.Standard(q, predictor.Options{Background: e.Background}, random)
		return distribution{completion.New(p.Present(), p, random), prob}
	}}
}

// Points promises what two point estimates allow: the wait in a simulation of the queue, and then
// the run time. All jobs run for the medians that are forecast.
func Points() Admission {
	return Admission{begin: func(q *queue.Queue, _ *Experiment) judge {
		return points{Twin: twin.New(q, nil), ends: func(t *twin.Twin, q *forecast.Question) int64 {
			p, run := t.Point(&q.Request, q.Now, q.Job), t.RunTime(&q.Request, q.Now)
			return p.Expected + run.Quantile(.5)
		}}
	}}
}

// Limits promises as Points does, but all jobs run for their time limits.
func Limits() Admission {
	return Admission{begin: func(q *queue.Queue, _ *Experiment) judge {
		return points{Twin: twin.New(q, nil), ends: func(t *twin.Twin, q *forecast.Question) int64 {
			p := t.Point(&q.Request, q.Now, q.Job)
			return p.Limits + q.Limit
		}}
	}}
}

// SlurmDeadline does what Slurm's --deadline does: it refuses a job whose limit does not fit before
// the deadline, and withdraws it once that is so.
func SlurmDeadline() Admission {
	return Admission{Withdraws: true, begin: func(*queue.Queue, *Experiment) judge { return fits{} }}
}

// everybody is the judge of Everybody.
type everybody struct{ nothing }

func (everybody) promises(*forecast.Question, int64) bool { return true }

// fits is the judge of SlurmDeadline.
type fits struct{ nothing }

func (fits) promises(q *forecast.Question, within int64) bool { return q.Limit <= within }

// distribution is the judge of Distribution.
type distribution struct {
	*completion.Forecaster
	prob float64
}

func (d distribution) promises(q *forecast.Question, within int64) bool {
	var wait forecast.Answer
	if !d.Wait(q, 0, &wait) {
		return false
	}
	p := d.Prospect(q, completion.Circumstances{}, &wait.Wait)
	return p.Prob(float64(within)) >= d.prob
}

// points is the judge of Points and Limits.
type points struct {
	*twin.Twin
	ends func(*twin.Twin, *forecast.Question) int64
}

func (p points) promises(q *forecast.Question, within int64) bool { return p.ends(p.Twin, q) <= within }

// nothing learns nothing.
type nothing struct{}

func (nothing) Submitted(*workload.Job) {}
func (nothing) Started(*workload.Job)   {}
func (nothing) Ended(*workload.Job)     {}
