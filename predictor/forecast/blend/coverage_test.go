package blend

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/stats"
)

// seasons has mean waits, in seconds, of the i-th job of a stream.
var seasons = map[string]func(i int) float64{
	"steady":              func(int) float64 { return 1000 },
	"changing every 1500": func(i int) float64 { return []float64{100, 10_000}[i/1500%2] },
	"drifting":            func(i int) float64 { return 100 * math.Exp(float64(i)/2500) },
	"in waves":            func(i int) float64 { return 1000 * math.Exp(2*math.Sin(float64(i)/200)) },
}

// TestBlendCovers: one expert knows the mean wait, the other never changes its forecast.
// However waits change, the quantiles of their blend cover the share of waits that they
// should. The blend's score is about that of the better expert, and promises are kept.
func TestBlendCovers(t *testing.T) {
	for name, season := range seasons {
		t.Run(name, func(t *testing.T) {
			const n, warm = 6000, 1000
			mean := 0.
			knowing := &scripted{name: "knowing", says: func(*forecast.Question) *delay.Distribution { return forecasttest.Exponential(mean) }}
			l := newLife(5, knowing, always("stubborn", forecasttest.Exponential(300)))
			v := rand.New(rand.NewPCG(5, 5))
			quantiles := [...]float64{.5, .75, .9, .95}
			var covered, promised, kept [len(quantiles)]int
			var blended, known, stubborn float64
			for i := range n {
				mean = season(i)
				j, a, ok := l.submit("a")
				wait := math.Floor(mean * l.random.ExpFloat64())
				if !ok {
					t.Fatal("no answer")
				}
				if i >= warm {
					pit := a.Wait.PIT(wait, v.Float64())
					for k, q := range quantiles {
						if pit <= q {
							covered[k]++
						}
						if budget := a.Lower.Quantile(q); !math.IsInf(budget, 1) {
							promised[k]++
							if wait <= budget {
								kept[k]++
							}
						}
					}
					blended += a.Wait.CRPS(wait)
					known += forecasttest.Exponential(mean).CRPS(wait)
					stubborn += forecasttest.Exponential(300).CRPS(wait)
				}
				l.wait(j, wait)
			}
			for k, q := range quantiles {
				if share := float64(covered[k]) / (n - warm); math.Abs(share-q) > .01 {
					t.Errorf("the %v quantile covered %.4f", q, share)
				}
				if share := float64(kept[k]) / float64(promised[k]); promised[k] < n/2 || share < q {
					t.Errorf("%v was promised %d times, and kept in %.4f", q, promised[k], share)
				}
			}
			if blended > 1.02*min(known, stubborn) {
				t.Errorf("scores %.1f, its members %.1f and %.1f", blended, known, stubborn)
			}
		})
	}
}

// TestBoundsAreMonotone: for any answers of experts and any outcomes, probabilities do not
// fall as the budget rises, and quantiles do not fall as the probability rises. The lower
// bound of a probability is not above it.
func TestBoundsAreMonotone(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 7))
		anything := func(*forecast.Question) *delay.Distribution {
			var d delay.Distribution
			p := random.Float64() * random.Float64()
			for i := range d {
				if random.IntN(4) == 0 {
					p += (1 - p) * random.Float64() * random.Float64()
				}
				d[i] = p
			}
			return &d
		}
		l := newLife(seed, &scripted{name: "one", says: anything}, &scripted{name: "other", says: anything})
		delays := stats.LogUniform{Min: .1, Max: 2e7}
		for range 300 {
			j, a, ok := l.submit([]string{"a", "b"}[random.IntN(2)])
			if !ok {
				t.Fatal("no answer")
			}
			for range 20 {
				short, long := order(delays.Rand(random), delays.Rand(random))
				low, high := order(random.Float64(), random.Float64())
				for _, d := range []*delay.Distribution{&a.Wait, &a.Lower} {
					if p, q := d.Within(short), d.Within(long); p > q || p < 0 || q > 1 {
						t.Fatalf("probability %v of %v s, %v of %v s", p, short, q, long)
					}
					if s, l := d.Quantile(low), d.Quantile(high); s > l || s < 0 {
						t.Fatalf("bound %v at %v, %v at %v", s, low, l, high)
					}
				}
				if a.Lower.Within(short) > a.Wait.Within(short) || a.Lower.Quantile(low) < a.Wait.Quantile(low) {
					t.Fatalf("promised %v of %v s, thought %v", a.Lower.Within(short), short, a.Wait.Within(short))
				}
			}
			l.wait(j, delays.Rand(random)*float64(random.IntN(2)))
		}
	}
}

func order(a, b float64) (low, high float64) { return min(a, b), max(a, b) }
