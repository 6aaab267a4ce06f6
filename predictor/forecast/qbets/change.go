package qbets

import "github.com/varq-project/varq/predictor/stats"

// watched are the quantiles whose predictions are watched for change points, in
// the order of the columns of rareRuns.
var watched = [...]float64{.5, .75, .95}

// runs holds, for each watched quantile q, the run of newest waits that fell
// outside what the past allows: above the bound on the q-quantile (the
// prediction failed), or below the bound on the (1-q)-quantile (the queue became
// fast, and predictions are longer than need be).
type runs struct{ above, below [len(watched)]run }

// run is a number of misses in succession. How many are rare is settled when it
// begins, by the autocorrelation of the waits until then: if the run is a change,
// its own waits would make the series look far more autocorrelated than it is.
type run struct{ length, rare int32 }

// observe counts wait, which is not yet part of h, and returns the length of the
// longest run that is too long to be chance, or 0 when there is none. A tie is no
// miss, so nothing is ever below a quantile as small as waits get.
func (r *runs) observe(h *history, table *[len(watched)]*stats.BoundIndices, wait uint32) int {
	n := h.len()
	longest := int32(0)
	for i := range watched {
		k, ok := table[i].Index(n)
		above := ok && wait > h.sorted.Select(k-1)
		below := ok && wait < h.sorted.Select(n-k)
		longest = max(longest, r.above[i].count(above, h, i), r.below[i].count(below, h, i))
	}
	return int(longest)
}

// count adds to the run or ends it, and returns its length if it is rare and 0 if
// it is not. The quantile is the i-th that is watched.
func (r *run) count(miss bool, h *history, i int) int32 {
	if !miss {
		r.length = 0
		return 0
	}
	if r.length == 0 {
		r.rare = rareRun(h.log.Autocorrelation())[i]
	}
	r.length++
	if r.length < r.rare {
		return 0
	}
	return r.length
}
