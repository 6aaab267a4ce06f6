package recalibration

import "github.com/varq-project/varq/predictor/delay"

// strataEnds divide forecasts into strata by their .9 quantile: the last quantile, in
// seconds, of each stratum but the last.
var strataEnds = [...]float64{600, 7200, 43_200}

const strata = len(strataEnds) + 1

// stratum returns the stratum of a forecast. As Mondrian conformal prediction demands, the
// stratum depends on the forecast alone and not on its outcome.
func stratum(d *delay.Distribution) int {
	const quantile = .9
	i := 0
	for i < len(strataEnds) && d.Within(strataEnds[i]) < quantile {
		i++
	}
	return i
}
