package stats

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Count says that N of Of things are so.
type Count struct{ N, Of int }

// Add counts one thing more.
func (c *Count) Add(yes bool) {
	c.Of++
	if yes {
		c.N++
	}
}

// Plus adds the things that another Count is about.
func (c *Count) Plus(other Count) {
	c.N += other.N
	c.Of += other.Of
}

// Share returns N/Of, or 0 if Of is 0.
func (c Count) Share() float64 { return float64(c.N) / float64(max(1, c.Of)) }

// Sum returns what counts add up to.
func Sum(counts []Count) (sum Count) {
	for _, c := range counts {
		sum.Plus(c)
	}
	return sum
}

// LeastBlocks is how many blocks BlockInterval needs. Fewer have too few different
// resamples for a tail of .025.
const LeastBlocks = 5

// resamples is how many resamples BlockInterval draws.
const resamples = 1999

// BlockInterval returns an interval of confidence c, 0 < c < 1, for the share that
// counts add up to, where things of one block may depend on one another and blocks
// are independent (the block bootstrap with fixed blocks: Carlstein, 1986). As many
// blocks as there are get drawn with replacement, 1999 times; each resample has the
// share of its counts together; and the interval ends at two percentiles of these
// shares. The percentiles are those of Hesterberg (2015, section 5.3.1), which lie
// further out than (1-c)/2 and (1+c)/2 as Student's quantiles do with few blocks:
// plain percentiles of a few blocks are too narrow.
//
// Invariant: the interval is never narrower at either end than ProportionInterval's,
// which takes things of one block for independent too. So shares of 0 and 1, of which
// all resamples are alike, have an interval.
//
// Blocks that count nothing are left out. BlockInterval reports false if fewer than
// LeastBlocks are left, from which no interval of that level can be told. The result
// depends on the order of the blocks and on r alone.
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

// bootstrapTail returns what part of the resamples of n blocks lies beyond either end
// of an interval of confidence c. Resamples vary by sqrt((n-1)/n) of what an unbiased
// estimate would say, and the interval is to be as wide as Student's.
func bootstrapTail(n int, c float64) float64 {
	of := float64(n)
	t := distuv.StudentsT{Sigma: 1, Nu: of - 1}.Quantile((1 + c) / 2)
	return distuv.UnitNormal.CDF(-math.Sqrt(of/(of-1)) * t)
}
