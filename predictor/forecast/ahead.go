package forecast

import (
	"math/rand/v2"
	"sort"
	"sync/atomic"

	"github.com/varq-project/varq/predictor/features"
	"github.com/varq-project/varq/predictor/forest"
	"github.com/varq-project/varq/predictor/workload"
)

// Ahead forecasts from what was known some time before jobs were submitted that
// have started since: it remembers what the queue was like, and learns how much
// that still says after a while. Of a question whose Now has passed it tells what
// it would have said then.
type Ahead struct {
	extractor *features.Extractor
	model     *forest.Model
	rng       *rand.Rand
	waiting   map[int64]forest.Case
	states    []*features.State // one in a while, up to a day old
	now       atomic.Pointer[features.State]
	told      int64 // the time of the last event
}

const (
	// aWhile is how many seconds lie between two states that are remembered.
	aWhile = 300
	// shortest and farthest is how long before a job's submission what is known
	// is learnt from, in seconds.
	shortest = 300.
	farthest = 86_400.
)

// newAhead returns an Ahead that has learnt nothing. It looks at the queue with
// the eyes of a Forest, which others tell what happens.
func newAhead(f *Forest, rng *rand.Rand) *Ahead {
	return &Ahead{
		extractor: f.extractor,
		model:     forest.New(features.LaterCount, rng),
		rng:       rng,
		waiting:   map[int64]forest.Case{},
	}
}

// Name returns "ahead".
func (*Ahead) Name() string { return "ahead" }

// Forecast implements Forecaster.
func (f *Ahead) Forecast(q *Question, a *Answer) bool {
	*a = Answer{}
	s := f.state(q.Now)
	if s == nil {
		return false
	}
	a.Sample = float64(min(f.model.Learnt(), 1000))
	return f.model.Predict(f.later(&q.Request, s, q.Submit), &a.Wait)
}

func (f *Ahead) later(r *workload.Request, s *features.State, submit int64) forest.Case {
	var v features.Later
	f.extractor.Later(r, s, submit, &v)
	return f.model.Case(v[:])
}

// state returns what was known at a time, or nil if that is forgotten.
func (f *Ahead) state(now int64) *features.State {
	if now < f.told {
		i := sort.Search(len(f.states), func(i int) bool { return f.states[i].At > now })
		if i == 0 {
			return nil
		}
		return f.states[i-1]
	}
	s := f.now.Load()
	if s == nil || s.At != now {
		s = f.extractor.State(now)
		f.now.Store(s)
	}
	return s
}

// Submitted implements Observer.
func (f *Ahead) Submitted(j *workload.Job) {
	at := eligible(j)
	f.remember(at)
	if s := f.state(at - lead(f.rng)); s != nil {
		f.waiting[j.ID] = f.later(&j.Request, s, at)
	}
	f.changed(at)
}

// Started implements Observer.
func (f *Ahead) Started(j *workload.Job) {
	f.remember(j.Start)
	if c, ok := f.waiting[j.ID]; ok {
		delete(f.waiting, j.ID)
		if wait, ok := j.Wait(); ok {
			f.model.Learn(c, float64(wait))
		}
	}
	f.changed(j.Start)
}

// Ended implements Observer.
func (f *Ahead) Ended(j *workload.Job) {
	f.remember(j.End)
	delete(f.waiting, j.ID)
	f.changed(j.End)
}

// changed makes what is known something of the past.
func (f *Ahead) changed(at int64) {
	f.told = max(f.told, at)
	f.now.Store(nil)
}

// remember takes down what was known just before something happens, if that is a
// while after what is remembered.
func (f *Ahead) remember(at int64) {
	n := len(f.states)
	if at <= f.told || n > 0 && at < f.states[n-1].At+aWhile {
		return
	}
	old := sort.Search(n, func(i int) bool { return float64(at-f.states[i].At) <= farthest })
	f.states = append(f.states[old:], f.extractor.State(at))
}
