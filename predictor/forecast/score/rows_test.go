package score

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/varq-project/varq/predictor/stats"
)

// day returns the sums of n forecasts. Of the waits, covered are within each quantile. All
// forecasts give the first budget a probability of .5, and came of the waits are within it.
func day(n, covered, came int) *Sums {
	s := &Sums{Forecasts: n}
	for i := range s.Levels {
		s.Levels[i] = Level{Covered: covered, Pinball: 60 * float64(n)}
	}
	s.Bins[10] = Bin{N: n, Predicted: .5 * float64(n), True: came, Squares: .25 * float64(n)}
	return s
}

func key(at int64, forecaster, partition string) Key {
	return Key{Day: at, Forecaster: forecaster, Partition: partition}
}

func TestRows(t *testing.T) {
	f := Forecasts{
		Scored: Table{
			key(20_000, "qbets", "gpu"):   day(10, 9, 5),
			key(20_001, "qbets", "gpu"):   day(10, 10, 5),
			key(20_001, "qbets", "batch"): day(20, 10, 10),
			key(20_032, "blend", "batch"): day(40, 30, 10),
		},
		Unscored: map[Key]Unscored{key(20_033, "blend", "batch"): {Open: 1}},
	}
	type brief struct {
		forecaster, group string
		n                 int
	}
	for by, want := range map[string][]brief{
		"":          {{"blend", "", 40}, {"qbets", "", 30}},
		"partition": {{"blend", "batch", 40}, {"qbets", "batch", 20}, {"qbets", "gpu", 10}},
		"month":     {{"blend", "2024-11", 40}, {"qbets", "2024-10", 30}},
	} {
		var got []brief
		for _, r := range Rows(by, f, 20_001, 20_034) {
			got = append(got, brief{r.Forecaster, r.Group, r.Forecasts})
			if r.Drift.Found {
				t.Errorf("by %q: %s %s", by, r.Forecaster, r.Drift)
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(brief{})); diff != "" {
			t.Errorf("by %q: %s", by, diff)
		}
	}
	got := Rows("partition", f, 0, 20_034)[2]
	want := Row{
		Forecaster: "qbets", Group: "gpu", Forecasts: 20, Weeks: 1,
		CalibrationError: 0, Brier: .25,
		Reliability: []Point{{Count: 20, Mean: .5, True: .5}},
	}
	for _, q := range Levels {
		want.Quantiles = append(want.Quantiles, Coverage{Quantile: q, Covered: .95, Low: 0, High: 1, Pinball: 60})
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-3)); diff != "" {
		t.Error(diff)
	}
}

// TestRowsHaveIntervalsOfWeeks: the intervals are those of weeks. Waits of many days in one
// week count like waits of one day.
func TestRowsHaveIntervalsOfWeeks(t *testing.T) {
	f := Forecasts{Scored: Table{}}
	var weekly Weekly
	for at := int64(20_000); at < 20_090; at++ {
		covered := int(60 + 40*(Week(at)%2))
		f.Scored[key(at, "twin", "gpu")] = day(100, covered, 50)
		weekly.At(Week(at)).Plus(stats.Count{N: covered, Of: 100})
	}
	want := weekly.Proportion()
	for _, q := range Rows("", f, 0, 20_090)[0].Quantiles {
		if got := (Proportion{Of: 9000, Share: q.Covered, Low: q.Low, High: q.High}); got != want {
			t.Errorf("the %v quantile covers %+v, want %+v", q.Quantile, got, want)
		}
	}
	if low, high := stats.ProportionInterval(7200, 9000, Confidence); want.High-want.Low < 5*(high-low) {
		t.Errorf("from %v to %v, about as if waits were independent", want.Low, want.High)
	}
}

// TestRowsTellOfDrift: days before the reported ones count for the drift, by forecaster and
// group.
func TestRowsTellOfDrift(t *testing.T) {
	f := Forecasts{Scored: Table{}, Unscored: map[Key]Unscored{}}
	for at := int64(20_000); at < 20_010; at++ {
		f.Scored[key(at, "twin", "gpu")] = day(100, 40, 50)
		f.Unscored[key(at, "site", "gpu")] = Unscored{Open: 100, Overdue: 100}
	}
	f.Scored[key(20_010, "twin", "batch")] = day(100, 95, 50)
	f.Scored[key(20_010, "site", "gpu")] = day(1, 1, 0)
	var drifts []string
	for _, r := range Rows("partition", f, 20_009, 20_011) {
		drifts = append(drifts, r.Forecaster+" "+r.Group+" "+r.Drift.String())
	}
	want := []string{
		"site gpu promises too much since 2024-10-04: 0.00 of 1000 jobs were within the 0.95 quantile",
		"twin batch ",
		"twin gpu promises too much since 2024-10-04: 0.40 of 1000 jobs were within the 0.95 quantile",
	}
	if !slices.Equal(drifts, want) {
		t.Errorf("%q", drifts)
	}
}
