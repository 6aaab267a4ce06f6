package recalibration

import "github.com/varq-project/varq/predictor/delay"

// bounds are where one stratum ends and the next begins: seconds of the .9 quantile of
// a forecast.
var bounds = [...]float64{600, 7200, 43_200}

const strata = len(bounds) + 1

// stratum returns the stratum of a forecast. It depends on the forecast alone, as
// Mondrian conformal prediction demands, and not on what came of it.
func stratum(d *delay.Distribution) int {
	const quantile = .9
	i := 0
	for i < len(bounds) && d.Within(bounds[i]) < quantile {
		i++
	}
	return i
}
