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

// The interval of a share goes no further than from nothing to all.
func TestIntervalOfAShare(t *testing.T) {
	m := Measure(func(_ Results, seed uint64) float64 { return []float64{70, 100, 95}[seed-1] })
	for _, test := range []struct {
		q         Quantity
		low, high float64
	}{
		{m, 48.4, 128.3},
		{m.ShareOf(100), 48.4, 100},
		{Measure(func(r Results, seed uint64) float64 { return 100 - m(r, seed) }).ShareOf(100), 0, 51.6},
		{m.Minus(m.Times(2)), -128.3, -48.4}, // a difference of shares may be negative
	} {
		got := Results{seeds: 3}.Interval(test.q)
		if math.Abs(got.Low-test.low) > .1 || math.Abs(got.High-test.high) > .1 {
			t.Errorf("%+v, want %v to %v", got, test.low, test.high)
		}
	}
}
