package scenario

import (
	"fmt"
	"iter"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
)

// Arrays says of how many tasks of an array a promise is: those that start first.
type Arrays uint8

// The kinds of Arrays.
const (
	NoArrays Arrays = iota // no job is an array
	AllTasks
	HalfTasks
	FirstTask
)

var arraysNames = []string{"none", "all", "half", "first"}

// String returns the name by which ParseReservations reads a.
func (a Arrays) String() string { return arraysNames[a] }

func parseArrays(text string) (Arrays, error) {
	i := slices.Index(arraysNames, text)
	if i <= 0 {
		return NoArrays, fmt.Errorf("%.40q is none of all, half and first", text)
	}
	return Arrays(i), nil
}

// of returns how many of n tasks are promised.
func (a Arrays) of(n int) int32 {
	switch a {
	case HalfTasks:
		return int32((n + 1) / 2)
	case FirstTask:
		return 1
	}
	return int32(n)
}

// arrays returns the kind of arrays that ask.
func (r *Reservations) arrays() Arrays {
	if r.VARQ == nil {
		return NoArrays
	}
	return r.VARQ.Arrays
}

const (
	// apart is the longest time between two jobs of a burst, in seconds: a script submits them.
	apart = 60
	// mostTasks bounds the tasks of a burst, as Slurm's default of MaxArraySize does.
	mostTasks = 1000
)

// bursts yields the jobs in bursts: jobs of one user, one after the other in the log, that ask for
// the same and came within apart of one another. Each is as old as the first.
func bursts(jobs iter.Seq2[sched.Job, error], request func(*sched.Job) workload.Request) iter.Seq2[[]sched.Job, error] {
	return func(yield func([]sched.Job, error) bool) {
		var burst []sched.Job
		var last int64 // when its last job came
		var asked workload.Request
		for j, err := range jobs {
			if err != nil {
				yield(nil, err)
				return
			}
			r := request(&j)
			if n := len(burst); n > 0 && (r != asked || r.User == "" || j.Submit > last+apart || n == mostTasks) {
				if !yield(burst, nil) {
					return
				}
				burst = burst[:0]
			}
			last, asked = j.Submit, r
			if len(burst) > 0 {
				j.Submit = burst[0].Submit
			}
			burst = append(burst, j)
		}
		if len(burst) > 0 {
			yield(burst, nil)
		}
	}
}

// submitBurst submits a burst of jobs: an array that may ask for a reservation, or a single job.
func (r *runner) submitBurst(burst []sched.Job) {
	tasks := make([]*sched.Job, len(burst))
	for i := range burst {
		tasks[i] = r.arrive(&burst[i])
	}
	asks := r.random.Float64() < r.Reservations.VARQ.Share && len(tasks) > 1
	var p *promise
	if asks {
		p = r.ask(tasks[0], r.varqd.Arrays.of(len(tasks)))
	}
	for _, j := range tasks {
		if asks {
			r.excluded[j] = &grant{promise: p}
		}
		if p == nil {
			r.enqueue(j)
		}
	}
	if p == nil {
		return
	}
	p.tasks = tasks
	r.varqd.register(p, true)
	r.awaitTasks(p)
	if every := r.varqd.Replan; every > 0 {
		r.sim.Call(p.asked+every, func(now int64) { r.replanTasks(now, p) })
	}
}

// awaitTasks is await for an array.
func (r *runner) awaitTasks(p *promise) {
	begin := p.Begin
	r.sim.Call(begin, func(now int64) {
		if p.submitted || p.Begin != begin {
			return
		}
		p.submitted = true
		r.integrate(now)
		for _, j := range p.tasks {
			j.Submit, j.Limit, j.Estimate = now, p.Limit, 0
			r.enqueue(j)
		}
	})
}

// replanTasks is replan for an array, which is moved until its first task has started.
func (r *runner) replanTasks(now int64, p *promise) {
	if p.starts > 0 {
		return
	}
	p.Now = now
	before := p.Submission
	revised := r.varqd.planner.Replan(p.Request, before)
	p.Submission = revised.Submission
	if p.submitted {
		for _, j := range p.tasks {
			r.sim.Shorten(j, p.Limit)
		}
	} else {
		r.varqd.register(p, revised.Prob >= p.Prob)
		if p.Begin != before.Begin {
			r.varqd.moved(p)
			r.awaitTasks(p)
		}
	}
	r.sim.Call(now+r.varqd.Replan, func(now int64) { r.replanTasks(now, p) })
}

// startTask is startPromised for a task of an array. The promise is kept if as many tasks as were
// promised have started by the deadline.
func (r *runner) startTask(now int64, j *sched.Job, p *promise) {
	v, of := r.varqd, r.excluded[j]
	p.starts++
	hold, work := max(0, p.HoldUntil-now), min(j.Run, p.Job.Limit)
	done, held := float64(work)*float64(j.Procs), float64(hold)*float64(j.Procs)
	v.work, v.held, r.held = v.work+done, v.held+held, r.held+held
	p.worked, p.held = p.worked+done, p.held+held
	if p.starts == int(p.Tasks) {
		if now <= p.Deadline {
			r.weeks.at(p.Deadline).Kept++
		}
		r.answered(Outcome{
			Job: p.ID, Asked: p.asked, Wanted: p.wanted, Deadline: p.Deadline, Prob: p.forecast, Begin: p.Begin, Start: now,
			Work: p.worked, Held: p.held, Quoted: p.quoted,
		})
	}
	j.Run = hold + work
	r.sim.Call(now+hold, func(int64) {
		if r.excluded[j] == of { // it runs still
			r.sim.Shorten(j, hold+p.Job.Limit)
		}
	})
}
