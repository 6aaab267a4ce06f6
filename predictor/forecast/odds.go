package forecast

// Odds compare how many of a user's promises were Missed with how many misses their
// forecasts Expected. Both sums decay.
type Odds struct {
	User             string // empty for all users that are not known by name
	Range            int    // of the promises' budgets, from 0 for the smallest
	Missed, Expected float64
}
