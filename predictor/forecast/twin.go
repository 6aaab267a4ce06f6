package forecast

import (
	"math/rand/v2"
	"sync"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// Twin forecasts by simulating the queue as it is, many times.
type Twin struct {
	mu   sync.Mutex
	twin *twin.Twin
	rng  *rand.Rand
	seen int64 // when the queue was looked at, or -1 if something has happened since
}

// NewTwin returns the twin of a queue that others keep; what happens is to be told
// after the queue knows.
func NewTwin(q *queue.Queue, o twin.Options, rng *rand.Rand) *Twin {
	return &Twin{twin: twin.New(q, o), rng: rng, seen: -1}
}

// Name returns "twin".
func (*Twin) Name() string { return "twin" }

// Forecast implements Forecaster.
func (f *Twin) Forecast(q *Question, a *Answer) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen != q.Now {
		f.twin.Look(q.Now, f.rng)
		f.seen = q.Now
	}
	*a = Answer{}
	e := f.twin.Wait(&q.Request, q.Submit, &a.Wait)
	a.Sample = float64(e.Runs)
	a.Class = e.String()
	return e.Runs > 0
}

// point simulates the queue with the run times expected and with the limits.
func (f *Twin) point(q *Question) (twin.Point, twin.Policy) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, e := f.twin.Point(&q.Request, q.Now)
	return p, e.Policy
}

// Submitted implements Observer.
func (f *Twin) Submitted(j *workload.Job) { f.tell(f.twin.Submitted, j) }

// Started implements Observer.
func (f *Twin) Started(j *workload.Job) { f.tell(f.twin.Started, j) }

// Ended implements Observer.
func (f *Twin) Ended(j *workload.Job) { f.tell(f.twin.Ended, j) }

func (f *Twin) tell(of func(*workload.Job), j *workload.Job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of(j)
	f.seen = -1
}
