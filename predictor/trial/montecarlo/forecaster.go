package montecarlo

import (
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// foreseen is the time, in seconds, after the submission asked about for which a future has
// arrivals.
const foreseen = day

// Forecaster implements forecast.Forecaster by simulation.
type Forecaster struct {
	mu       sync.Mutex
	twin     *twin.Twin
	arrivals arrivals
	futures  int // number of futures for each forecast
	rng      *rand.Rand
	last     *forecast.Question // the last question; nil if something has happened since
	answer   forecast.Answer    // to last

	// Memory for one future, used again by the next.
	machine rollout.Machine
	future  future
	drawn   []rollout.Task
	order   []int32
}

// New returns a Forecaster that simulates a number of futures of q for each forecast. The
// caller keeps q up to date: q must know of each event before the Forecaster observes it.
func New(q *queue.Queue, futures int, rng *rand.Rand) *Forecaster {
	return &Forecaster{twin: twin.New(q, nil), futures: futures, rng: rng}
}

// Name returns "twin".
func (*Forecaster) Name() string { return "twin" }

// Forecast implements forecast.Forecaster.
func (f *Forecaster) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil || *f.last != *q {
		asked := *q
		f.last = &asked
		f.simulate(q, &f.answer)
	}
	*a = f.answer
	return true
}

// simulate answers a question. The futures do not have the job asked about. Each future
// says afterwards when the job would have started.
func (f *Forecaster) simulate(q *forecast.Question, a *forecast.Answer) {
	*a = forecast.Answer{}
	s := f.twin.Snapshot(&q.Request, q.Now, q.Job)
	a.Sample, a.Simulated = float64(f.futures), s.Policy.String()
	asked := f.twin.Task(&q.Request, q.Submit)
	asked.Limit = q.Limit // 0, no limit, fits into any gap
	for range f.futures {
		f.live(s, q.Submit+foreseen)
		start := f.future.start(s.Policy, asked)
		if start == sched.Never {
			continue
		}
		if at := delay.Index(float64(start - q.Submit)); at < delay.Points {
			a.Wait[at]++
		}
	}
	sum := 0.
	for at := range a.Wait {
		sum += a.Wait[at]
		a.Wait[at] = sum / float64(f.futures)
	}
}

// live simulates one future with arrivals until a time.
func (f *Forecaster) live(s *twin.Snapshot, until int64) {
	s.Draw(f.rng)
	f.drawn = append(f.drawn[:0], s.Pending...)
	f.drawn = f.arrivals.draw(s.Now, until, f.rng, f.twin, s, f.drawn)
	for i := range f.drawn {
		f.drawn[i].Procs = min(f.drawn[i].Procs, s.Procs)
	}
	to := &f.future
	to.reset(s.Procs)
	f.order = f.order[:0]
	for i := range f.drawn {
		f.order = append(f.order, int32(i))
	}
	if s.Policy.Order != rollout.FCFS {
		slices.SortStableFunc(f.order, func(a, b int32) int { return s.Policy.Compare(f.drawn[a], f.drawn[b]) })
	}
	to.places = slices.Grow(to.places[:0], len(f.drawn))[:len(f.drawn)]
	for place, i := range f.order {
		to.tasks = append(to.tasks, f.drawn[i])
		to.places[i] = int32(place)
	}
	f.machine.Load(s.Policy.Backfill, s.Now, s.Free, s.Running, to.tasks, to.places[len(s.Pending):], to)
	to.starts = f.machine.Starts()
}

// Submitted implements forecast.Observer.
func (f *Forecaster) Submitted(j *workload.Job) {
	f.twin.Submitted(j)
	f.arrivals.submitted(j, f.twin.Task(&j.Request, j.Since()).Limit)
	f.last = nil
}

// Started implements forecast.Observer.
func (f *Forecaster) Started(j *workload.Job) {
	f.twin.Started(j)
	f.last = nil
}

// Ended implements forecast.Observer.
func (f *Forecaster) Ended(j *workload.Job) {
	f.twin.Ended(j)
	f.arrivals.ended(j)
	f.last = nil
}
