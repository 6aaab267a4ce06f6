package recalibration

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
)

// world generates delays and a forecaster's forecasts of them.
type world struct {
	name string
	// next returns the raw forecast of the i-th delay, and the delay.
	next func(i int, random *rand.Rand) (raw *delay.Distribution, seconds float64)
}

var worlds = []world{
	{"honest", func(_ int, random *rand.Rand) (*delay.Distribution, float64) {
		mean := 100 * math.Exp(3*random.Float64())
		return forecasttest.Exponential(mean), mean * random.ExpFloat64()
	}},
	{"overconfident", func(_ int, random *rand.Rand) (*delay.Distribution, float64) {
		return forecasttest.Exponential(1000), 3000 * random.ExpFloat64()
	}},
	{"timid", func(_ int, random *rand.Rand) (*delay.Distribution, float64) {
		return forecasttest.Exponential(20_000), 1000 * random.ExpFloat64()
	}},
	{"changing every 2000", func(i int, random *rand.Rand) (*delay.Distribution, float64) {
		mean := 500.
		if i/2000%2 == 1 {
			mean = 5000
		}
		return forecasttest.Exponential(1500), mean * random.ExpFloat64()
	}},
	{"drifting", func(i int, random *rand.Rand) (*delay.Distribution, float64) {
		return forecasttest.Exponential(1000), 500 * math.Exp(float64(i)/12_000) * random.ExpFloat64()
	}},
	{"half at once", func(_ int, random *rand.Rand) (*delay.Distribution, float64) {
		d := forecasttest.Exponential(1000)
		for i := range d {
			d[i] = .3 + .7*d[i]
		}
		if random.IntN(2) == 0 {
			return d, 0
		}
		return d, 1000 * random.ExpFloat64()
	}},
}

// TestForecastsComeTrue: whatever the raw forecasts are, recalibrated probabilities come
// true as often as they say: in the long run, and in each thousand outcomes except the
// first after a change.
func TestForecastsComeTrue(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 1))
			r := New()
			quantiles := [...]float64{.5, .75, .9, .95}
			var covered, block [4]int
			const n, warm = 20_000, 1000
			bad, blocks := 0, 0
			for i := range n {
				raw, seconds := w.next(i, random)
				var got Forecast
				r.Apply("", raw, &got)
				v := random.Float64()
				pit := got.Wait.PIT(seconds, v)
				r.Learn("", 1, raw, &got, seconds, v)
				if i < warm {
					continue
				}
				for k, q := range quantiles {
					if pit <= q {
						covered[k]++
						block[k]++
					}
				}
				if i%1000 == 999 {
					for k, q := range quantiles {
						blocks++
						if math.Abs(float64(block[k])/1000-q) > .05 {
							bad++
						}
					}
					block = [4]int{}
				}
			}
			for k, q := range quantiles {
				if share := float64(covered[k]) / (n - warm); math.Abs(share-q) > .01 {
					t.Errorf("the %v quantile covered %.4f", q, share)
				}
			}
			// If the world changes every 2000 delays, half of the blocks follow a change.
			if limit := blocks / 2; bad > limit || w.name != "changing every 2000" && bad > blocks/10 {
				t.Errorf("%d of %d blocks of a thousand are off by .05", bad, blocks)
			}
		})
	}
}

// TestRepeatedWaitsComeTrue: where most short waits are of 1 s, short forecasts come true as often
// as they say, and so do long ones.
func TestRepeatedWaitsComeTrue(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	short, long := new(delay.Distribution), forecasttest.Exponential(3000)
	for i := range short {
		switch delay.At(i) {
		case 0:
			short[i] = .1
		case 1:
			short[i] = .7
		default:
			short[i] = 1
		}
	}
	quantiles := [...]float64{.25, .5, .75, .95}
	var covered [2][len(quantiles)]int
	r := New()
	const n, warm = 20_000, 2000
	for i := range n {
		raw, seconds := long, math.Ceil(2000*random.ExpFloat64())
		if i%2 == 0 {
			raw, seconds = short, 1
			if u := random.Float64(); u < .05 {
				seconds = 0
			} else if u > .85 {
				seconds = 2
			}
		}
		var got Forecast
		r.Apply("", raw, &got)
		v := random.Float64()
		for k, q := range quantiles {
			if i >= warm && got.Wait.PIT(seconds, v) <= q {
				covered[i%2][k]++
			}
		}
		r.Learn("", 1, raw, &got, seconds, v)
	}
	for kind, name := range [...]string{"short", "long"} {
		for k, q := range quantiles {
			if share := float64(covered[kind][k]) / ((n - warm) / 2); math.Abs(share-q) > .03 {
				t.Errorf("the %v quantile of %s forecasts covered %.3f", q, name, share)
			}
		}
	}
}

// TestLowerBounds: promises made by the lower bound are kept more often than promised, and
// the bound is not much too low.
func TestLowerBounds(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(2, 2))
			r := New()
			promised := [...]float64{.5, .75, .95}
			var kept, n [len(promised)]int
			for i := range 8000 {
				raw, seconds := w.next(i, random)
				var got Forecast
				var low delay.Distribution
				r.Apply("", raw, &got)
				r.LowerBounds("", &got.Wait, &low)
				for k := range low {
					if low[k] > got.Wait[k] || k > 0 && low[k] < low[k-1] {
						t.Fatalf("lower bound %v of %v, after %v", low[k], got.Wait[k], low[k-1])
					}
				}
				for k, p := range promised {
					if budget := low.Quantile(p); i > 500 && !math.IsInf(budget, 1) {
						n[k]++
						if seconds <= budget {
							kept[k]++
						}
					}
				}
				r.Learn("", 1, raw, &got, seconds, random.Float64())
			}
			for k, p := range promised {
				if share := float64(kept[k]) / float64(n[k]); n[k] < 4000 || share < p || share > p+.5*(1-p)+.02 {
					t.Errorf("promised %v, kept %.4f of %d", p, share, n[k])
				}
			}
		})
	}
}

// TestNew: a new recalibration does not change forecasts.
func TestNew(t *testing.T) {
	for _, mean := range [...]float64{10, 1000, 1e5} {
		raw := forecasttest.Exponential(mean)
		var got Forecast
		New().Apply("", raw, &got)
		for i := range raw {
			if math.Abs(got.Wait[i]-raw[i]) > 1e-9 {
				t.Errorf("%v means %v", raw[i], got.Wait[i])
			}
		}
	}
	var never delay.Distribution
	var got Forecast
	New().Apply("", &never, &got)
	if got.Wait != (delay.Distribution{}) {
		t.Error("a delay without end has one")
	}
}

func BenchmarkRecalibration(b *testing.B) {
	r, random := New(), rand.New(rand.NewPCG(1, 1))
	d := forecasttest.Exponential(1000)
	var got Forecast
	var low delay.Distribution
	for b.Loop() {
		r.Apply("", d, &got)
		r.LowerBounds("", &got.Wait, &low)
		r.Learn("", 1, d, &got, 1000*random.ExpFloat64(), random.Float64())
	}
}
