package fault

import "math"

// Forecast is what a Model says of some nodes at one time. Nothing that the Model learns later
// changes it, and its methods, but for Correct, may be called concurrently.
type Forecast struct {
	nodes map[string]growth
	other growth // of a node of which nothing is known
	sizes [len(horizons)]sizes
}

// growth has how many failures of a node are expected within each of the horizons. It does not
// fall.
type growth [len(horizons)]float64

// within returns how many failures are expected within a number of seconds: evenly more between the
// horizons, and beyond the last.
func (g *growth) within(span int64) float64 {
	days, before, at := float64(span)/day, 0., 0.
	for i, expected := range g {
		if horizon := horizons[i]; days < horizon || i == len(g)-1 {
			return before + (expected-before)*(days-at)/(horizon-at)
		}
		before, at = expected, horizons[i]
	}
	panic("fault: no horizons")
}

// Forecast returns what the Model says now of these nodes.
func (m *Model) Forecast(nodes []string) *Forecast {
	f := &Forecast{nodes: make(map[string]growth, len(nodes)), other: m.growth(-1)}
	for _, node := range nodes {
		f.nodes[node] = m.growth(m.place(node))
	}
	for i, l := range m.learners {
		f.sizes[i] = l.sizes
	}
	return f
}

// Expected returns what Model.Expected returned at the time of the Forecast.
func (f *Forecast) Expected(node string, span int64) float64 {
	growth, ok := f.nodes[node]
	if !ok {
		growth = f.other
	}
	return growth.within(span)
}

// Correct multiplies by a factor how many failures of a node are expected within any span. Of a
// node that the Forecast is not about nothing changes.
func (f *Forecast) Correct(node string, factor float64) {
	growth, ok := f.nodes[node]
	if !ok {
		return
	}
	for i := range growth {
		growth[i] *= factor
	}
	f.nodes[node] = growth
}

// Prob returns the probability that at least one of the nodes fails between two times, in seconds
// from the time of the Forecast on. A node that the Forecast is not about is taken to be one of
// which nothing is known.
func (f *Forecast) Prob(nodes []string, from, to int64) float64 {
	if len(nodes) == 0 || to <= from {
		return 0
	}
	sum, largest := 0., 0.
	for _, node := range nodes {
		expected := f.Expected(node, to) - f.Expected(node, from)
		sum, largest = sum+expected, max(largest, expected)
	}
	share := f.share(len(nodes), float64(to-from)/day)
	set := -math.Expm1(-sum) * min(1, share)
	if share > 1 {
		set = -math.Expm1(-sum * share) // so that no set is sure to fail
	}
	return max(-math.Expm1(-largest), set)
}

// mostFailures is the most that Failures returns: more make no difference, and the probability of
// none, which is exp(-mostFailures), is still told from 0.
const mostFailures = 30

// Failures returns how many failures are expected where there is one with a probability, at most
// mostFailures.
func Failures(prob float64) float64 { return min(-math.Log1p(-prob), mostFailures) }

// share returns sizes.share for a set of so many nodes and a span in days: between the horizons,
// one between theirs.
func (f *Forecast) share(set int, span float64) float64 {
	last := 0
	for i, horizon := range horizons {
		if span < horizon {
			if i == last {
				break
			}
			part := math.Log(span/horizons[last]) / math.Log(horizon/horizons[last])
			low, high := f.sizes[last].share(set), f.sizes[i].share(set)
			return low + (high-low)*part
		}
		last = i
	}
	return f.sizes[last].share(set)
}
