package qbets

import "github.com/varq-project/varq/predictor/stats"

// watched are the quantiles whose bounds are watched for change points. They are in the
// order of the columns of rareRuns.
var watched = [...]float64{.5, .75, .95}

// runs has, for each watched quantile q, the runs of newest waits that are misses: above
// the upper bound on the q-quantile (the queue became slow), or below the lower bound on the
// (1-q)-quantile (the queue became fast).
type runs struct{ above, below [len(watched)]run }

// run is a number of misses in succession. rare is the least length that is too rare to be
// chance. It is determined when the run begins, by the autocorrelation of the waits before
// the run. If the run is due to a change, its own waits would make the series look far
// more autocorrelated than it is.
type run struct{ length, rare int32 }

// observe counts a wait that is not yet part of h. It returns the length of the longest run
// that is too long to be chance, or 0 when there is none. A wait equal to a bound is not a miss.
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

// count adds a miss to the run, or ends the run. It returns the length of the run if that
// is rare, and 0 otherwise. i is the index of the quantile in watched.
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
