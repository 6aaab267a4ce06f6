package offer

import (
	"math"
	"testing"
)

func TestMost(t *testing.T) {
	for forecast, want := range map[float64]float64{0: -.02, .02: 0, .7: .68, .9: .88, .92: .9, .95: .93, .9625: .95, .9925: .99, 1: 1} {
		if got := Most(forecast); got != want {
			t.Errorf("of %v: %v, want %v", forecast, got, want)
		}
	}
}

// Most is the greatest whole percent for which a forecast is enough.
func TestMostIsInverse(t *testing.T) {
	for thousandth := 30; thousandth < 1000; thousandth++ {
		forecast := float64(thousandth) / 1000
		if most := Most(forecast); Enough(most) > forecast || Enough(most+.01) <= forecast {
			t.Errorf("of %v: %v, enough is %v", forecast, most, Enough(most))
		}
	}
}

// What was offered is promised while the mean of both forecasts is as high, and the second has not
// fallen by much.
func TestNeeded(t *testing.T) {
	for _, c := range []struct{ prob, estimate, want float64 }{{.5, .52, .48}, {.9, .92, .88}, {.9, .99, .85}, {.5, .5, .5}, {.7, 0, .7}} {
		got := Needed(c.prob, c.estimate)
		if math.Abs(got-c.want) > 1e-9 || Mean(got, c.estimate) < c.prob-1e-9 {
			t.Errorf("%+v: %v, and a mean of %v", c, got, Mean(got, c.estimate))
		}
	}
}
