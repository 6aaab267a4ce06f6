package score

import "math"

// Said names the forecasts of one number to which a Near belongs: the median, and two that know
// nothing of the job, the median of what came before, and that it comes at once.
var Said = [...]string{SaidMedian: "median", SaidPast: "past-median", SaidAtOnce: "at-once"}

// Indices of Said.
const (
	SaidMedian = iota
	SaidPast
	SaidAtOnce
)

// Nearness adds up how near forecasts of one number of seconds were to what came. It has the
// measures in which forecasts of waits are published: the share within one and ten minutes
// (Brown et al., Predicting batch queue job wait times for informed scheduling of urgent HPC
// workloads, 2022), that within a factor of two, and the error of the logarithm.
type Nearness struct {
	Forecasts, Minute, TenMinutes, Double int
	LogError                              float64 // sum
}

// Near is what a Nearness comes to.
type Near struct {
	Said      string `json:"said"` // one of Said
	Forecasts int    `json:"forecasts"`
	// WithinMinute and Within10Minutes are the shares of the forecasts that were off by at most one
	// minute, and by at most ten.
	WithinMinute    float64 `json:"within_minute"`
	Within10Minutes float64 `json:"within_10_minutes"`
	// WithinFactor2 is the share for which forecast+1 s was at least half of what came+1 s, and at
	// most twice that.
	WithinFactor2 float64 `json:"within_factor_2"`
	// LogError is the mean of |ln((forecast+1 s)/(what came+1 s))|.
	LogError float64 `json:"log_error"`
}

// Add adds a forecast, and what came, in seconds. Both are finite and at least 0.
func (n *Nearness) Add(said, came float64) {
	off := math.Abs(said - came)
	n.Forecasts++
	n.Minute += one(off <= 60)
	n.TenMinutes += one(off <= 600)
	n.Double += one(max(said+1, came+1) <= 2*min(said+1, came+1))
	n.LogError += math.Abs(math.Log((said + 1) / (came + 1)))
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// Plus adds other forecasts.
func (n *Nearness) Plus(other *Nearness) {
	n.Forecasts += other.Forecasts
	n.Minute += other.Minute
	n.TenMinutes += other.TenMinutes
	n.Double += other.Double
	n.LogError += other.LogError
}

// Near returns what the sums come to, under the name said. All is 0 if there is no forecast.
func (n *Nearness) Near(said string) Near {
	of := float64(max(1, n.Forecasts))
	return Near{said, n.Forecasts, float64(n.Minute) / of, float64(n.TenMinutes) / of, float64(n.Double) / of, n.LogError / of}
}
