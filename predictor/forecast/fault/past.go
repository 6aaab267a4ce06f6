package fault

import (
	"math"
	"slices"
)

// Kernels are how long an event has an effect, in days. The effects of failures last longer than
// those of other events.
var (
	failureKernels = [...]float64{.5, 2, 8, 32, 128}
	eventKernels   = [...]float64{.1, 1, 8}
	nearKernels    = [...]float64{2, 32}
)

const (
	// near is how far, in the list of nodes, a failure affects the neighbours.
	near = 8
	// memory is the mean age, in days, of the failures that count in past.lately.
	memory = 200.
)

// faded has, for a span of days, the part of an event's effect that fades within the span: by
// kernel, 1-exp(-span/kernel). An event that makes one failure in all makes this many within the
// span.
type faded struct {
	span     float64
	failures [len(failureKernels)]float64
	near     [len(nearKernels)]float64
	events   [len(eventKernels)]float64
}

func newFaded(span float64) *faded {
	f := &faded{span: span}
	for k, kernel := range failureKernels {
		f.failures[k] = -math.Expm1(-span / kernel)
	}
	for k, kernel := range nearKernels {
		f.near[k] = -math.Expm1(-span / kernel)
	}
	for k, kernel := range eventKernels {
		f.events[k] = -math.Expm1(-span / kernel)
	}
	return f
}

// past is what happened on each node and on all nodes, as sums over events that fade with time.
type past struct {
	nodes    int
	now      float64 // days since the start
	kinds    []string
	own      [][]float64 // by failureKernels, then by node: a sum of exp(-age/kernel)
	all      []float64   // the sums of own over the nodes
	near     [][]float64 // by nearKernels, then by node
	events   [][]float64 // by kind and kernel, then by node
	anywhere []float64
	always   *Rates
	lately   *Rates
	ages     ages
}

func newPast(nodes int, kinds []string) *past {
	p := &past{nodes: nodes, kinds: kinds, always: NewRates(nodes), lately: NewRates(nodes), ages: newAges(nodes)}
	p.own, p.all = zeros(len(failureKernels), nodes), make([]float64, len(failureKernels))
	p.near = zeros(len(nearKernels), nodes)
	p.events, p.anywhere = zeros(len(kinds)*len(eventKernels), nodes), make([]float64, len(kinds)*len(eventKernels))
	return p
}

func zeros(rows, columns int) [][]float64 {
	all := make([][]float64, rows)
	for i := range all {
		all[i] = make([]float64, columns)
	}
	return all
}

// advance lets everything fade until a time.
func (p *past) advance(to float64) {
	span := to - p.now
	if span <= 0 {
		return
	}
	p.now = to
	for k, kernel := range failureKernels {
		fade(p.own[k], span/kernel)
		p.all[k] *= math.Exp(-span / kernel)
	}
	for k, kernel := range nearKernels {
		fade(p.near[k], span/kernel)
	}
	for k := range p.events {
		kernel := eventKernels[k%len(eventKernels)]
		fade(p.events[k], span/kernel)
		p.anywhere[k] *= math.Exp(-span / kernel)
	}
	p.always.Advance(span, 0)
	p.lately.Advance(span, span/memory)
}

// fade multiplies all sums by exp(-by).
func fade(sums []float64, by float64) {
	f := math.Exp(-by)
	for i := range sums {
		sums[i] *= f
	}
}

// observe takes in an event of a node.
func (p *past) observe(n int, kind string, now float64) {
	if kind != Failure {
		i := slices.Index(p.kinds, kind)
		if i < 0 {
			return
		}
		for k := range eventKernels {
			p.events[i*len(eventKernels)+k][n]++
			p.anywhere[i*len(eventKernels)+k]++
		}
		return
	}
	for k := range failureKernels {
		p.own[k][n]++
		p.all[k]++
	}
	for i := max(0, n-near); i < min(p.nodes, n+near+1); i++ {
		if i != n {
			for k := range nearKernels {
				p.near[k][i]++
			}
		}
	}
	p.always.Observe(n)
	p.lately.Observe(n)
	p.ages.observe(n, now)
}

// features returns the number of features.
func (p *past) features() int {
	return plain + 3*len(failureKernels) + len(nearKernels) + 2*len(p.events)
}

// The indices of the first features.
const (
	constant = iota // the mean rate of all nodes
	frail           // the node's own rate
	frailLately
	age
	plain // the number of these
)

// fill sets x to the features of a node for a span from now on. Each is a number of failures. A
// negative n stands for a node of which nothing is known.
func (p *past) fill(x []float64, n int, within *faded) {
	clear(x)
	x[constant] = p.always.Mean() * within.span
	x[frail] = x[constant]
	relative := 1.
	if n >= 0 {
		x[frail] = p.always.Rate(n) * within.span
		x[frailLately] = p.lately.Rate(n) * within.span
		x[age] = p.ages.expected(n, p.now, within.span)
		if x[constant] > 0 {
			relative = x[frail] / x[constant]
		}
	}
	rest := x[plain:]
	put := func(failures float64) { rest[0], rest = failures, rest[1:] }
	on := func(sums []float64) float64 {
		if n < 0 {
			return 0
		}
		return sums[n]
	}
	for k, share := range within.failures {
		anywhere := p.all[k] / float64(max(1, p.nodes)) * share
		put(on(p.own[k]) * share)
		put(anywhere)
		put(anywhere * relative)
	}
	for k, share := range within.near {
		put(on(p.near[k]) / (2 * near) * share)
	}
	for k := range p.events {
		share := within.events[k%len(eventKernels)]
		put(on(p.events[k]) * share)
		put(p.anywhere[k] / float64(max(1, p.nodes)) * share)
	}
}

// evidence describes what a feature rests on.
func (p *past) evidence(feature int) string {
	switch i := feature - plain; {
	case feature == constant:
		return "nodes fail now and then"
	case feature == frail || feature == frailLately:
		return "how often it failed"
	case feature == age:
		return "how long it has not failed"
	case i < 3*len(failureKernels):
		return [...]string{"it failed of late", "others failed of late", "others failed of late"}[i%3]
	case i < 3*len(failureKernels)+len(nearKernels):
		return "its neighbours failed"
	default:
		i -= 3*len(failureKernels) + len(nearKernels)
		kind := p.kinds[i/2/len(eventKernels)]
		return [...]string{"this befell it: " + kind, "this befell nodes: " + kind}[i%2]
	}
}
