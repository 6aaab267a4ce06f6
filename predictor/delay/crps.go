package delay

// CRPS returns the continuous ranked probability score of d for an outcome in seconds:
// the mean over the grid of the squared difference between d and the step function at the
// outcome. It lies between 0, the best, and 1. It is a proper score: a forecaster that
// says what it believes expects the best score (Gneiting and Raftery 2007).
func (d *Distribution) CRPS(seconds float64) float64 {
	outcome := Index(seconds)
	sum := 0.
	for _, p := range d[:outcome] {
		sum += p * p
	}
	for _, p := range d[outcome:] {
		sum += (1 - p) * (1 - p)
	}
	return sum / Points
}
