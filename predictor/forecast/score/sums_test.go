package score

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
)

// draw draws a delay from a distribution.
func draw(r *rand.Rand, d *delay.Distribution) float64 { return d.Quantile(r.Float64()) }

// scored is one forecast, as the oracle sees it.
type scored struct {
	forecast *delay.Distribution
	wait, v  float64
}

// oracle computes the scores of Sums from their definitions.
func oracle(all []scored) (coverage, pinball [len(Levels)]float64, brier, calibrationError float64) {
	n := float64(len(all))
	for i, q := range Levels {
		for _, s := range all {
			x := min(s.forecast.Quantile(q), 1e7)
			tied := s.wait == 0 // no other delay has a probability of its own
			switch {
			case tied && s.v*s.forecast[0] <= q, !tied && s.wait <= x:
				coverage[i] += 1 / n
			}
			if s.wait >= x {
				pinball[i] += q * (s.wait - x) / n
			} else {
				pinball[i] += (1 - q) * (x - s.wait) / n
			}
		}
	}
	of := n * float64(len(Budgets))
	for bin := range Bins {
		predicted, came := 0., 0.
		for _, s := range all {
			for _, budget := range Budgets {
				p, yes := s.forecast.Within(float64(budget)), 0.
				if s.wait <= float64(budget) {
					yes = 1
				}
				low, high := float64(bin)/Bins, float64(bin+1)/Bins
				if p >= low && (p < high || bin == Bins-1) {
					predicted, came = predicted+p, came+yes
					brier += (p - yes) * (p - yes) / of
				}
			}
		}
		calibrationError += math.Abs(predicted-came) / of
	}
	return coverage, pinball, brier, calibrationError
}

func TestSumsAgainstDefinitions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var all []scored
	var sums Sums
	parts := Table{}
	for range 400 {
		s := scored{forecasttest.ExponentialOrNone(r.Float64(), 1e5*r.Float64()), draw(r, forecasttest.ExponentialOrNone(.3, 9000)), r.Float64()}
		all = append(all, s)
		sums.Add(s.forecast, s.wait, s.v)
		parts.At(Key{Day: r.Int64N(3), Partition: "p"}).Add(s.forecast, s.wait, s.v)
	}
	coverage, pinball, brier, calibrationError := oracle(all)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*(1+want) {
			t.Errorf("%s %v, want %v", what, got, want)
		}
	}
	for i := range Levels {
		near("coverage", sums.Coverage(i).Share(), coverage[i])
		near("pinball", sums.Pinball(i), pinball[i])
	}
	near("Brier score", sums.Bins.Brier(), brier)
	near("calibration error", sums.Bins.Error(), calibrationError)

	var whole Sums
	for _, part := range parts {
		whole.Plus(part)
	}
	if diff := cmp.Diff(sums, whole, cmpopts.EquateApprox(1e-12, 0)); len(parts) != 3 || diff != "" {
		t.Error(diff)
	}
}

func TestExactForecastsAreCovered(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var sums Sums
	for range 20_000 {
		d := forecasttest.ExponentialOrNone(.8*r.Float64(), 20_000*r.Float64())
		sums.Add(d, draw(r, d), r.Float64())
	}
	for i, q := range Levels {
		if share := sums.Coverage(i).Share(); math.Abs(share-q) > .01 {
			t.Errorf("coverage %v of the %v quantile", share, q)
		}
	}
	if e := sums.Bins.Error(); e > .01 {
		t.Errorf("calibration error %v", e)
	}
}

func TestNothing(t *testing.T) {
	var none Sums
	if none.Coverage(0).Share() != 0 || none.Bins.Brier() != 0 || none.Bins.Error() != 0 || none.Pinball(0) != 0 {
		t.Error("no forecast has a score")
	}
	if points := none.Bins.Diagram(); len(points) != 0 {
		t.Errorf("a diagram of nothing has %v", points)
	}
	var never delay.Distribution
	none.Add(&never, 5, .5)
	if share := none.Coverage(3).Share(); share != 1 || math.IsInf(none.Pinball(3), 0) {
		t.Errorf("a delay without end: coverage %v, pinball loss %v", share, none.Pinball(3))
	}
}

func BenchmarkAdd(b *testing.B) {
	d := forecasttest.ExponentialOrNone(.3, 9000)
	var sums Sums
	for b.Loop() {
		sums.Add(d, 1234, .5)
	}
}
