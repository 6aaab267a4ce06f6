package forecast

// Odds compare promises with the forecasts that they were made by: how many were
// Missed, and how many were Expected to be, where old promises weigh less.
type Odds struct{ Missed, Expected float64 }
