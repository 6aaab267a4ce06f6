package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }

// everyResample returns the shares of all resamples of some blocks, each as likely as
// any other, in increasing order.
func everyResample(blocks []Count) []float64 {
	sums := []Count{{}}
	for range blocks {
		var longer []Count
		for _, s := range sums {
			for _, b := range blocks {
				longer = append(longer, Count{s.N + b.N, s.Of + b.Of})
			}
		}
		sums = longer
	}
	shares := make([]float64, len(sums))
	for i, s := range sums {
		shares[i] = float64(s.N) / float64(s.Of)
	}
	slices.Sort(shares)
	return shares
}

// TestBlockIntervalAgainstAllResamples: of all possible resamples, the right share is beyond
// each end of the interval.
func TestBlockIntervalAgainstAllResamples(t *testing.T) {
	r := seeded(1)
	for n := LeastBlocks; n <= 6; n++ {
		for range 5 {
			blocks := make([]Count, n)
			for i := range blocks {
				of := 500 + r.IntN(2000)
				blocks[i] = Count{r.IntN(of + 1), of}
			}
			low, high, ok := BlockInterval(blocks, .8, r)
			shares := everyResample(blocks)
			below, _ := slices.BinarySearch(shares, low)
			notAbove, _ := slices.BinarySearch(shares, math.Nextafter(high, 2))
			want := bootstrapTail(n, .8)
			for _, got := range []float64{float64(below) / float64(len(shares)), 1 - float64(notAbove)/float64(len(shares))} {
				if deviation := math.Sqrt(want / resamples); !ok || math.Abs(got-want) > 4*deviation+10/float64(len(shares)) {
					t.Errorf("%v from %v to %v: %v of the resamples are beyond an end, want %v", blocks, low, high, got, want)
				}
			}
		}
	}
}

// drawBlocks returns n blocks of about 100 trials, which succeed with probability share. In
// a part rho of the blocks all trials are alike. All other trials are independent.
func drawBlocks(r *rand.Rand, n int, share, rho float64) []Count {
	blocks := make([]Count, n)
	for i := range blocks {
		for range 50 + r.IntN(100) {
			blocks[i].Add(r.Float64() < share)
		}
		if r.Float64() < rho {
			blocks[i].N = 0
			if r.Float64() < share {
				blocks[i].N = blocks[i].Of
			}
		}
	}
	return blocks
}

// TestBlockIntervalCovers draws blocks with dependent trials. The interval has the true
// share about as often as it should, and the interval for independent trials much less
// often.
func TestBlockIntervalCovers(t *testing.T) {
	r := seeded(2)
	const runs = 300
	for _, n := range []int{5, 8, 20, 60} {
		covered, independent := 0, 0
		for range runs {
			blocks := drawBlocks(r, n, .5, .3)
			low, high, ok := BlockInterval(blocks, .95, r)
			if ok && low <= .5 && .5 <= high {
				covered++
			}
			all := Sum(blocks)
			if low, high := ProportionInterval(all.N, all.Of, .95); low <= .5 && .5 <= high {
				independent++
			}
		}
		t.Logf("%d blocks: %.3f, as if independent %.3f", n, float64(covered)/runs, float64(independent)/runs)
		if covered < .91*runs || independent > .6*runs {
			t.Errorf("%d blocks: %d of %d intervals have the share, as if independent %d", n, covered, runs, independent)
		}
	}
}

// TestBlockIntervalOfIndependence: if trials are independent, the interval is hardly wider
// than ProportionInterval's, and never narrower.
func TestBlockIntervalOfIndependence(t *testing.T) {
	r := seeded(3)
	for range 20 {
		blocks := drawBlocks(r, 50, .9, 0)
		low, high, _ := BlockInterval(blocks, .95, r)
		all := Sum(blocks)
		exactLow, exactHigh := ProportionInterval(all.N, all.Of, .95)
		if low > exactLow || high < exactHigh || high-low > 1.5*(exactHigh-exactLow) {
			t.Errorf("from %v to %v, exactly from %v to %v", low, high, exactLow, exactHigh)
		}
	}
}

func TestBlockIntervalOfLittle(t *testing.T) {
	same := func(c Count, n int) []Count { return slices.Repeat([]Count{c}, n) }
	for _, c := range []struct {
		name   string
		blocks []Count
		ok     bool
	}{
		{"nothing", nil, false},
		{"too few", same(Count{9, 10}, LeastBlocks-1), false},
		{"too few that count anything", append(same(Count{9, 10}, LeastBlocks-1), Count{}), false},
		{"none is so", same(Count{0, 10}, LeastBlocks), true},
		{"all are so", same(Count{10, 10}, LeastBlocks), true},
	} {
		low, high, ok := BlockInterval(c.blocks, .95, seeded(4))
		if ok != c.ok || !ok && (low != 0 || high != 1) {
			t.Errorf("%s: from %v to %v, %v", c.name, low, high, ok)
		}
		all := Sum(c.blocks)
		if exactLow, exactHigh := ProportionInterval(all.N, all.Of, .95); ok && (low != exactLow || high != exactHigh) {
			t.Errorf("%s: from %v to %v, want %v to %v", c.name, low, high, exactLow, exactHigh)
		}
	}
	blocks := drawBlocks(seeded(5), 10, .5, .5)
	low, high, _ := BlockInterval(blocks, .95, seeded(6))
	if again, same, _ := BlockInterval(blocks, .95, seeded(6)); again != low || same != high {
		t.Error("the same seed gives another interval")
	}
}

func BenchmarkBlockInterval(b *testing.B) {
	r := seeded(7)
	blocks := drawBlocks(r, 100, .9, .1)
	for b.Loop() {
		BlockInterval(blocks, .95, r)
	}
}

// The interval of a ratio covers the truth as often as it says, and is that of shares where it is
// one.
func TestRatioIntervalCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	covered := 0
	const trials, blocks = 200, 40
	for range trials {
		list := make([]Ratio, blocks)
		for i := range list {
			mood := r.ExpFloat64() // of the block: its things depend on one another
			for range r.IntN(20) {
				list[i].Sum += mood * r.ExpFloat64()
				list[i].Of++
			}
		}
		if low, high, ok := RatioInterval(list, .95, r); ok && low <= 1 && 1 <= high {
			covered++
		}
	}
	if covered < 180 || covered > 198 {
		t.Errorf("%d of %d intervals cover", covered, trials)
	}
	if _, _, ok := RatioInterval(make([]Ratio, LeastBlocks-1), .95, r); ok {
		t.Error("an interval of too few blocks")
	}
	if low, high, ok := RatioInterval(make([]Ratio, LeastBlocks), .95, r); !ok || low != 0 || high != 0 {
		t.Errorf("of nothing: %g to %g", low, high)
	}
}
