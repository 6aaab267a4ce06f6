package study

import (
	"math"
	"testing"
)

func TestInterval(t *testing.T) {
	for _, test := range []struct {
		x    []float64
		want Interval
	}{
		{nil, Interval{}},
		{[]float64{7}, Interval{7, 7, 7, 1}},
		{[]float64{2, 2, 2}, Interval{2, 2, 2, 3}},
		// t = 12.706 and 2.776 are in every table of Student's distribution.
		{[]float64{0, 2}, Interval{1, 1 - 12.706, 1 + 12.706, 2}},
		{[]float64{1, 2, 3, 4, 5}, Interval{3, 3 - 2.776*math.Sqrt(.5), 3 + 2.776*math.Sqrt(.5), 5}},
	} {
		got := intervalOf(test.x)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-3 }
		if got.N != test.want.N || !near(got.Mean, test.want.Mean) || !near(got.Low, test.want.Low) || !near(got.High, test.want.High) {
			t.Errorf("%v: %+v, want %+v", test.x, got, test.want)
		}
	}
}
