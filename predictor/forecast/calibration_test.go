package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
)

// exponential returns the distribution of an exponential delay.
func exponential(mean float64) *delay.Distribution {
	var d delay.Distribution
	for i := range d {
		d[i] = 1 - math.Exp(-delay.At(i)/mean)
	}
	return &d
}

// world makes delays and what a forecaster says of them.
type world struct {
	name string
	// next returns what is said before the i-th delay, and the delay.
	next func(i int, random *rand.Rand) (said *delay.Distribution, seconds float64)
}

var worlds = []world{
	{"honest", func(_ int, random *rand.Rand) (*delay.Distribution, float64) {
		mean := 100 * math.Exp(3*random.Float64())
		return exponential(mean), mean * random.ExpFloat64()
	}},
	{"overconfident", func(_ int, random *rand.Rand) (*delay.Distribution, float64) {
		return exponential(1000), 3000 * random.ExpFloat64()
	}},
	{"timid", func(_ int, random *rand.Rand) (*delay.Distribution, float64) {
		return exponential(20_000), 1000 * random.ExpFloat64()
	}},
	{"changing every 2000", func(i int, random *rand.Rand) (*delay.Distribution, float64) {
		mean := 500.
		if i/2000%2 == 1 {
			mean = 5000
		}
		return exponential(1500), mean * random.ExpFloat64()
	}},
	{"drifting", func(i int, random *rand.Rand) (*delay.Distribution, float64) {
		return exponential(1000), 500 * math.Exp(float64(i)/12_000) * random.ExpFloat64()
	}},
	{"half at once", func(_ int, random *rand.Rand) (*delay.Distribution, float64) {
		d := exponential(1000)
		for i := range d {
			d[i] = .3 + .7*d[i]
		}
		if random.IntN(2) == 0 {
			return d, 0
		}
		return d, 1000 * random.ExpFloat64()
	}},
}

// TestCalibrationHolds: whatever is said, what is meant comes true as often as it
// says, in the long run and, but for the first after a change, of each thousand.
func TestCalibrationHolds(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 1))
			c := NewCalibration()
			quantiles := [...]float64{.5, .75, .9, .95}
			var held, block [4]int
			const n, warm = 20_000, 1000
			bad, blocks := 0, 0
			for i := range n {
				said, seconds := w.next(i, random)
				var meant Calibrated
				c.Apply(said, &meant)
				r := random.Float64()
				pit := meant.Wait.Rank(seconds, r)
				c.Learn(said, &meant, seconds, r)
				if i < warm {
					continue
				}
				for k, q := range quantiles {
					if pit <= q {
						held[k]++
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
				if share := float64(held[k]) / (n - warm); math.Abs(share-q) > .01 {
					t.Errorf("%v held in %.4f", q, share)
				}
			}
			// Where the world changes every 2000, half of the blocks follow a change.
			if limit := blocks / 2; bad > limit || w.name != "changing every 2000" && bad > blocks/10 {
				t.Errorf("%d of %d blocks of a thousand are off by .05", bad, blocks)
			}
		})
	}
}

// TestLowerIsKept: what is promised by the lower bound is kept more often than
// promised, and the bound is not absurd.
func TestLowerIsKept(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(2, 2))
			c := NewCalibration()
			promised := [...]float64{.5, .75, .95}
			var kept, n [len(promised)]int
			for i := range 8000 {
				said, seconds := w.next(i, random)
				var meant Calibrated
				var low delay.Distribution
				c.Apply(said, &meant)
				c.Lower(&meant.Wait, &low)
				for k := range low {
					if low[k] > meant.Wait[k] || k > 0 && low[k] < low[k-1] {
						t.Fatalf("lower bound %v of %v, after %v", low[k], meant.Wait[k], low[k-1])
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
				c.Learn(said, &meant, seconds, random.Float64())
			}
			for k, p := range promised {
				if share := float64(kept[k]) / float64(n[k]); n[k] < 4000 || share < p || share > p+.5*(1-p)+.02 {
					t.Errorf("promised %v, kept %.4f of %d", p, share, n[k])
				}
			}
		})
	}
}

// TestFeedbackAddsUp: the share of forecasts that held is off a level by what its
// correction has become, whatever the world does, unless that has met its bound, as it
// does where forecasts are always exceeded.
func TestFeedbackAddsUp(t *testing.T) {
	never := world{"never", func(int, *rand.Rand) (*delay.Distribution, float64) { return exponential(100), 1e9 }}
	for _, w := range append([]world{never}, worlds...) {
		random := rand.New(rand.NewPCG(3, 3))
		c := NewCalibration()
		var held [len(levels)]int
		var met [len(levels)]bool
		const n = 3000
		for i := range n {
			said, seconds := w.next(i, random)
			var meant Calibrated
			r := random.Float64()
			c.Apply(said, &meant)
			c.Learn(said, &meant, seconds, r)
			for k, level := range levels {
				if meant.Wait.Rank(seconds, r) <= level {
					held[k]++
				}
				met[k] = met[k] || math.Abs(c.shift[k]) == min(level, 1-level)/2
			}
		}
		for k, level := range levels {
			off := level - float64(held[k])/n
			if !met[k] && math.Abs(off-c.shift[k]/(rate*n)) > 1e-6 {
				t.Errorf("%s: %v is off by %v, its correction is %v", w.name, level, off, c.shift[k])
			}
			if level <= .9 && met[k] != (w.name == "never") {
				t.Errorf("%s: the correction of %v is %v", w.name, level, c.shift[k])
			}
		}
	}
}

// TestNewCalibration takes forecasts at their word.
func TestNewCalibration(t *testing.T) {
	for _, mean := range [...]float64{10, 1000, 1e5} {
		said := exponential(mean)
		var meant Calibrated
		NewCalibration().Apply(said, &meant)
		for i := range said {
			if math.Abs(meant.Wait[i]-said[i]) > 1e-9 {
				t.Errorf("%v means %v", said[i], meant.Wait[i])
			}
		}
	}
	var never delay.Distribution
	var meant Calibrated
	NewCalibration().Apply(&never, &meant)
	if meant.Wait != (delay.Distribution{}) {
		t.Error("a delay without end has one")
	}
}

// TestScoreIsProper: nobody does better than by saying what they think.
func TestScoreIsProper(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	var sums [3]float64
	for range 20_000 {
		seconds := 1000 * random.ExpFloat64()
		for i, mean := range [...]float64{700, 1000, 1400} {
			sums[i] += Score(exponential(mean), seconds)
		}
	}
	if sums[1] >= sums[0] || sums[1] >= sums[2] {
		t.Errorf("scores of less, the truth, more: %v", sums)
	}
}

func BenchmarkCalibration(b *testing.B) {
	c, random := NewCalibration(), rand.New(rand.NewPCG(1, 1))
	d := exponential(1000)
	var meant Calibrated
	var low delay.Distribution
	for b.Loop() {
		c.Apply(d, &meant)
		c.Lower(&meant.Wait, &low)
		c.Learn(d, &meant, 1000*random.ExpFloat64(), random.Float64())
	}
}

func TestSteps(t *testing.T) {
	for i := range steps {
		low, high := edges[i], edges[i+1]
		if !(low < high) || step(low) != i && i < half || step((low+high)/2) != i {
			t.Errorf("step %d from %v to %v: %d, %d", i, low, high, step(low), step((low+high)/2))
		}
	}
	if edges[0] != 0 || edges[half] != .5 || edges[steps] != 1 || step(1) != steps-1 || step(-1) != 0 {
		t.Errorf("edges %v, %v, %v; steps %d, %d", edges[0], edges[half], edges[steps], step(1), step(-1))
	}
}
