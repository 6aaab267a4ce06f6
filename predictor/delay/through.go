package delay

// Quantile is a delay that is not exceeded with a probability Q.
type Quantile struct {
	Q       float64
	Seconds float64
}

// Through returns the distribution with some quantiles, in increasing order of Q, of which Seconds
// do not fall. Between two of them, and from 0 to the first, probability is spread evenly, as far
// as the grid shows it. What lies above the last has no end.
func Through(quantiles []Quantile) Distribution {
	var d Distribution
	for i := range d {
		d[i] = between(quantiles, grid[i])
	}
	return d
}

// between returns the probability of at most a number of seconds.
func between(quantiles []Quantile, seconds float64) float64 {
	var below Quantile
	for _, next := range quantiles {
		if next.Seconds > seconds {
			return below.Q + (next.Q-below.Q)*(seconds-below.Seconds)/(next.Seconds-below.Seconds)
		}
		below = next
	}
	return below.Q
}
