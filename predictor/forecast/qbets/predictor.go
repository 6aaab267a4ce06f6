package qbets

import (
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

const (
	// confidence is the level of every bound.
	confidence = .95
	// maxHistory is how many waits a class remembers. It bounds the harm of a drift too
	// slow to show as a change point. Ten times as many waits would bring the bound on the
	// median nearer by two percentiles. The highest probability that a class can bound is
	// (1-confidence)^(1/maxHistory): .997.
	maxHistory = 1000
)

// minHistory is how many waits a class needs to answer without the waits of others, and to
// be split or joined. It is also how many waits survive a change point. It is the least
// number that bounds the .95 quantile: 59.
var minHistory = stats.SampleSize(.95, confidence)

// Predictor forecasts waits from the past waits of jobs of the same class. As long as these
// are few, it adds the waits of jobs that asked for more. It assumes that a longer or larger
// job waits at least as long as a shorter or smaller one.
//
// Submitted, Started, Ended, Learn and Outage must be called in the order of time, and not
// at the same time as any other method. The other methods change nothing, and may run at
// the same time as one another.
type Predictor struct {
	least int                           // minHistory
	most  int                           // maxHistory
	cell  func(*workload.Request) Class // the function Cell

	services map[string]*service // by partition
	tenants  tenants
	waiting  map[int64]*waiting // by job
	starts   map[string]*starts // by partition; "": of the cluster
	outages  []Outage
	indices  [len(watched)]*stats.BoundIndices
	learnt   int
}

// New returns a Predictor that has learnt nothing.
func New() *Predictor {
	p := &Predictor{
		least:    minHistory,
		most:     maxHistory,
		cell:     Cell,
		services: make(map[string]*service),
		tenants:  make(tenants),
		waiting:  make(map[int64]*waiting),
		starts:   make(map[string]*starts),
	}
	for i, q := range watched {
		p.indices[i] = stats.NewBoundIndices(q, confidence)
	}
	return p
}

// Len returns the number of waits learnt.
func (p *Predictor) Len() int { return p.learnt }
