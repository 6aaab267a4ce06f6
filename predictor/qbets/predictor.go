package qbets

import (
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// Options shape a Predictor. A zero field has the default named with it.
type Options struct {
	// Confidence is the level C of every bound, .95 by default.
	Confidence float64
	// MinHistory is how many waits a class must have to answer alone, without the
	// larger and longer ones, and how many survive a change point. The default is the least
	// that can bound the .95 quantile: 59 at the default confidence.
	MinHistory int
	// MaxHistory is how many waits a class remembers, 1,000 by default. It bounds
	// the harm of a drift too slow to show as a change point; ten times as many
	// would bring the bound on the median nearer by two percentiles. The highest
	// probability it can vouch for is (1-Confidence)^(1/MaxHistory), here .997.
	MaxHistory int
	// Classifier tells the class of a request, Grid{} by default.
	Classifier Classifier
}

// Predictor forecasts waits from the past waits of jobs of the same class or,
// while there are few, also of those that asked for more: it takes a longer or
// larger job to wait at least as long, and never takes the contrary.
// Learn must not run at the same time as any other method; the other methods
// change nothing and may run at the same time as one another.
type Predictor struct {
	confidence float64
	least      int
	most       int
	classifier Classifier

	partitions map[string][]*history // in the order of their classes
	indices    [len(watched)]indices
	newest     int64
	learnt     int
}

// New returns a Predictor that has learnt nothing. It panics when an option is
// out of its range.
func New(o Options) *Predictor {
	if o.Confidence == 0 {
		o.Confidence = .95
	}
	if !(o.Confidence > 0 && o.Confidence < 1) {
		panic("qbets: Confidence outside (0,1)")
	}
	if o.MinHistory == 0 {
		o.MinHistory = stats.SampleSize(.95, o.Confidence)
	}
	if o.MaxHistory == 0 {
		o.MaxHistory = max(1000, o.MinHistory)
	}
	if o.MinHistory < 2 || o.MaxHistory < o.MinHistory {
		panic("qbets: MinHistory below 2 or above MaxHistory")
	}
	if o.Classifier == nil {
		o.Classifier = Grid{}
	}
	p := &Predictor{
		confidence: o.Confidence,
		least:      o.MinHistory,
		most:       o.MaxHistory,
		classifier: o.Classifier,
		partitions: make(map[string][]*history),
	}
	for i, q := range watched {
		p.indices[i] = indices{quantile: q, confidence: o.Confidence}
	}
	return p
}

// Learn takes in the wait of a job that has started. Jobs come in the order of
// their starts. A job that has not started, or whose times contradict one
// another, teaches nothing.
func (p *Predictor) Learn(job workload.Job) {
	seconds, ok := job.Wait()
	if !ok || seconds < 0 || seconds > math.MaxUint32 {
		return
	}
	p.learnt++
	p.newest = max(p.newest, job.Start)
	p.learn(p.history(p.classifier.Class(&job.Request)), uint32(seconds), job.Start)
}

// history returns the past of a class, which is a new one if it has none.
func (p *Predictor) history(class Class) *history {
	pasts := p.partitions[class.Partition]
	i, found := slices.BinarySearchFunc(pasts, class, func(h *history, c Class) int { return h.class.compare(c) })
	if !found {
		pasts = slices.Insert(pasts, i, &history{class: class})
		p.partitions[class.Partition] = pasts
	}
	return pasts[i]
}

// learn adds a wait to h. After a run of misses that is too long to be chance,
// only the newest waits stay, as few as still yield a bound. Those of them that
// are older than the run stay no longer than they must: each wait that follows
// takes the place of one.
func (p *Predictor) learn(h *history, wait uint32, start int64) {
	run := h.runs.observe(h, &p.indices, wait)
	if h.len() == p.most || h.stale > 0 && h.len() >= p.least {
		h.drop()
	}
	h.push(wait)
	if run > 0 {
		h.cut(max(p.least, run))
		h.stale = max(0, h.len()-run)
		h.runs = runs{}
		h.changed = start
	}
}

// Forecast estimates every candidate of r into the element of est of the same
// index. A candidate's class follows its own time limit, so estimates jump where
// the limit leaves one class for another. Prob is the lower confidence bound on
// the probability of a wait within the budget, which is the largest q whose Bound
// is within it. The time at which it is asked, the second argument, makes no
// difference: a Predictor knows what it has learnt and nothing of the present.
func (p *Predictor) Forecast(r workload.Request, _ int64, c []workload.Candidate, est []workload.Estimate) {
	var (
		e      evidence
		class  Class  // of the candidate before
		name   string // of the evidence
		before int    // within the budget of the candidate before
	)
	for i := range c {
		r.Limit = c[i].Limit
		next := p.classifier.Class(&r)
		same := i > 0 && next == class
		if !same {
			class = next
			p.gather(&e, class)
			name = e.class.String()
		}
		if e.waits == 0 {
			est[i] = workload.Estimate{}
			continue
		}
		within, sum := e.within(c[i].Budget)
		est[i] = workload.Estimate{
			Held:   (float64(c[i].Budget)*float64(within) - float64(sum)) / float64(e.waits),
			Sample: e.waits,
			Class:  name,
		}
		if same && within == before {
			est[i].Prob = est[i-1].Prob
		} else {
			est[i].Prob = stats.LowerProportion(within, e.waits, p.confidence)
		}
		before = within
	}
}

// Bound is an upper confidence bound on a quantile of the wait.
type Bound struct {
	Seconds    int64   // the bound itself
	Quantile   float64 // the quantile it bounds
	Confidence float64 // really achieved, at least the one asked for
	Sample     int     // past waits behind it
	Index      int     // the Index-th smallest of them, from 1, is the bound
	Class      string  // whose waits they are
	OK         bool    // false: the sample is too small for any bound
}

// Bound bounds the q-quantile of the wait of a job like r.
func (p *Predictor) Bound(r workload.Request, q float64) Bound {
	b := Bound{Quantile: q}
	var e evidence
	p.gather(&e, p.classifier.Class(&r))
	if e.waits == 0 {
		return b
	}
	b.Sample, b.Class = e.waits, e.class.String()
	b.Index, b.Confidence, b.OK = stats.QuantileBound(e.waits, q, p.confidence)
	if b.OK {
		b.Seconds = e.smallest(b.Index)
	}
	return b
}

// Len returns how many waits were learnt.
func (p *Predictor) Len() int { return p.learnt }

// Newest returns the latest start learnt from, Unix seconds, or 0.
func (p *Predictor) Newest() int64 { return p.newest }

// Changed returns the time of the last change point of the waits that answer
// for r, Unix seconds, or 0 when there was none.
func (p *Predictor) Changed(r workload.Request) int64 {
	var e evidence
	p.gather(&e, p.classifier.Class(&r))
	return e.changed()
}
