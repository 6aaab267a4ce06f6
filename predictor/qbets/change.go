package qbets

import "github.com/varq-project/varq/predictor/stats"

// watched are the quantiles whose predictions are watched for change points, in
// the order of the columns of rareRuns.
var watched = [...]float64{.5, .75, .95}

// runs counts, for each watched quantile q, how many of the newest waits in
// succession fell outside what the past allows: above the bound on the
// q-quantile (the prediction failed), or below the bound on the (1-q)-quantile
// (the queue became fast, and predictions are longer than need be).
type runs struct{ above, below [len(watched)]int32 }

// observe counts wait, which is not yet part of h. Ties break a run, so a
// quantile that is as small as waits get cannot be fallen short of.
func (r *runs) observe(h *history, table *[len(watched)]indices, wait uint32) {
	n := h.len()
	for i := range watched {
		k := table[i].at(n)
		if k == 0 {
			r.above[i], r.below[i] = 0, 0
			continue
		}
		if wait > h.sorted.Select(k-1) {
			r.above[i]++
		} else {
			r.above[i] = 0
		}
		if wait < h.sorted.Select(n-k) {
			r.below[i]++
		} else {
			r.below[i] = 0
		}
	}
}

// rare returns the length of the longest run that is too long to be chance in a
// series of lag-1 autocorrelation rho, or 0 when there is none.
func (r *runs) rare(rho float64) int {
	limit := rareRun(rho)
	longest := int32(0)
	for i := range watched {
		for _, run := range [...]int32{r.above[i], r.below[i]} {
			if run >= limit[i] {
				longest = max(longest, run)
			}
		}
	}
	return int(longest)
}

// indices remembers stats.QuantileBound's index of one quantile by sample size.
type indices struct {
	quantile, confidence float64
	k                    []int32 // by n; 0: no bound
}

// at returns the index for a sample of n, or 0 when n is too small.
func (t *indices) at(n int) int {
	for m := len(t.k); m <= n; m++ {
		// With one observation more the index stays or moves up by one.
		k := int32(0)
		if m > 0 {
			k = t.k[m-1]
		}
		switch {
		case k == 0:
			first, _, _ := stats.QuantileBound(m, t.quantile, t.confidence)
			k = int32(first)
		case stats.AtMost(int(k)-1, m, t.quantile) < t.confidence:
			k++
		}
		t.k = append(t.k, k)
	}
	return int(t.k[n])
}
