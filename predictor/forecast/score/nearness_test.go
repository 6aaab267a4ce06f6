package score

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestNearness(t *testing.T) {
	var some, rest Nearness
	for _, pair := range [][2]float64{
		{0, 0}, {0, 1}, // twice as much, with the second that is added
		{60, 0}, {99, 199}, {99, 200},
	} {
		some.Add(pair[0], pair[1])
	}
	for _, pair := range [][2]float64{{1200, 600}, {7000, 6400}, {7001, 6400}, {0, 86_399}, {86_399, 0}} {
		rest.Add(pair[0], pair[1])
	}
	some.Plus(&rest)
	want := Near{
		Said: "median", Forecasts: 10,
		WithinMinute: .3, Within10Minutes: .7, WithinFactor2: .6,
		LogError: (0 + math.Log(2) + math.Log(61) + math.Log(2) + math.Log(2.01) + math.Log(1201./601) + math.Log(7001./6401) +
			math.Log(7002./6401) + 2*math.Log(86_400)) / 10,
	}
	if diff := cmp.Diff(want, some.Near(Said[SaidMedian]), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Error(diff)
	}
	if none := new(Nearness).Near(Said[SaidAtOnce]); none != (Near{Said: Said[SaidAtOnce]}) {
		t.Errorf("no forecast is %+v", none)
	}
}
