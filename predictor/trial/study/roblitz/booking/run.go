package booking

import (
	"errors"
	"math"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/promise/esr"
)

// run is the state of Experiment.Run. It observes its simulator.
type run struct {
	*Experiment
	sim    *sim.Simulator
	method method
	result Result
	others map[*sched.Job]int   // those that have not ended, with their indices into Waits
	booked map[*sched.Job]int64 // the reservations that have not ended, with their starts
	answer []elastic.Slot       // to the last request; its memory is used again
}

func newRun(e *Experiment) *run {
	r := &run{Experiment: e, method: e.Method.begin(), others: make(map[*sched.Job]int), booked: make(map[*sched.Job]int64)}
	r.sim = sim.New(sched.Config{Procs: e.Procs, Order: sched.FCFS(), Backfill: e.Backfill}, r)
	return r
}

// Why a slot does not hold.
var (
	errWorkload = errors.New("the known workload is estimated to end after its start")
	errConflict = errors.New("the scheduler cannot plan it")
)

// book processes a request: probe, choose and reserve (Figure 1, steps 4 to 7).
func (r *run) book(now int64, j *sched.Job) (b Booking) {
	load := r.load(now)
	end := load.End()
	rate := r.method.rates(r, now, j, end)
	r.probe(now, j, rate)
	b.Candidates = len(r.answer)
	for i := range r.answer {
		if r.answer[i].Prob >= r.MinProb {
			b.Probable++
		}
	}
	outcome := elastic.Reserve(elastic.Rank([][]elastic.Slot{r.answer}, r.Prefer, r.MinProb), func(s *elastic.Slot) error {
		if !r.Unchecked && float64(s.Start) < end {
			return errWorkload
		}
		return r.hold(now, j, s)
	}, math.MaxInt)
	for _, failure := range outcome.Tried {
		if errors.Is(failure.Err, errWorkload) {
			b.Workload++
		} else {
			b.Conflict++
		}
	}
	b.Slot = outcome.Taken
	return b
}

// probe makes the slots with which the site answers a request (Figure 3).
func (r *run) probe(now int64, j *sched.Job, rate func(*elastic.Slot) float64) {
	r.answer = r.answer[:0]
	earliest := now + r.Ahead
	latest := earliest + runTime(j) + r.Range
	for _, size := range r.sizes(j, latest-earliest) {
		for _, start := range elastic.StartTimes(earliest, latest, size.seconds, r.Slots, r.Gap) {
			s := elastic.Slot{Site: "site", Start: start, End: start + size.seconds, Nodes: size.procs, Limit: size.seconds}
			s.Cost = r.Tariff.Cost(float64(s.Nodes), s.Start, s.End, "")
			s.Prob = rate(&s)
			r.answer = append(r.answer, s)
		}
	}
}

// hold reserves a slot if the scheduler has room for it: beside the running jobs, until their
// limits, and the other reservations. Waiting jobs have no places.
func (r *run) hold(now int64, j *sched.Job, s *elastic.Slot) error {
	job := &sched.Job{ID: j.ID, Submit: j.Submit, Limit: s.Limit, Run: s.Limit, Procs: s.Nodes, User: j.User, Group: j.Group, App: j.App, Queue: j.Queue, Partition: j.Partition}
	if _, after := r.sim.Scheduler().Offers(now, job, s.Start); after != s.Start {
		return errConflict
	}
	r.booked[job] = r.sim.Scheduler().Reserve(now, job, s.Start)
	return nil
}

// load returns what the site knows of its workload.
func (r *run) load(now int64) *esr.Load {
	l := &esr.Load{Now: now, Nodes: r.Procs, RunningShare: r.Accuracy, WaitingShare: r.Accuracy}
	scheduler := r.sim.Scheduler()
	for _, j := range scheduler.Running() {
		if _, ok := r.booked[j]; !ok {
			l.Running = append(l.Running, esr.Job{Nodes: j.Procs, Seconds: float64(max(0, j.Start+j.Limit-now))})
		}
	}
	for j := range scheduler.Queue() {
		l.Waiting = append(l.Waiting, esr.Job{Nodes: j.Procs, Seconds: float64(j.Limit)})
	}
	for j, at := range r.booked {
		l.Reservations = append(l.Reservations, esr.Reservation{Start: at, End: at + j.Limit, Nodes: j.Procs})
	}
	return l
}

// Reserved implements sim.Observer.
func (*run) Reserved(int64, *sched.Job, int64, int64) {}

// Stopped implements sim.Observer.
func (*run) Stopped(int64, *sched.Job) {}

// Started implements sim.Observer.
func (r *run) Started(now int64, j *sched.Job) {
	if i, ok := r.others[j]; ok {
		r.result.Waits[i] = now - j.Submit
	}
	r.method.started(r, j)
}

// Ended implements sim.Observer.
func (r *run) Ended(_ int64, j *sched.Job) {
	r.method.ended(r, j)
	delete(r.booked, j)
	delete(r.others, j)
}
