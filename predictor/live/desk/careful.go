package desk

import (
	"cmp"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/promise/negotiate"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// ending is the Prospect of a job's end: of a job that is not submitted yet, as it may be promised,
// and of one that waits, as it is forecast.
type ending struct {
	negotiate.Prospect
	forecast negotiate.Prospect
	bound    negotiate.Prospect // by the lower bounds of the wait; nil of a job that waits
	sample   int                // how many past waits are known; 0 of a job that waits
}

// TimeOut implements negotiate.Prospect.
func (e ending) TimeOut() float64 { return e.forecast.TimeOut() }

// Lost implements negotiate.Prospect.
func (e ending) Lost(seconds float64) float64 { return e.forecast.Lost(seconds) }

// estimate returns that of an end within some seconds, of a job that is not submitted yet.
func (e ending) estimate(seconds float64) *workload.Estimate {
	return &workload.Estimate{Prob: e.Prob(seconds), Forecast: e.forecast.Prob(seconds), Bound: e.bound.Prob(seconds), Sample: e.sample}
}

// waits are the wait of a job that is not submitted yet in three distributions: as it is forecast,
// by lower bounds, and as starts are promised. sample is how many past waits are known.
type waits struct {
	forecast, bound, promised delay.Distribution
	sample                    int
}

// waits returns the waits of the job of r, from the time first on. Each probability is that with
// which a start within the wait is promised if the work starts when the job does, so that an end
// rests on no more than a start does. As in a plan, the job may also become eligible later, so as
// not to be in the way of windows, and of promises made before. from returns the room for work that
// begins at a time.
func (d *occupancy) waits(r *trajectory.Request, first int64, job *limits.Job, windows []limits.Window, from func(at int64) workload.Room) (w waits) {
	starts := startsOf(r, first, job, windows, from)
	c := make([]workload.Candidate, len(starts))
	for i := range starts {
		c[i] = starts[i].Candidate
	}
	est := make([]workload.Estimate, len(c))
	d.Outlook.Forecast(r.All(), min(r.Now, d.Now()), c, est)
	for i := len(c) - 1; i >= 0; i-- {
		s, e := &starts[i], &est[i]
		if i+1 < len(c) && c[i].Submit == c[i+1].Submit { // the odds of longer waits may be worse
			e.Prob = min(e.Prob, est[i+1].Prob)
		}
		raise := func(wait *delay.Distribution, prob float64) { wait[s.point] = max(wait[s.point], min(prob, s.room)) }
		raise(&w.forecast, e.Forecast)
		raise(&w.bound, e.Bound)
		raise(&w.promised, e.Prob)
		w.sample = max(w.sample, e.Sample)
	}
	for _, wait := range []*delay.Distribution{&w.forecast, &w.bound, &w.promised} {
		for i := range delay.Points - 1 {
			wait[i+1] = max(wait[i+1], wait[i])
		}
	}
	return w
}

// start is how a job may start as a plan has it: it becomes eligible at the time of the Candidate.
type start struct {
	workload.Candidate
	point int     // of the distributions of its wait
	room  float64 // bounds the probability
}

// startsOf returns how the job of r may start by each of the times of delay.At from first on, in
// the order in which it becomes eligible, and then of these times. As a distribution rises evenly
// between two points, what becomes possible in between counts from the next point on.
func startsOf(r *trajectory.Request, first int64, job *limits.Job, windows []limits.Window, from func(at int64) workload.Room) (list []start) {
	limit := slurmtime.Minutes(r.Job.Limit) * 60
	waking, _ := job.Waking()
	resume, _ := job.Resume()
	before, left := first, 1. // the point before, and the room there
	for i := range delay.Points {
		by := first + int64(delay.At(i))
		if slices.ContainsFunc(windows, func(w limits.Window) bool { return w.Stops(by, limit) }) {
			before = by
			continue
		}
		begin, room := first, from(by)
		for _, w := range windows {
			if w.End <= by {
				begin = max(begin, w.End)
			}
		}
		for _, begin := range slices.Compact([]int64{begin, room.Free(begin)}) {
			awake := begin + resume
			if begin == r.Now {
				awake = begin + waking
			}
			if awake <= before {
				list = append(list, start{workload.Candidate{Submit: begin, Limit: limit, Budget: by - begin}, i, min(left, room.Within(begin, by))})
			}
		}
		before, left = by, room.Within(by, by)
	}
	slices.SortStableFunc(list, func(a, b start) int { return cmp.Compare(a.Submit, b.Submit) })
	return list
}

// young says that too few waits are known for a promise with the probability of the request, as it
// is said of a start, or "".
func (q *question) young(sample int) string {
	if no := q.Young(&q.request, sample); no != nil {
		return no.Reason
	}
	return ""
}
