package downey

import (
	"math"

	"github.com/varq-project/varq/predictor/stats"
)

// Strategy is how a job at the head of the queue chooses its size. It chooses as
// soon as a processor is free. A job that holds out for more than are free is a
// rebel; as long as it does, nothing behind it starts.
type Strategy struct {
	Rule Rule
	// LockIn: a rebel never takes more processors than it first held out for
	// (section 6.1).
	LockIn bool
	// RiskAversion is by which fraction of the run time on the free processors
	// the predicted gain must exceed 0 for a job to rebel (section 6.1: 0.2). It
	// matters to OPT, PRED and BIAS.
	RiskAversion float64
	// Lifetimes is what PRED and BIAS take run times to be drawn from, in seconds.
	Lifetimes stats.LogUniform
}

// Rule is the core of a strategy.
type Rule string

// Downey's rules.
const (
	// AVG takes what is free, up to the job's average parallelism (section 5.1).
	AVG Rule = "AVG"
	// OPT takes the size with the least turnaround, knowing how long every
	// running job will run (section 5.2).
	OPT Rule = "OPT"
	// PRED is OPT with predicted waits; it asks again when a job arrives, and when
	// the predicted wait has passed (section 5.3).
	PRED Rule = "PRED"
	// BIAS is PRED with predictions corrected by what became of earlier ones
	// (section 5.4).
	BIAS Rule = "BIAS"
	// HEUR holds out for all that is of use to the job, until a fifth of what that
	// would gain has passed (section 5.5).
	HEUR Rule = "HEUR"
	// VARQ is PRED with expected waits that are simulated from past run times. It is not the
	// paper's.
	VARQ Rule = "varq"
)

// patience is HEUR's k. Its other parameters are as in the paper, too: every job
// holds out (L_thresh = 0, A_thresh = 1) for its average parallelism (f = 1).
const patience = .2

// head is what the job at the head of the queue sees when it chooses. A processor
// or more is free, but fewer than most.
type head struct {
	job      *Job
	most     int32
	now      float64
	machine  *machine
	arrivals []Job   // still to come
	concede  float64 // of a rebel: when HEUR stops holding out
}

// docile is the run time on what is free.
func (h *head) docile() float64 { return h.job.Run(h.machine.free) }

// nextArrival returns when another job joins the queue, +Inf if none does.
func (h *head) nextArrival() float64 {
	for len(h.arrivals) > 0 && h.arrivals[0].Submit <= h.now {
		h.arrivals = h.arrivals[1:]
	}
	if len(h.arrivals) == 0 {
		return math.Inf(1)
	}
	return h.arrivals[0].Submit
}

// choose returns for how many processors the job holds out, and when it asks
// again; what is free means that it starts.
func (s *System) choose(h *head) (n int32, again float64) {
	switch s.Rule {
	case OPT:
		n, _ = s.best(h, func(n int32) float64 { return h.machine.available(n, h.now) - h.now }, nil)
		return n, math.Inf(1) // it would choose the same
	case PRED, BIAS:
		return s.predict(h)
	case VARQ:
		waits, free := s.simulated(h), h.machine.free
		n, predicted := s.best(h, func(n int32) float64 { return waits[n-free-1] }, nil)
		if n == free {
			return n, 0
		}
		return n, min(h.now+max(1, predicted), h.nextArrival())
	case HEUR:
		if h.concede == 0 {
			h.concede = h.now + patience*(h.docile()-h.job.Run(h.most))
		}
		if h.now < h.concede {
			return h.most, h.concede
		}
	}
	return h.machine.free, 0
}

// predict chooses by predicted waits, and remembers the prediction that a rebel
// relies on.
func (s *System) predict(h *head) (n int32, again float64) {
	s.running = s.running[:0]
	for _, a := range h.machine.jobs {
		s.running = append(s.running, Running{Procs: a.procs, Age: h.now - a.start, Lifetimes: s.Lifetimes})
	}
	s.forecast.Look(h.machine.free, s.running)
	wait := s.forecast.Wait
	if s.Rule == BIAS {
		wait = func(n int32) float64 { return s.correction.Apply(s.forecast.Wait(n)) }
	}
	n, predicted := s.best(h, wait, s.forecast.rising)
	if n == h.machine.free {
		return n, 0
	}
	came := h.machine.available(n, h.now)
	s.used.Add(logSeconds(predicted), logSeconds(came-h.now))
	s.pending = append(s.pending, pending{due: came, predicted: s.forecast.Wait(n), wait: came - h.now})
	// A job asks once a second at most.
	return n, min(h.now+max(1, predicted), h.nextArrival())
}

// best returns the size with the least turnaround from now on, and how long the
// wait for it is. rising, if there is one, returns up to which size waits do not
// become shorter; otherwise they never do.
func (s *System) best(h *head, wait func(n int32) float64, rising func(n int32) int32) (n int32, seconds float64) {
	docile, fastest := h.docile(), h.job.Run(h.most)
	n = h.machine.free
	least := docile * (1 - s.RiskAversion)
	for size := n + 1; size <= h.most; size++ {
		q := wait(size)
		if t := q + h.job.Run(size); t < least {
			least, n, seconds = t, size, q
		}
		if q+fastest >= least { // nor does any size that takes as long to wait for
			if rising == nil {
				break
			}
			size = rising(size)
		}
	}
	return n, seconds
}
