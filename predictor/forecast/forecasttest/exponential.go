// Package forecasttest makes what tests of forecasts need: jobs whose waits can be
// forecast, and forecasts.
package forecasttest

import (
	"math"

	"github.com/varq-project/varq/predictor/delay"
)

// Exponential returns the distribution of an exponential delay with a mean in seconds.
func Exponential(mean float64) *delay.Distribution {
	var d delay.Distribution
	for i := range d {
		d[i] = 1 - math.Exp(-delay.At(i)/mean)
	}
	return &d
}
