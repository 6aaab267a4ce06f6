// Package deadline simulates a cluster on which some users need the end of a job by a deadline.
// They ask for a promise when they submit the job, and take the job elsewhere if it is refused. An
// Admission decides which ends are promised. The measures are those of "3Sigma: Distribution-based
// Cluster Scheduling for Runtime Uncertainty" (Park, Tumanov, Jiang, Kozuch and Ganger, EuroSys
// 2018): deadlines missed, goodput, and the latency of the jobs without deadlines.
//
// The cluster is one pool of processors, first come, first served, with EASY backfilling by the
// users' limits. A job that misses its deadline goes on. Equal arguments give equal results.
package deadline

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/trial/follow"
	"github.com/varq-project/varq/predictor/workload"
)

// Experiment is a cluster with its users.
type Experiment struct {
	Procs int32
	// Request returns what a job asks for.
	Request func(*sched.Job) workload.Request
	// Share is the share of the jobs that have deadlines.
	Share float64
	// Due draws the deadline of a job.
	Due Due
	// Learning is how many jobs come before the first deadline.
	Learning int
	// Seed decides which jobs have deadlines, and which.
	Seed uint64
	// Background is predictor.Options.Background.
	Background func(task func())
}

// Due draws after how many seconds a job must have ended, given the number of seconds that it will
// run. It draws as often for each job.
type Due func(run int64, random *rand.Rand) int64

// Slack draws deadlines that allow for 1 + slack times the run time, with one of the slacks, as
// 3Sigma's experiments do. Such a deadline tells of the run time, which no user knows.
func Slack(slacks ...float64) Due {
	return func(run int64, random *rand.Rand) int64 {
		return int64(float64(run) * (1 + slacks[random.IntN(len(slacks))]))
	}
}

// After draws deadlines that are one of some numbers of seconds after the submission.
func After(seconds ...int64) Due {
	return func(_ int64, random *rand.Rand) int64 { return seconds[random.IntN(len(seconds))] }
}

// Outcome is what became of one job.
type Outcome struct {
	Submit, Run int64 // seconds
	Procs       int32
	// Due is the job's deadline, or 0 without one.
	Due int64
	// Promised is true if it was promised that the job ends by Due. A job with a deadline and no
	// promise never runs.
	Promised bool
	// Withdrawn is true if the Admission has withdrawn the job while it waited.
	Withdrawn bool
	// TimedOut is true if the job reached its time limit. Nothing is promised about such a job.
	TimedOut bool
	// End is when the job ended, or 0 if it never ran.
	End int64
}

// Run simulates jobs, which must be in the order of their submission, with an Admission. It does
// not keep the jobs.
func (e *Experiment) Run(jobs []sched.Job, by Admission) []Outcome {
	r := &run{
		Experiment: e, follower: follow.Follower{Request: e.Request}, outcomes: make([]Outcome, len(jobs)), index: make(map[*sched.Job]int, len(jobs)),
	}
	r.sim = sim.New(sched.Config{Procs: e.Procs, Order: sched.FCFS(), Backfill: sched.EASY}, r)
	r.judge = by.begin(&r.follower.Queue, e)
	r.follower.Observer = r.judge
	random := rand.New(rand.NewPCG(e.Seed, 0x6475_6564))
	for i := range jobs {
		j := jobs[i]
		// Both are drawn for every job, so that the jobs with deadlines are the same for all
		// Admissions.
		run := min(j.Run, j.Limit)
		u, within := random.Float64(), e.Due(run, random)
		o := &r.outcomes[i]
		*o = Outcome{Submit: j.Submit, Run: run, Procs: j.Procs, TimedOut: j.Run >= j.Limit}
		if i == 0 {
			r.sim.Reset(j.Submit)
		}
		r.sim.Advance(j.Submit)
		if i >= e.Learning && u < e.Share {
			o.Due = j.Submit + within
			q := forecast.Question{Request: e.Request(&j), Now: j.Submit, Submit: j.Submit, Job: j.ID}
			if o.Promised = r.judge.promises(&q, within); !o.Promised {
				continue
			}
		}
		r.index[&j] = i
		r.sim.Submit(&j)
		r.follower.Submitted(&j)
		if by.Withdraws && o.Promised {
			r.sim.Call(o.Due-j.Limit+1, func(now int64) { r.withdraw(now, &j) })
		}
	}
	r.sim.Drain()
	return r.outcomes
}

// run is the state of Experiment.Run. It observes its simulator.
type run struct {
	*Experiment
	follower follow.Follower
	sim      *sim.Simulator
	judge    judge
	outcomes []Outcome
	index    map[*sched.Job]int // into outcomes, of the jobs that wait or run
}

// withdraw withdraws j if it still waits.
func (r *run) withdraw(now int64, j *sched.Job) {
	i, ok := r.index[j]
	if queued := r.follower.Queue.Job(j.ID); !ok || queued == nil || queued.Start != 0 {
		return
	}
	delete(r.index, j)
	r.outcomes[i].Withdrawn = true
	r.sim.Scheduler().Withdraw(now, j)
	job := r.follower.Job(j)
	job.End, job.State = now, workload.Cancelled
	r.follower.Left(job)
}

// Reserved implements sim.Observer.
func (*run) Reserved(int64, *sched.Job, int64, int64) {}

// Stopped implements sim.Observer.
func (*run) Stopped(int64, *sched.Job) {}

// Started implements sim.Observer.
func (r *run) Started(_ int64, j *sched.Job) { r.follower.Started(j, 0) }

// Ended implements sim.Observer.
func (r *run) Ended(_ int64, j *sched.Job) {
	r.outcomes[r.index[j]].End = j.End
	delete(r.index, j)
	r.follower.Ended(j)
}
