package sched

import (
	"fmt"
	"iter"
	"slices"
)

// Backfill says which jobs may start before jobs that are ahead of them in the queue.
type Backfill uint8

// The kinds of backfilling.
const (
	// NoBackfill lets no job pass. The first job that cannot start holds up the rest.
	NoBackfill Backfill = iota
	// EASY lets a job pass if it does not delay the first job of the queue (Lifka 1995).
	EASY
	// Conservative lets a job pass if it delays no job ahead of it. Each job keeps a
	// place for its planned time: the earliest that was free when it came. When a job
	// ends early, places move forward in the order of the queue, if they can (Mu'alem and
	// Feitelson 2001). Invariant: no job starts later than at its first place.
	Conservative
	// Timeline is Conservative, but finds all places again, in the order of the queue,
	// whenever anything changes. A job delays no job that is ahead of it at that moment,
	// but jobs that get ahead of it later may delay it (Smith 2000, section 3). With FCFS
	// Timeline hardly differs from Conservative.
	Timeline
)

var backfillNames = [...]string{"none", "easy", "conservative", "timeline"}

// String returns the name of b in lower case.
func (b Backfill) String() string {
	if int(b) < len(backfillNames) {
		return backfillNames[b]
	}
	return fmt.Sprintf("Backfill(%d)", uint8(b))
}

// Config is a cluster and its policy.
type Config struct {
	Procs    int32 // processors of the cluster, at least 1
	Order    Order // of the queue; the zero Order is FCFS
	Backfill Backfill
	// Protected is the share of the queue, from its head, that a new hard
	// reservation may not delay: 0 to 1 (Smith 2000, section 3.3).
	Protected float64
	// Restart, if not nil, allows a hard reservation to stop running jobs, which
	// go back to the queue.
	Restart *Restart
}

// Scheduler decides which jobs start when. Its methods are called in the order of time:
// at each moment Finish for the jobs that end, then Submit for those that come, and then
// Pass, which returns the jobs that start. Pass may be called again at the same moment.
//
// A job is planned with its limit, or with its estimate if it has one. A job that outlives its
// estimate is planned to run for as long again as it has run. Conservative backfilling then
// finds new places for the whole queue. So the guarantees of Conservative, and of a hard
// reservation without Restart, hold only for jobs that are planned with their limits.
//
// With q jobs in the queue and s steps in the profile, an event costs O(log s + q/64) without
// backfilling. It costs the same with EASY, unless the end of a job lets others start. It costs
// O(q log s) when places move.
type Scheduler struct {
	config  Config
	free    int32 // processors
	joined  uint64
	queue   queue
	running []*Job
	// reserved are the hard reservations that have not begun, in order of their
	// start.
	reserved []*Job
	// profile is the processors that are not taken by running jobs, hard reservations or,
	// with conservative backfilling, the places of queued jobs.
	profile Profile
	// estimated counts running jobs that are planned with an estimate.
	estimated int

	// arrived are the queued jobs that have joined since the last Pass and, with
	// conservative backfilling, those without a place.
	arrived []*Job
	head    shadow
	// gained: processors became free earlier than planned since places last moved forward.
	// lost: fewer processors are free than planned.
	gained, lost bool

	started, stopped []*Job
	trial            Profile
}

// New returns the Scheduler of an idle cluster at time 0. It panics if the Config is not valid.
func New(c Config) *Scheduler {
	if c.Procs < 1 || c.Backfill > Timeline || !(c.Protected >= 0 && c.Protected <= 1) {
		panic(fmt.Sprintf("sched: bad Config %+v", c))
	}
	s := &Scheduler{config: c}
	s.Reset(0)
	return s
}

// Reset makes the cluster idle again, at time now. It forgets all jobs, and keeps the memory.
func (s *Scheduler) Reset(now int64) {
	s.queue.clear()
	for _, list := range []*[]*Job{&s.running, &s.reserved, &s.arrived, &s.started, &s.stopped} {
		clear(*list)
		*list = (*list)[:0]
	}
	s.free = s.config.Procs
	s.profile.Reset(now, s.config.Procs)
	s.joined, s.estimated = 0, 0
	s.head = shadow{}
	s.gained, s.lost = false, false
}

// Free returns the number of processors on which nothing runs.
func (s *Scheduler) Free() int32 { return s.free }

// Queued returns the number of jobs in the queue.
func (s *Scheduler) Queued() int { return s.queue.n }

// Queue yields the queued jobs in their order. The Scheduler must not change during the
// iteration.
func (s *Scheduler) Queue() iter.Seq[*Job] { return s.queue.all() }

// Running returns the running jobs in no order. The slice is valid until the Scheduler changes.
func (s *Scheduler) Running() []*Job { return s.running }

// Submit puts j into the queue. It panics if j is larger than the cluster, because j would
// never start.
func (s *Scheduler) Submit(now int64, j *Job) {
	s.check(j)
	j.state = state{joined: s.joined}
	s.joined++
	s.join(now, j)
}

// check panics if j cannot run on the cluster.
func (s *Scheduler) check(j *Job) {
	if j.Procs < 1 || j.Procs > s.config.Procs || j.Limit < 1 {
		panic(fmt.Sprintf("sched: job %d with %d processors of %d and limit %d", j.ID, j.Procs, s.config.Procs, j.Limit))
	}
}

// join puts j in its place in the queue.
func (s *Scheduler) join(now int64, j *Job) {
	j.state.phase, j.state.at = queued, Never
	j.state.key = s.key(now, j)
	s.queue.add(j)
	s.arrived = append(s.arrived, j)
}

func (s *Scheduler) key(now int64, j *Job) float64 {
	if s.config.Order.Key == nil {
		return 0
	}
	return s.config.Order.Key(now, j)
}

// Reorder computes the keys of all queued jobs again. With Conservative, places stay.
func (s *Scheduler) Reorder(now int64) {
	jobs := slices.Collect(s.queue.all())
	s.queue.clear()
	for _, j := range jobs {
		j.state.key = s.key(now, j)
		s.queue.add(j)
	}
	s.head = shadow{}
	s.lost = s.lost || s.config.Backfill == Timeline
}

// Withdraw removes j from the queue, or gives up its hard reservation.
func (s *Scheduler) Withdraw(now int64, j *Job) {
	s.profile.Advance(now)
	switch j.state.phase {
	case queued:
		s.queue.remove(j)
		s.arrived = slices.DeleteFunc(s.arrived, func(a *Job) bool { return a == j })
	case reserved:
		s.reserved = slices.DeleteFunc(s.reserved, func(r *Job) bool { return r == j })
	default:
		panic(fmt.Sprintf("sched: job %d does not wait", j.ID))
	}
	if j.state.at != Never {
		s.profile.Add(j.state.at, add(j.state.at, j.planned()), j.Procs)
		s.gained = true
	}
	s.head = shadow{}
	j.state.phase = elsewhere
}

// Place makes j a running job that started at j.Start, which is now or earlier, whatever the
// queue. Such a job ran when the simulation began, or stands for nodes that are down. Place
// panics if there is no room.
func (s *Scheduler) Place(now int64, j *Job) {
	s.check(j)
	if j.Procs > s.free || j.Start > now {
		panic(fmt.Sprintf("sched: no room for job %d", j.ID))
	}
	s.profile.Advance(now)
	j.state = state{joined: s.joined}
	s.joined++
	s.run(j.Start, j)
	s.profile.Add(now, j.state.until, -j.Procs)
	s.lost = true
	s.head = shadow{}
}

// Finish notes that the running job j has ended.
func (s *Scheduler) Finish(now int64, j *Job) {
	s.leave(now, j)
	j.End = now
	j.state.phase = elsewhere
}

// Stop stops the running job j, and puts it back into its place in the queue. j keeps its time
// of submission, and loses its hard reservation if it had one.
func (s *Scheduler) Stop(now int64, j *Job) {
	s.leave(now, j)
	j.state.hard = false
	j.Stops++
	j.Lost += now - j.Start
	s.join(now, j)
}

// Shorten gives the job j, which runs or waits, a smaller limit. A waiting job's limit becomes
// at least 1. An estimate above the new limit no longer counts. The place of j in the order of
// the queue stays.
func (s *Scheduler) Shorten(now int64, j *Job, limit int64) {
	if limit >= j.Limit {
		return
	}
	if j.state.phase != running {
		s.shortenWaiting(now, j, limit)
		return
	}
	estimated := j.estimated()
	j.Limit = limit
	if estimated && !j.estimated() {
		s.estimated--
	}
	if until := max(now, add(j.Start, limit)); until < j.state.until {
		s.release(until, j)
		j.state.until = until
	}
}

// shortenWaiting is Shorten for a job that is queued or holds a hard reservation.
func (s *Scheduler) shortenWaiting(now int64, j *Job, limit int64) {
	before := j.planned()
	j.Limit = min(j.Limit, max(1, limit))
	if j.state.at != Never {
		s.profile.Advance(now)
		s.profile.Add(add(j.state.at, j.planned()), add(j.state.at, before), j.Procs)
		s.gained = true
	}
	if j.state.phase == queued {
		b := s.queue.blocks[s.queue.find(j)]
		b.span = min(b.span, j.planned())
	}
	s.head = shadow{}
}

// leave frees the processors of a running job.
func (s *Scheduler) leave(now int64, j *Job) {
	if j.state.phase != running {
		panic(fmt.Sprintf("sched: job %d does not run", j.ID))
	}
	s.profile.Advance(now)
	s.free += j.Procs
	last := len(s.running) - 1
	s.running[j.state.index] = s.running[last]
	s.running[j.state.index].state.index = j.state.index
	s.running[last] = nil
	s.running = s.running[:last]
	if j.estimated() {
		s.estimated--
	}
	s.release(now, j)
	s.head = shadow{}
}

// release frees in the profile what j has taken from a time on.
func (s *Scheduler) release(from int64, j *Job) {
	if j.state.until <= from {
		return
	}
	s.profile.Add(from, j.state.until, j.Procs)
	s.gained = true
	s.head = shadow{}
}

// run makes j a running job from start on. It does not take j's processors from the profile.
func (s *Scheduler) run(start int64, j *Job) {
	j.Start = start
	j.state.phase = running
	j.state.until = add(start, j.planned())
	j.state.index = int32(len(s.running))
	s.running = append(s.running, j)
	s.free -= j.Procs
	if j.estimated() {
		s.estimated++
	}
}

// start starts a job that has no place in the profile, or whose place begins now. The caller
// removes it from the queue.
func (s *Scheduler) start(now int64, j *Job) {
	placed := j.state.at != Never
	s.run(now, j)
	if !placed {
		s.profile.Add(now, j.state.until, -j.Procs)
	}
	s.started = append(s.started, j)
}

// Pass starts the jobs that can start, and stops jobs that must make room for a hard
// reservation. A stopped job goes back into the queue, and may also be among the started. Both
// slices are valid until the next Pass.
func (s *Scheduler) Pass(now int64) (started, stopped []*Job) {
	s.profile.Advance(now)
	s.started, s.stopped = s.started[:0], s.stopped[:0]
	s.prolong(now)
	s.begin(now)
	switch s.config.Backfill {
	case NoBackfill:
		s.startHeads(now)
	case EASY:
		s.easy(now)
	case Conservative, Timeline:
		s.settle(now)
		s.startPlaced(now)
	}
	if !s.places() {
		s.arrived = s.arrived[:0]
	}
	return s.started, s.stopped
}

// Wake returns the next moment at which a Pass is due even if nothing happens before, or Never.
func (s *Scheduler) Wake() int64 {
	wake := int64(Never)
	if len(s.reserved) > 0 {
		wake = s.reserved[0].state.at
	}
	if s.places() {
		for _, b := range s.queue.blocks {
			wake = min(wake, b.at)
		}
	}
	if s.estimated > 0 {
		for _, j := range s.running {
			if j.estimated() {
				wake = min(wake, j.state.until)
			}
		}
	}
	return wake
}

// places reports whether queued jobs have places in the profile.
func (s *Scheduler) places() bool { return s.config.Backfill >= Conservative }

// startHeads starts jobs from the head of the queue as long as they fit.
func (s *Scheduler) startHeads(now int64) {
	for j := s.queue.first(); j != nil && s.fits(now, j); j = s.queue.first() {
		s.queue.remove(j)
		s.start(now, j)
	}
}

// fits reports whether a queued job can start without delaying a hard reservation.
func (s *Scheduler) fits(now int64, j *Job) bool {
	if j.Procs > s.free {
		return false
	}
	return len(s.reserved) == 0 || s.profile.Fits(now, add(now, j.planned()), j.Procs)
}

// prolong plans more time for running jobs that have outlived their estimates.
func (s *Scheduler) prolong(now int64) {
	if s.estimated == 0 {
		return
	}
	for _, j := range s.running {
		if j.state.until > now || !j.estimated() {
			continue
		}
		until := max(now+1, min(add(now, now-j.Start), add(j.Start, j.Limit)))
		s.profile.Add(j.state.until, until, -j.Procs)
		j.state.until = until
		s.lost = true
		s.head = shadow{}
	}
}

// add adds a duration to a time; the sum is at most Never.
func add(t, duration int64) int64 {
	if t > Never-duration {
		return Never
	}
	return t + duration
}
