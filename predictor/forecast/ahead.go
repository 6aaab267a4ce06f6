package forecast

import (
	"math/rand/v2"
	"sort"

	"github.com/varq-project/varq/predictor/forecast/features"
	"github.com/varq-project/varq/predictor/forecast/forest"
	"github.com/varq-project/varq/predictor/forecast/pending"
	"github.com/varq-project/varq/predictor/workload"
)

// Ahead forecasts from what was known some time before jobs were submitted that
// have started since: it remembers what the queue was like, and learns how much
// that still says after a while. Of a question whose Now has passed it tells what
// it would have said then.
type Ahead struct {
	extractor *features.Extractor
	model     *forest.Model
	waiting   pending.Sample[forest.Case]
	past      []moment // up to a day old, the older the farther apart
	told      int64    // the time of the last event
}

// moment is what was known at a time.
type moment struct {
	at int64
	*features.Extractor
}

const (
	// aWhile is how many seconds lie at least between two moments that are remembered,
	// and coarse how many times as much their age is at most where it is more: what
	// was known hours ago is asked for to within minutes.
	aWhile = 600
	coarse = 8
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
		model:     forest.New(features.Count+1, forest.Light, rng),
		waiting:   pending.New[forest.Case](),
	}
}

// Name returns "ahead".
func (*Ahead) Name() string { return "ahead" }

// Forecast implements Forecaster.
func (f *Ahead) Forecast(q *Question, a *Answer) bool {
	*a = Answer{}
	c := f.later(q)
	if c == nil {
		return false
	}
	a.Sample = float64(min(f.model.Learnt(), 1000))
	return f.model.Predict(c, &a.Wait)
}

// later is a question as a case of the model, or nil if it is about a time that is
// forgotten.
func (f *Ahead) later(q *Question) forest.Case {
	m := moment{q.Now, f.extractor}
	if q.Now < f.told {
		after := sort.Search(len(f.past), func(i int) bool { return f.past[i].at > q.Now })
		if after == 0 {
			return nil
		}
		m = f.past[after-1]
	}
	var v features.Vector
	m.Look(&q.Request, m.at, q.Submit, &v)
	return f.model.Case(append(v[:], features.Delay(float64(q.Submit-m.at))))
}

// expect asks itself about a job that begins to wait, to learn from what becomes of
// it.
func (f *Ahead) expect(j *workload.Job, q *Question) {
	if c := f.later(q); c != nil {
		f.waiting.Put(j.ID, c)
	}
}

// Submitted implements Observer.
func (f *Ahead) Submitted(j *workload.Job) {
	f.model.Grow()
	f.remember(j.Since())
}

// Started implements Observer.
func (f *Ahead) Started(j *workload.Job) {
	f.remember(j.Start)
	if c, ok := f.waiting.Take(j.ID); ok {
		if wait, ok := j.Wait(); ok {
			f.model.Learn(c, float64(wait))
		}
	}
}

// Ended implements Observer.
func (f *Ahead) Ended(j *workload.Job) {
	f.remember(j.End)
	f.waiting.Take(j.ID)
}

// remember takes down what was known just before something happens, if that is a
// while after what is remembered.
func (f *Ahead) remember(at int64) {
	n := len(f.past)
	if at > f.told && (n == 0 || at >= f.past[n-1].at+aWhile) {
		f.past = append(thinned(f.past, at), moment{at, f.extractor.Still()})
	}
	f.told = max(f.told, at)
}

// thinned leaves out, in place, those of some moments, in the order of time, that are
// too old at a time, or too near to the one before.
func thinned(past []moment, at int64) []moment {
	old := sort.Search(len(past), func(i int) bool { return float64(at-past[i].at) <= farthest })
	kept := past[:0]
	for i := old; i < len(past); i++ {
		// The last one kept makes room for a next one that is near the one before.
		if k := len(kept); k >= 2 && coarse*(past[i].at-kept[k-2].at) <= at-kept[k-2].at {
			kept = kept[:k-1]
		}
		kept = append(kept, past[i])
	}
	clear(past[len(kept):])
	return kept
}
