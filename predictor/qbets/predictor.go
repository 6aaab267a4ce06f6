package qbets

import (
	"math"

	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// Options shape a Predictor. A zero field has the default named with it.
type Options struct {
	// Confidence is the level C of every bound, .95 by default.
	Confidence float64
	// MinHistory is how many waits a class must have to be used instead of a
	// coarser one, and how many survive a change point. The default is the least
	// that can bound the .95 quantile: 59 at the default confidence.
	MinHistory int
	// MaxHistory is how many waits a class remembers, 1,000 by default. It bounds
	// the harm of a drift too slow to show as a change point; ten times as many
	// would bring the bound on the median nearer by two percentiles. The highest
	// probability it can vouch for is (1-Confidence)^(1/MaxHistory), here .997.
	MaxHistory int
	// Classifier tells the classes of a request, Grid{} by default.
	Classifier Classifier
}

// Predictor forecasts waits from the past waits of jobs of the same class.
// Learn must not run at the same time as any other method; the other methods
// change nothing and may run at the same time as one another.
type Predictor struct {
	confidence float64
	least      int
	most       int
	classifier Classifier

	classes map[Class]*history
	indices [len(watched)]indices
	keys    []Class // Learn's own
	newest  int64
	learnt  int
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
		classes:    make(map[Class]*history),
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
	p.keys = p.classifier.Classes(p.keys[:0], &job.Request)
	for _, class := range p.keys {
		h := p.classes[class]
		if h == nil {
			h = &history{class: class.String()}
			p.classes[class] = h
		}
		p.learn(h, uint32(seconds), job.Start)
	}
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
		e       evidence
		classes []Class
		finest  Class // of the candidate before
		before  int   // within the budget of the candidate before
	)
	for i := range c {
		r.Limit = c[i].Limit
		classes = p.classifier.Classes(classes[:0], &r)
		same := i > 0 && classes[0] == finest
		if !same {
			finest = classes[0]
			p.gather(&e, classes)
		}
		if e.past == nil {
			est[i] = workload.Estimate{}
			continue
		}
		n := e.past.len()
		within, sum := e.past.within(c[i].Budget)
		est[i] = workload.Estimate{
			Held:   (float64(c[i].Budget)*float64(within) - float64(sum)) / float64(n),
			Sample: n,
			Class:  e.past.class,
		}
		if same && within == before && len(e.sparse) == 0 {
			est[i].Prob = est[i-1].Prob
		} else {
			est[i].Prob = e.probability(within, c[i].Budget, p.confidence)
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
	Raised     string  // unless empty: the finer class whose few waits show it is more
	OK         bool    // false: the sample is too small for any bound
}

// Bound bounds the q-quantile of the wait of a job like r.
func (p *Predictor) Bound(r workload.Request, q float64) Bound {
	b := Bound{Quantile: q}
	var e evidence
	p.gather(&e, p.classifier.Classes(nil, &r))
	if e.past == nil {
		return b
	}
	b.Sample, b.Class = e.past.len(), e.past.class
	b.Index, b.Confidence, b.OK = stats.QuantileBound(b.Sample, q, p.confidence)
	if !b.OK {
		return b
	}
	b.Seconds = int64(e.past.sorted.Select(b.Index - 1))
	if wait, by := e.objection(q, p.confidence); by != nil && int64(wait) > b.Seconds {
		b.Seconds, b.Raised = int64(wait), by.class
	}
	return b
}

// Len returns how many waits were learnt.
func (p *Predictor) Len() int { return p.learnt }

// Newest returns the latest start learnt from, Unix seconds, or 0.
func (p *Predictor) Newest() int64 { return p.newest }

// Changed returns the time of the last change point of the class that answers
// for r, Unix seconds, or 0 when there was none.
func (p *Predictor) Changed(r workload.Request) int64 {
	var e evidence
	p.gather(&e, p.classifier.Classes(nil, &r))
	if e.past == nil {
		return 0
	}
	return e.past.changed
}
