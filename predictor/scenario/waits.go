package scenario

import (
	"math"
	"slices"
)

// tau is the run time in seconds below which a slowdown counts no more
// (Feitelson 2001).
const tau = 10

// waits gathers the waits of jobs, 4 bytes each.
type waits struct {
	seconds  []uint32
	sum      float64
	slowdown float64
}

func (w *waits) add(wait, run int64) {
	w.seconds = append(w.seconds, uint32(min(wait, math.MaxUint32)))
	w.sum += float64(wait)
	w.slowdown += max(1, float64(wait+run)/float64(max(run, tau)))
}

// merge adds what another has gathered.
func (w *waits) merge(o *waits) {
	w.seconds = append(w.seconds, o.seconds...)
	w.sum += o.sum
	w.slowdown += o.slowdown
}

// result sorts the waits.
func (w *waits) result() Waits {
	n := len(w.seconds)
	if n == 0 {
		return Waits{}
	}
	slices.Sort(w.seconds)
	result := Waits{
		Jobs:        n,
		Mean:        w.sum / float64(n),
		Median:      w.quantile(.5),
		P95:         w.quantile(.95),
		Max:         w.quantile(1),
		Slowdown:    w.slowdown / float64(n),
		Percentiles: make([]int64, 101),
	}
	for i := range result.Percentiles {
		result.Percentiles[i] = w.quantile(float64(i) / 100)
	}
	return result
}

// quantile returns the least wait that a share q of the jobs did not exceed.
func (w *waits) quantile(q float64) int64 {
	i := int(math.Ceil(q*float64(len(w.seconds)))) - 1
	return int64(w.seconds[max(0, i)])
}
