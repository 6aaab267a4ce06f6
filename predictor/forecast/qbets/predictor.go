package qbets

import "github.com/varq-project/varq/predictor/stats"

// Options shape a Predictor. A zero field has the default named with it.
type Options struct {
	// Confidence is the level C of every bound, .95 by default.
	Confidence float64
	// MinHistory is how many waits a class must have to answer alone, without the
	// larger and longer ones, to be split off or joined with another, and how many
	// survive a change point. The default is the least that can bound the .95
	// quantile: 59 at the default confidence.
	MinHistory int
	// MaxHistory is how many waits a class remembers, 1,000 by default. It bounds
	// the harm of a drift too slow to show as a change point; ten times as many
	// would bring the bound on the median nearer by two percentiles. The highest
	// probability it can vouch for is (1-Confidence)^(1/MaxHistory), here .997.
	MaxHistory int
	// Classifier tells the classes to begin with, Grid{} by default.
	Classifier Classifier
}

// Predictor forecasts waits from the past waits of jobs of the same class or,
// while there are few, also of those that asked for more: it takes a longer or
// larger job to wait at least as long, and never takes the contrary.
// It is told what happens in the order of time. Being told must not run at the
// same time as any other method; the other methods change nothing and may run at
// the same time as one another.
type Predictor struct {
	confidence float64
	least      int
	most       int
	classifier Classifier

	services map[string]*service // by partition
	tenants  tenants
	waiting  map[int64]*waiting // by job
	starts   map[string]*starts // by partition; "": of the cluster
	outages  []Outage
	indices  [len(watched)]*stats.BoundIndices
	newest   int64
	learnt   int
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
		services:   make(map[string]*service),
		tenants:    make(tenants),
		waiting:    make(map[int64]*waiting),
		starts:     make(map[string]*starts),
	}
	for i, q := range watched {
		p.indices[i] = stats.NewBoundIndices(q, o.Confidence)
	}
	return p
}

// Len returns how many waits were learnt.
func (p *Predictor) Len() int { return p.learnt }

// Newest returns the latest start told, Unix seconds, or 0.
func (p *Predictor) Newest() int64 { return p.newest }
