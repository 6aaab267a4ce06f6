package checkpoint

import (
	"math"
	"testing"
)

func TestTable(t *testing.T) {
	table := Table{Expected: []Expected{{hour, .01}, {day, .03}}, LongRun: 1e-6}
	for seconds, want := range map[float64]float64{
		0: 0, hour / 2: .005, hour: .01, 12.5 * hour: .02, day: .03, 2 * day: .03 + 1e-6*day,
	} {
		if got := -math.Log1p(-table.Within(seconds)); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v failures within %v s, want %v", got, seconds, want)
		}
	}
	even := Table{Expected: []Expected{{day, day * 1e-5}}, LongRun: 1e-5}
	for _, hours := range []float64{1, 2, 4, 8, 16} {
		r := Request{Cost: 720, Interval: hour, Since: hours * hour, Hazard: &even}
		a := Advise(&r)
		if r.Hazard = Constant(1e-5); a.Checkpoint != Advise(&r).Checkpoint || math.Abs(a.Saves-Advise(&r).Saves) > 1e-6 {
			t.Errorf("after %v h %+v, at the same constant rate %+v", hours, a, Advise(&r))
		}
	}
	if got := (&Table{LongRun: 2}).Within(1); math.Abs(got+math.Expm1(-2)) > 1e-12 {
		t.Errorf("an empty table: %v", got)
	}
}
