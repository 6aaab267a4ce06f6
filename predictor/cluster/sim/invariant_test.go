package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// auditor observes a run, and reports every violation of an invariant.
type auditor struct {
	t        *testing.T
	sim      *Simulator
	config   sched.Config
	reserves bool // some jobs have hard reservations
	used     int32
	running  map[*sched.Job]int64 // when they started
	promised map[*sched.Job]int64
	ended    int

	// head is the head of the queue, and shadow the time at which it must start at the
	// latest.
	head   *sched.Job
	shadow int64
}

func (a *auditor) Reserved(now int64, j *sched.Job, _, start int64) {
	if start < now {
		a.t.Errorf("at %d, job %d is promised %d", now, j.ID, start)
	}
	a.promised[j] = start
}

func (a *auditor) Started(now int64, j *sched.Job) {
	promise, reserved := a.promised[j]
	a.running[j] = now
	a.used += j.Procs
	switch first := a.first(); {
	case j.Start != now:
		a.t.Errorf("job %d starts at %d, and has %d noted", j.ID, now, j.Start)
	case now < j.Submit:
		a.t.Errorf("job %d, submitted at %d, starts at %d", j.ID, j.Submit, now)
	case reserved && now != promise:
		a.t.Errorf("job %d was promised %d, and starts at %d", j.ID, promise, now)
	case a.used > a.config.Procs:
		a.t.Errorf("%d processors of %d are used at %d", a.used, a.config.Procs, now)
	case a.config.Backfill == sched.NoBackfill && !reserved && first != nil && a.ahead(first, j):
		a.t.Errorf("job %d starts at %d, before job %d, which is ahead of it", j.ID, now, first.ID)
	case a.config.Backfill == sched.EASY && j == a.head && now > a.shadow && !a.reserves:
		a.t.Errorf("job %d was the head when its shadow was at %d, and starts at %d", j.ID, a.shadow, now)
	}
	if a.head != nil && a.ahead(j, a.head) {
		a.head = nil // it has not been the head all the time, as j was ahead of it
	}
}

func (a *auditor) Stopped(now int64, j *sched.Job) {
	if _, reserved := a.promised[j]; reserved {
		a.t.Errorf("job %d holds a reservation, and is stopped at %d", j.ID, now)
	}
	a.used -= j.Procs
	delete(a.running, j)
}

func (a *auditor) Ended(now int64, j *sched.Job) {
	start, running := a.running[j]
	if !running || j.Start != start || j.End != now || now-start != min(j.Run, j.Limit) {
		a.t.Errorf("job %d, started at %d, with %d to run and limit %d, ends at %d", j.ID, start, j.Run, j.Limit, now)
	}
	delete(a.running, j)
	a.used -= j.Procs
	a.ended++
}

// first returns the head of the queue, or nil.
func (a *auditor) first() *sched.Job {
	for j := range a.sim.Scheduler().Queue() {
		return j
	}
	return nil
}

// ahead reports whether a queued job is before another by the order alone.
func (a *auditor) ahead(i, j *sched.Job) bool {
	if a.config.Order.Key == nil {
		return i.Submit < j.Submit
	}
	return a.config.Order.Key(0, i) < a.config.Order.Key(0, j)
}

// look records the shadow of a job that has become the head of the queue: the time at which
// enough of the running jobs will have reached their limits.
func (a *auditor) look() {
	head := a.first()
	if head == a.head || head == nil {
		a.head = head
		return
	}
	a.head, a.shadow = head, a.sim.Now()
	free := a.sim.Scheduler().Free()
	running := slices.SortedFunc(slices.Values(a.sim.Scheduler().Running()), func(i, j *sched.Job) int {
		return int(i.Start + i.Limit - j.Start - j.Limit)
	})
	for _, j := range running {
		if free >= head.Procs {
			return
		}
		free += j.Procs
		a.shadow = j.Start + j.Limit
	}
}

// run simulates jobs, every `every`th of them with a hard reservation, and returns when each
// started.
func (a *auditor) run(jobs []sched.Job, every int) []int64 {
	a.running, a.promised = map[*sched.Job]int64{}, map[*sched.Job]int64{}
	a.head, a.used, a.ended = nil, 0, 0
	a.reserves = every > 0
	jobs = slices.Clone(jobs)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range jobs {
		a.sim.Advance(jobs[i].Submit)
		a.look()
		if every > 0 && i%every == 0 {
			a.sim.Reserve(&jobs[i], jobs[i].Submit+random.Int64N(7200))
		} else {
			a.sim.Submit(&jobs[i])
		}
	}
	a.sim.Drain()
	if a.ended != len(jobs) || a.used != 0 || a.sim.Scheduler().Queued() != 0 {
		a.t.Errorf("%d of %d jobs have ended, %d processors are used, %d jobs queued", a.ended, len(jobs), a.used, a.sim.Scheduler().Queued())
	}
	starts := make([]int64, len(jobs))
	for i, j := range jobs {
		starts[i] = j.Start
	}
	return starts
}

// TestInvariants simulates two thousand jobs on 256 processors under each policy, twice on
// the same simulator and once on another.
func TestInvariants(t *testing.T) {
	const procs = 256
	jobs := steady(2000, procs, .7)
	type reservations struct {
		every     int
		protected float64
		restart   *sched.Restart
	}
	for _, order := range []sched.Order{sched.FCFS(), sched.LWF()} {
		for _, backfill := range backfills {
			for _, r := range []reservations{
				{}, {every: 10, protected: 1}, {every: 5, protected: .5},
				{every: 10, protected: 1, restart: &sched.Restart{A: 1}}, {every: 5, restart: &sched.Restart{A: .8, B: -.2}},
			} {
				t.Run(fmt.Sprintf("%s/%v/reserved=%d,restart=%v", order.Name, backfill, r.every, r.restart != nil), func(t *testing.T) {
					jobs := slices.Clone(jobs)
					for i := range jobs {
						if r.restart != nil {
							jobs[i].Estimate = max(1, jobs[i].Run*int64(50+i%100)/100)
						}
					}
					c := sched.Config{Procs: procs, Order: order, Backfill: backfill, Protected: r.protected, Restart: r.restart}
					a, b := &auditor{t: t, config: c}, &auditor{t: t, config: c}
					a.sim, b.sim = New(c, a), New(c, b)
					starts := a.run(jobs, r.every)
					a.sim.Reset(0)
					if !slices.Equal(a.run(jobs, r.every), starts) {
						t.Error("after Reset, jobs start at other times")
					}
					if !slices.Equal(b.run(jobs, r.every), starts) {
						t.Error("on another simulator, jobs start at other times")
					}
				})
			}
		}
	}
}
