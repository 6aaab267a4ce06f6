// Package esr estimates how probable it is that a reservation can be had: the estimated success
// rate of Röblitz, Schintke and Wendler, "Elastic Grid Reservations with User-Defined Optimization
// Policies" (2005), section 3.2.3. It has the paper's three methods. They need little data. So they
// serve for sites without forecasts, and as a comparison for forecasts.
package esr

import "math"

// Threshold is the least success rate of a reservation that the paper tries (section 4.2).
const Threshold = .85

// PaperScale is the paper's h of Static in seconds (section 4). It gives Threshold at nearly 9 h 30
// min. The paper says that this "corresponds to a value of 0.9"; that it does at 11 h 31 min.
const PaperScale = 18000

// Static returns the success rate of a reservation by the seconds until it starts: 1 - exp(-d/h).
// One that starts at once has 0.
func Static(seconds int64, h float64) float64 {
	return -math.Expm1(-float64(max(0, seconds)) / h)
}
