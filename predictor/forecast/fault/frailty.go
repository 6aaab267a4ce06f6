package fault

import "math"

// frailty is a gamma-Poisson model of how often each node fails: the failures of a node are a Poisson
// process, and the rates of all nodes have a gamma distribution, which is fitted to their counts by
// moments (empirical Bayes).
type frailty struct {
	counts       []float64 // by node, may fade
	sum, squares float64   // over the nodes
	noise        float64   // what squares would be if no node had failed twice
	exposure     float64   // days, of each node, may fade
	shape, days  float64   // of the prior: shape/days is its mean
}

func newFrailty(nodes int) frailty { return frailty{counts: make([]float64, nodes), days: 1} }

// advance adds a span of days to the exposure, after all has faded by exp(-fading).
func (f *frailty) advance(span, fading float64) {
	if fading > 0 {
		fade(f.counts, fading)
		once, twice := math.Exp(-fading), math.Exp(-2*fading)
		f.exposure, f.sum = f.exposure*once, f.sum*once
		f.squares, f.noise = f.squares*twice, f.noise*twice
	}
	f.exposure += span
	f.fit()
}

func (f *frailty) observe(n int) {
	f.squares += 2*f.counts[n] + 1
	f.counts[n]++
	f.sum++
	f.noise++
	f.fit()
}

// leastSpread is the least square of the coefficient of variation that rates are taken to have: few
// failures must not make all nodes seem alike for ever.
const leastSpread = .02

// leastMean is the least mean count that tells of a rate.
const leastMean = 1e-9

func (f *frailty) fit() {
	n := float64(max(1, len(f.counts)))
	mean := f.sum / n
	if mean < leastMean || f.exposure <= 0 {
		f.shape, f.days = 0, 1
		return
	}
	f.shape = 1 / max((f.squares-f.noise)/n/(mean*mean)-1, leastSpread)
	f.days = f.shape * f.exposure / mean
}

// rate returns the expected rate of a node, in failures per day.
func (f *frailty) rate(n int) float64 { return (f.shape + f.counts[n]) / (f.days + f.exposure) }

// mean returns the mean of rate over the nodes.
func (f *frailty) mean() float64 {
	return (f.shape + f.sum/float64(max(1, len(f.counts)))) / (f.days + f.exposure)
}
