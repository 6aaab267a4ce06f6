package fault

import "math"

// Rates is a gamma-Poisson model of how often each node fails. The failures of a node are a Poisson
// process. The rates of all nodes have a gamma distribution, which is fitted to the nodes' counts
// by moments (empirical Bayes).
type Rates struct {
	counts       []float64 // by node, may fade
	sum, squares float64   // over the nodes
	noise        float64   // what squares would be if no node had failed twice
	exposure     float64   // days that each node was observed, may fade
	shape, days  float64   // of the prior: shape/days is its mean
}

// NewRates returns the Rates of a number of nodes of which nothing is known.
func NewRates(nodes int) *Rates {
	f := &Rates{counts: make([]float64, nodes)}
	f.fit()
	return f
}

// Advance first lets the past fade by exp(-fading), and then adds a span of days in which no node
// failed.
func (f *Rates) Advance(span, fading float64) {
	if fading > 0 {
		fade(f.counts, fading)
		once, twice := math.Exp(-fading), math.Exp(-2*fading)
		f.exposure, f.sum = f.exposure*once, f.sum*once
		f.squares, f.noise = f.squares*twice, f.noise*twice
	}
	f.exposure += span
	f.fit()
}

// Observe takes in a failure of a node.
func (f *Rates) Observe(n int) {
	f.squares += 2*f.counts[n] + 1
	f.counts[n]++
	f.sum++
	f.noise++
	f.fit()
}

// leastSpread bounds the spread of the rates, the square of their coefficient of variation, from
// below. Otherwise few failures could make all nodes seem alike for ever.
const leastSpread = .02

// The prior of the mean rate is priorFailures failures in priorDays days of one node.
const (
	priorFailures = 1
	priorDays     = 365
)

func (f *Rates) fit() {
	n := float64(max(1, len(f.counts)))
	mean := (f.sum + priorFailures) / (n*f.exposure + priorDays) // failures per day
	count, spread := f.sum/n, leastSpread
	if count > leastCount {
		spread = max(spread, (f.squares-f.noise)/n/(count*count)-1)
	}
	f.shape, f.days = 1/spread, 1/spread/mean
}

// leastCount is the least mean count that can show how rates differ.
const leastCount = 1e-9

// Rate returns the expected rate of a node, in failures per day.
func (f *Rates) Rate(n int) float64 { return (f.shape + f.counts[n]) / (f.days + f.exposure) }

// Mean returns the mean of Rate over the nodes.
func (f *Rates) Mean() float64 {
	return (f.shape + f.sum/float64(max(1, len(f.counts)))) / (f.days + f.exposure)
}
