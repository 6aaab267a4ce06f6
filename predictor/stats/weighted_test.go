package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// parted returns groups with parts of sizes that size returns.
func parted(random *rand.Rand, n, most int, size func() int64) (groups [][]Part, sum int64) {
	for range n {
		var parts []Part
		for range 1 + random.IntN(most) {
			p := Part{size(), min(1, 1.2*random.Float64())}
			parts = append(parts, p)
			sum += p.Size
		}
		groups = append(groups, parts)
	}
	return groups, sum
}

// draw draws which parts are there, and returns their sum. u draws from [0,1).
func draw(groups [][]Part, u func() float64) (sum int64) {
	for _, parts := range groups {
		level := u()
		for _, p := range parts {
			if level < p.Prob {
				sum += p.Size
			}
		}
	}
	return sum
}

// TestSumAtMost: SumAtMost agrees with a sum over all that may be missing.
func TestSumAtMost(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		groups, _ := parted(random, random.IntN(5), 3, func() int64 { return random.Int64N(12) })
		bound := random.Int64N(40) - 2
		want := 0.
		var add func(i int, sum int64, prob float64)
		add = func(i int, sum int64, prob float64) {
			if i == len(groups) {
				if sum <= bound {
					want += prob
				}
				return
			}
			levels := []float64{0, 1}
			for _, p := range groups[i] {
				levels = append(levels, p.Prob)
			}
			slices.Sort(levels)
			for l, low := range levels[:len(levels)-1] {
				between := (low + levels[l+1]) / 2
				add(i+1, sum+draw(groups[i:i+1], func() float64 { return between }), prob*(levels[l+1]-low))
			}
		}
		add(0, 0, 1)
		if got := SumAtMost(groups, bound); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v: at most %d with probability %v, want %v", groups, bound, got, want)
		}
	}
}

// TestSumAtMostOfMany: for many large parts SumAtMost agrees with simulations.
func TestSumAtMostOfMany(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{20, 50, 70, 200, 600} {
		groups, most := parted(random, n, 3, func() int64 { return 1 + int64(math.Exp(9*random.Float64())) })
		for _, share := range []float64{.45, .5, .55, .6, .65} {
			bound := int64(share * float64(most))
			const draws = 4000
			hits := 0
			for range draws {
				if draw(groups, random.Float64) <= bound {
					hits++
				}
			}
			if got, want := SumAtMost(groups, bound), float64(hits)/draws; math.Abs(got-want) > .03 {
				t.Errorf("%d groups: at most %d of %d with probability %.3f, simulated %.3f", n, bound, most, got, want)
			}
		}
	}
}

func BenchmarkSumAtMost(b *testing.B) {
	random := rand.New(rand.NewPCG(3, 3))
	groups, sum := parted(random, 2500, 3, func() int64 { return 1 + random.Int64N(64) })
	for b.Loop() {
		SumAtMost(groups, sum/2)
	}
}
