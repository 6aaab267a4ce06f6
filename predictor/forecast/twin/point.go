package twin

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
)

// Point is how long a job would wait, in seconds, if no further job came.
type Point struct {
	Expected int64 // if every job runs for the median of its predicted run time
	// Cautious is Expected if each job runs for the cautious quantile of its predicted run time. It
	// is what may well happen where little is known of the jobs ahead, when their limits tell most,
	// and near Expected where it is known how long such jobs run.
	Cautious int64
	Limits   int64 // if every job runs for its limit
	// ByOrder is Expected if the pool followed each order, with EASY backfilling. No
	// pool follows one order exactly. Where the orders differ, a reader of ByOrder can
	// learn which one comes nearest. Where Slurm's priorities are known, there is no other
	// order, and all three are by them.
	ByOrder [rollout.Orders]int64
	// Policy is the policy that the pool is believed to follow. Expected, Cautious and Limits
	// follow it.
	Policy rollout.Policy
	// Ahead is how long the pool takes for the jobs that run and for those that wait and go before
	// the job by Slurm's priorities, in seconds, if each runs for the median of its predicted run
	// time, and Later the share of the jobs that came last which would go before it. Ordered is
	// false where no priorities are known; then both are 0.
	Ordered bool
	Ahead   int64
	Later   float64
	// TooLarge is true if the job needs more processors or nodes than the pool has now. It waits
	// until nodes come back, which no rollout tells.
	TooLarge bool
}

// cautious is above how many of its predicted run times a job is if it runs for long.
const cautious = .9

// Endless is the wait, in seconds, of a job that is TooLarge.
const Endless = 365 * 24 * 3600

// Longest returns the longest of the waits but Limits, in seconds.
func (p *Point) Longest() int64 {
	if p.TooLarge {
		return Endless
	}
	return max(p.Expected, p.Cautious, slices.Max(p.ByOrder[:]))
}

// Shortest returns the shortest of the waits by order, in seconds.
func (p *Point) Shortest() int64 {
	if p.TooLarge {
		return Endless
	}
	return slices.Min(p.ByOrder[:])
}

// Serving returns the waits of a Point from a time on without the seconds that are in windows.
func (p Point) Serving(w rollout.Windows, now int64) Point {
	if len(w.Since(now)) == 0 {
		return p
	}
	for _, wait := range []*int64{&p.Expected, &p.Cautious, &p.Limits} {
		*wait -= w.Closed(now, now+*wait)
	}
	for i := range p.ByOrder {
		p.ByOrder[i] -= w.Closed(now, now+p.ByOrder[i])
	}
	return p
}

// Point makes a few rollouts. In each, a job with the request joins the queue now, and the rollout
// ends when that job starts. If the job is in the queue already, id names it; otherwise id is 0.
// With n jobs in the queue Point takes O(n log n), most of it to predict their run times. With many
// jobs most Points follow from the rollouts of earlier ones; see records.
func (t *Twin) Point(r *workload.Request, now, id int64) Point { return t.PointAt(r, now, now, id) }

// PointAt is Point where the job joins the queue at another time, and waits from then on: later, or
// in the past. A job that has joined it in the past would wait for so many seconds from now on.
func (t *Twin) PointAt(r *workload.Request, now, submit, id int64) Point {
	task := t.taskNow(r, now, id)
	task.Submit = submit
	p, ok := t.crowd.point(t, r, &task, now, id)
	if !ok {
		p = t.point(r, &task, now, id)
	}
	p.Ordered, p.Later = task.Priority != 0, t.priorities.later(task.Priority)
	p.TooLarge = t.partitions.tooLarge(r)
	return p
}

// point returns what of the Point of a request, as a task, depends on the queue.
func (t *Twin) point(r *workload.Request, task *rollout.Task, now, id int64) Point {
	if kept := t.records(r, task, now, id); kept != nil {
		return kept.point(t, task, now, id)
	}
	s := t.Snapshot(r, now, id)
	p := Point{
		Expected: s.wait(s.Policy, *task, medians), Limits: s.wait(s.Policy, *task, timeLimits), Policy: s.Policy, Ahead: s.ahead(task),
	}
	p.ByOrder = t.byOrder(func(policy rollout.Policy) int64 {
		if policy == s.Policy {
			return p.Expected
		}
		return s.wait(policy, *task, medians)
	})
	s.cautious()
	p.Cautious = s.wait(s.Policy, *task, medians)
	return p
}

// byOrder returns Point.ByOrder, of which by tells the wait under one policy.
func (t *Twin) byOrder(by func(rollout.Policy) int64) (waits [rollout.Orders]int64) {
	wait := by(backfilled(rollout.Priority))
	for i := range waits {
		waits[i] = wait
		if order := rollout.Order(i); order != rollout.Priority && t.mayFollow(order) {
			waits[i] = by(backfilled(order))
		}
	}
	return waits
}

// mayFollow reports whether pools may follow an order: once Slurm's priorities are known, no other.
func (t *Twin) mayFollow(o rollout.Order) bool { return o == rollout.Priority || !t.priorities.known() }

// backfilled returns the policy of an order with EASY backfilling.
func backfilled(order rollout.Order) rollout.Policy {
	return rollout.Policy{Order: order, Backfill: sched.EASY}
}

// ahead returns Point.Ahead of a task.
func (s *Snapshot) ahead(task *rollout.Task) int64 {
	if task.Priority == 0 {
		return 0
	}
	work := s.running()
	for i := range s.Pending {
		if t := &s.Pending[i]; t.Priority >= task.Priority {
			work += int64(t.Procs) * t.Run
		}
	}
	return work / int64(max(1, s.Procs))
}

// running returns for how many processor-seconds the running jobs run on.
func (s *Snapshot) running() (work int64) {
	for i := range s.Running {
		work += int64(s.Running[i].Procs) * (s.Running[i].End - s.Now)
	}
	return work
}

// runTimes says which run times jobs have in a rollout.
type runTimes uint8

const (
	medians    runTimes = iota // of the predicted run times
	timeLimits                 // every job runs for its limit
)

// wait makes a rollout in which a task joins the queue when it is submitted, until it starts, and
// returns its wait in seconds.
func (s *Snapshot) wait(p rollout.Policy, task rollout.Task, by runTimes) int64 {
	at, place := len(s.Pending), 0
	if task.Submit < s.Now {
		at, place = s.joined(p, &task)
	}
	s.tasks = append(append(append(s.tasks[:0], s.Pending[:at]...), task), s.Pending[at:]...)
	p.Sort(s.tasks)
	if task.Submit >= s.Now {
		place = p.Place(s.tasks, task) - 1
	}
	var coming []int32
	if task.Submit > s.Now {
		s.coming[0] = int32(place)
		coming = s.coming[:]
	}
	return s.begin(p, s.tasks, coming, by, nil).StartOf(place) - max(s.Now, task.Submit)
}

// joined returns where in Pending a task belongs that has joined the queue in the past, and how
// many tasks are ahead of it by a policy.
func (s *Snapshot) joined(p rollout.Policy, task *rollout.Task) (at, ahead int) {
	at = s.was
	if at < 0 {
		at = rollout.Policy{Order: rollout.FCFS}.Place(s.Pending, *task)
	}
	for i := range s.Pending {
		if c := p.Compare(s.Pending[i], *task); c < 0 || c == 0 && i < at {
			ahead++
		}
	}
	return at, ahead
}

// begin begins a rollout of tasks that are in the order of the queue, of which some are coming. Of
// those it changes how long they run if that is for their limits.
func (s *Snapshot) begin(p rollout.Policy, tasks []rollout.Task, coming []int32, by runTimes, r rollout.Recorder) *rollout.Machine {
	running := s.Running
	if by == timeLimits {
		s.ends = append(s.ends[:0], s.Running...)
		for i := range s.ends {
			s.ends[i].End = s.ends[i].Planned
		}
		for i := range tasks {
			tasks[i].Run = tasks[i].Limit
		}
		running = s.ends
	}
	m := &s.twin.rollout
	m.Windows = s.reserved()
	m.Load(p.Backfill, s.Now, s.Free, running, tasks, coming, r)
	return m
}

// try returns the wait that each hypothesis predicts for a job that has just been
// submitted, or nil if no trial is due.
func (t *Twin) try(j *workload.Job) trial {
	in := t.partitions.at(j.Place())
	if !t.partitions.pool(in).tick(t.queue.Len()) {
		return nil
	}
	now := j.Since()
	task, s := t.taskNow(&j.Request, now, j.ID), &t.snapshot
	s.load(t, &j.Request, now)
	s.without(j.ID)
	waits := new([len(hypotheses)]float64)
	for i, h := range hypotheses {
		// Where pools are configured, only the first estimate of a size is tried: a configured pool
		// has one size, by all estimates, and any other pool keeps to the first one.
		if t.partitions.pools != nil && h.size > 0 {
			waits[i] = math.Inf(1)
			continue
		}
		s.assume(h, task.Procs)
		waits[i] = float64(s.wait(h.Policy, task, medians))
	}
	return waits
}
