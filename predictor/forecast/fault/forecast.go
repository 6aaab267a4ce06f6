package fault

import "math"

// Forecast is what a Model forecasts for some nodes at one time. It does not change as the Model
// learns more. Its methods, except Correct, may be called concurrently.
type Forecast struct {
	nodes map[string]growth
	other growth // of a node of which nothing is known
	sizes [len(horizons)]sizes
}

// growth has the number of failures of a node that are expected within each of the horizons. It
// never decreases.
type growth [len(horizons)]float64

// within returns the number of failures expected within a number of seconds, by linear
// interpolation between the horizons and linear extrapolation beyond the last.
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

// Forecast returns what the Model forecasts now for these nodes.
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

// Correct multiplies the expected failures of a node by a factor, for any span. It does nothing if
// the Forecast does not have the node.
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
// after the time of the Forecast. A node that the Forecast does not have counts as a node of which
// nothing is known.
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
		set = -math.Expm1(-sum * share) // so that no set is certain to fail
	}
	return max(-math.Expm1(-largest), set)
}

// mostFailures is the largest result of Failures. A larger one would make no difference. And
// exp(-mostFailures), the probability of no failure, can still be told from 0.
const mostFailures = 30

// Failures returns the expected number of failures that corresponds to a probability of at least
// one, at most mostFailures.
func Failures(prob float64) float64 { return min(-math.Log1p(-prob), mostFailures) }

// share returns sizes.share for a set of so many nodes and a span in days. Between the horizons it
// interpolates.
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
