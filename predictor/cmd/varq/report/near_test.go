package report

import (
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// Medians come first, and what knows nothing of the job once for forecasters of the same jobs.
func TestNearRows(t *testing.T) {
	near := func(n int) []api.Near {
		return []api.Near{{Said: "median", Forecasts: n, LogError: .5}, {Said: "past-median", Forecasts: n - 1}, {Said: "at-once", Forecasts: n}}
	}
	var got []string
	for _, r := range nearRows([]api.CalibrationRow{
		{Forecaster: "blend", Of: api.OfWait, Near: near(9)}, {Forecaster: "older", Of: api.OfWait},
		{Forecaster: "qbets", Of: api.OfWait, Near: near(9)}, {Forecaster: "twin", Of: api.OfWait, Near: near(5)},
		{Forecaster: "completion", Of: api.OfEnd, Near: near(9)},
	}) {
		got = append(got, r.of+" "+r.name)
	}
	want := []string{
		"wait blend", "wait qbets", "wait twin", "wait past-median", "wait at-once", "wait past-median", "wait at-once",
		"end completion", "end past-median", "end at-once",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if rows := nearRows([]api.CalibrationRow{{Forecaster: "older"}}); rows != nil {
		t.Errorf("of an older varqd: %v", rows)
	}
}
