package forecast

// Odds compare how many promises were Missed with how many misses their forecasts
// Expected. Both sums decay.
type Odds struct{ Missed, Expected float64 }
