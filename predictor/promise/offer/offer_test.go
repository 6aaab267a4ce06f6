package offer

import "testing"

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

func TestHolds(t *testing.T) {
	for _, c := range []struct {
		prob, forecast float64
		holds          bool
	}{{.9, .92, true}, {.9, .45, true}, {.9, .44, false}, {.5, 0, false}} {
		if Holds(c.prob, c.forecast) != c.holds {
			t.Errorf("%+v", c)
		}
	}
}
