// Package forecasttest makes what tests of forecasts need: jobs whose waits can be
// forecast, and forecasts.
package forecasttest

import (
	"math"

	"github.com/varq-project/varq/predictor/delay"
)

// Exponential returns the distribution of an exponential delay with a mean in seconds.
func Exponential(mean float64) *delay.Distribution { return ExponentialOrNone(0, mean) }

// ExponentialOrNone returns the distribution of a delay that is 0 with probability none.
// Otherwise it is exponential, with a mean in seconds.
func ExponentialOrNone(none, mean float64) *delay.Distribution {
	var d delay.Distribution
	for i := range d {
		d[i] = none - (1-none)*math.Expm1(-delay.At(i)/mean)
	}
	return &d
}
