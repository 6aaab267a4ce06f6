package downey

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/stats"
)

// System is a machine whose queue is first come, first served, with jobs that
// choose their size when they are at its head. What it has learnt by predicting
// stays from day to day.
type System struct {
	Strategy
	procs int32

	machine machine
	own     machine // of one job that follows the strategy alone

	forecast   Forecast
	running    []Running
	correction Correction
	pending    []pending
	used       stats.Line

	history history
	runs    []allocation // that have not ended, or of which it is not known yet
	random  *rand.Rand
	waits   []float64
}

// pending is a prediction of which it is not yet known how it came out.
type pending struct {
	due       float64 // when it will be
	predicted float64
	wait      float64
}

// NewSystem returns a machine of so many processors.
func NewSystem(procs int32, strategy Strategy) *System {
	return &System{Strategy: strategy, procs: procs, random: newRandom()}
}

// Outcome is what became of a job. Times are seconds since the day began.
type Outcome struct {
	Start, End float64
	Procs      int32
	Rebel      bool // it held out for more than was free
}

// Day runs the jobs of a day, given in the order of their arrival and none of them
// asking for more than the machine has, and returns what became of each (section
// 6). The machine is empty when the day begins, and the night lasts until all have
// run. It costs O(n p) for n jobs and at most p that run at once, and for PRED and
// BIAS a forecast for each choice on top.
func (s *System) Day(jobs []Job) []Outcome {
	s.dawn()
	outcomes := make([]Outcome, len(jobs))
	now := 0.
	for i := range jobs {
		now = max(now, jobs[i].Submit)
		o := s.place(&s.machine, s.choose, jobs[i:], now)
		now = o.Start
		s.begin(&o)
		outcomes[i] = o
	}
	return outcomes
}

// Alternative is what becomes of a job that does as all others do, and of the same
// job when it alone follows another strategy.
type Alternative struct {
	AVG, Own Outcome
}

// Saving returns how much earlier the job ends by its own strategy, in seconds. A
// job that is not a rebel saves nothing.
func (a *Alternative) Saving() float64 { return a.AVG.End - a.Own.End }

// Alone runs the jobs of a day as Day does, but with AVG. It returns, beside what
// became of each, what would have become of it had it alone followed the strategy
// from the head of the queue on (section 5).
func (s *System) Alone(jobs []Job) []Alternative {
	s.dawn()
	alternatives := make([]Alternative, len(jobs))
	now := 0.
	for i := range jobs {
		now = max(now, jobs[i].Submit)
		s.machine.advance(now)
		s.own.free, s.own.jobs = s.machine.free, append(s.own.jobs[:0], s.machine.jobs...)
		a := Alternative{
			AVG: s.place(&s.machine, takeFree, jobs[i:], now),
			Own: s.place(&s.own, s.choose, jobs[i:], now),
		}
		now = a.AVG.Start
		s.begin(&a.AVG)
		alternatives[i] = a
	}
	return alternatives
}

// Predictions returns the line through all predictions that rebels relied on: the
// logarithm of the wait that came, in seconds, on that of the predicted one.
func (s *System) Predictions() stats.Line { return s.used }

// dawn begins a day. All that was predicted the day before has come.
func (s *System) dawn() {
	s.machine.empty(s.procs)
	s.learn(math.Inf(1))
}

// begin starts a job on the machine.
func (s *System) begin(o *Outcome) {
	s.machine.start(o.Procs, o.Start, o.End)
	if s.Rule == VARQ {
		s.runs = append(s.runs, allocation{o.Procs, o.Start, o.End})
	}
}

// learn lets the predictions that have come out by now correct later ones, and remembers the runs
// that have ended.
func (s *System) learn(now float64) {
	s.runs = slices.DeleteFunc(s.runs, func(a allocation) bool {
		if a.end <= now {
			s.history.learn(a.procs, a.end-a.start)
		}
		return a.end <= now
	})
	waiting := s.pending[:0]
	for _, p := range s.pending {
		if p.due <= now {
			s.correction.Learn(p.predicted, p.wait)
		} else {
			waiting = append(waiting, p)
		}
	}
	s.pending = waiting
}

// takeFree is AVG.
func takeFree(h *head) (int32, float64) { return h.machine.free, 0 }

// place plays the head of the queue from now on, for the first of the jobs, until
// it starts. The machine is left at that moment, without the job.
func (s *System) place(m *machine, choose func(*head) (int32, float64), jobs []Job, now float64) Outcome {
	m.advance(now)
	if m.free == 0 {
		now = m.nextEnd()
		m.advance(now)
	}
	s.learn(now)
	h := head{job: &jobs[0], most: jobs[0].Most(), now: now, machine: m, arrivals: jobs[1:]}
	var o Outcome
	n, again := m.free, 0.
	if m.free < h.most {
		n, again = choose(&h)
	}
	for n > m.free {
		o.Rebel = true
		if s.LockIn {
			h.most = n
		}
		h.now = min(m.nextEnd(), again)
		m.advance(h.now)
		if h.now >= again && m.free < n {
			n, again = choose(&h)
		}
	}
	o.Start = h.now
	o.Procs = min(m.free, h.most)
	o.End = o.Start + h.job.Run(o.Procs)
	return o
}

// Utilisation returns the average efficiency, speedup over processors, over the
// machine of so many processors and the time from the beginning of the day until
// the last of its jobs has started, but no less than until the night (section 6).
func Utilisation(procs int32, jobs []Job, outcomes []Outcome) float64 {
	until := float64(dayTime)
	for _, o := range outcomes {
		until = max(until, o.Start)
	}
	done := 0.
	for i, o := range outcomes {
		done += jobs[i].Work * (min(o.End, until) - o.Start) / (o.End - o.Start)
	}
	return done / (float64(procs) * until)
}
