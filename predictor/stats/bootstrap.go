package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Count says that something is true of N things among Of.
type Count struct{ N, Of int }

// Add counts one more thing.
func (c *Count) Add(yes bool) {
	c.Of++
	if yes {
		c.N++
	}
}

// Plus adds another Count.
func (c *Count) Plus(other Count) {
	c.N += other.N
	c.Of += other.Of
}

// Share returns N/Of, or 0 if Of is 0.
func (c Count) Share() float64 { return float64(c.N) / float64(max(1, c.Of)) }

// Sum returns the sum of counts.
func Sum(counts []Count) (sum Count) {
	for _, c := range counts {
		sum.Plus(c)
	}
	return sum
}

// LeastBlocks is the least number of blocks for BlockInterval. Fewer blocks have too few
// different resamples for a tail of .025.
const LeastBlocks = 5

// resamples is the number of resamples that BlockInterval draws.
const resamples = 1999

// BlockInterval returns an interval of confidence c, 0 < c < 1, for the share of the sum of
// all counts. Things of one block may depend on one another; blocks are independent (the
// block bootstrap with fixed blocks: Carlstein, 1986). A resample is as many blocks as there
// are, drawn with replacement, and has the share of the sum of its counts. The interval ends
// at two percentiles of the shares of 1999 resamples. With few blocks, the plain percentiles
// (1-c)/2 and (1+c)/2 make the interval too narrow. Those of Hesterberg (2015, section
// 5.3.1) lie further out, as Student's quantiles do.
//
// Invariant: neither end is inside the interval of ProportionInterval, which assumes that
// the things of one block are independent as well. So shares of 0 and 1 have an interval,
// although all their resamples are alike.
//
// Blocks with Of 0 are left out. BlockInterval reports false if fewer than LeastBlocks are
// left. The result depends only on the blocks, their order, c, and r.
func BlockInterval(blocks []Count, c float64, r *rand.Rand) (low, high float64, ok bool) {
	blocks = slices.DeleteFunc(slices.Clone(blocks), func(b Count) bool { return b.Of == 0 })
	if len(blocks) < LeastBlocks {
		return 0, 1, false
	}
	shares := make([]float64, resamples)
	for i := range shares {
		var sum Count
		for range blocks {
			sum.Plus(blocks[r.IntN(len(blocks))])
		}
		shares[i] = sum.Share()
	}
	slices.Sort(shares)
	outside := int((resamples + 1) * bootstrapTail(len(blocks), c))
	first := max(0, outside-1)
	all := Sum(blocks)
	low, high = ProportionInterval(all.N, all.Of, c)
	return min(low, shares[first]), max(high, shares[resamples-1-first]), true
}

// bootstrapTail returns the share of the resamples of n blocks that lies beyond each end of
// an interval of confidence c. The standard deviation of resamples is too small by the
// factor sqrt((n-1)/n). bootstrapTail corrects that, and makes the interval as wide as
// Student's.
func bootstrapTail(n int, c float64) float64 {
	of := float64(n)
	t := StudentQuantile((1+c)/2, of-1)
	return NormalCDF(-math.Sqrt(of/(of-1)) * t)
}

// Ratio is a sum over how many, or how much, it is the sum of.
type Ratio struct{ Sum, Of float64 }

// Value returns Sum/Of, or 0 if Of is 0.
func (q Ratio) Value() float64 {
	if q.Of == 0 {
		return 0
	}
	return q.Sum / q.Of
}

// RatioInterval returns an interval of confidence c, 0 < c < 1, for the ratio of the sums over all
// blocks, by the same bootstrap as BlockInterval. Blocks may differ in Of, and some may have none.
//
// RatioInterval reports false if there are fewer than LeastBlocks. The result depends only on the
// blocks, their order, c, and r.
func RatioInterval(blocks []Ratio, c float64, r *rand.Rand) (low, high float64, ok bool) {
	if len(blocks) < LeastBlocks {
		return 0, 0, false
	}
	ratios := make([]float64, resamples)
	for i := range ratios {
		var sum Ratio
		for range blocks {
			block := blocks[r.IntN(len(blocks))]
			sum.Sum += block.Sum
			sum.Of += block.Of
		}
		ratios[i] = sum.Value()
	}
	slices.Sort(ratios)
	first := max(0, int((resamples+1)*bootstrapTail(len(blocks), c))-1)
	return ratios[first], ratios[resamples-1-first], true
}
