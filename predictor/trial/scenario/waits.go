package scenario

import (
	"math"
	"slices"
)

// shortestRun bounds slowdowns: a shorter run, in seconds, counts as this long (tau in
// Feitelson 2001).
const shortestRun = 10

// waits collects the waits of jobs. It keeps 4 bytes for each.
type waits struct {
	seconds  []uint32
	sum      float64 // of the waits, in seconds
	slowdown float64 // sum of the bounded slowdowns
}

func (w *waits) add(wait, run int64) {
	w.seconds = append(w.seconds, uint32(min(wait, math.MaxUint32)))
	w.sum += float64(wait)
	w.slowdown += max(1, float64(wait+run)/float64(max(run, shortestRun)))
}

// merge adds all waits of o.
func (w *waits) merge(o *waits) {
	w.seconds = append(w.seconds, o.seconds...)
	w.sum += o.sum
	w.slowdown += o.slowdown
}

// result summarises the waits. It sorts them.
func (w *waits) result() Waits {
	n := len(w.seconds)
	if n == 0 {
		return Waits{}
	}
	slices.Sort(w.seconds)
	result := Waits{
		Jobs:        n,
		Mean:        w.sum / float64(n),
		Median:      w.percentile(50),
		P95:         w.percentile(95),
		Max:         w.percentile(100),
		Slowdown:    w.slowdown / float64(n),
		Percentiles: make([]int64, 101),
	}
	for i := range result.Percentiles {
		result.Percentiles[i] = w.percentile(i)
	}
	return result
}

// percentile returns the shortest wait that at least this percentage of the jobs did not
// exceed. The waits must be sorted.
func (w *waits) percentile(percent int) int64 {
	rank := (percent*len(w.seconds) + 99) / 100
	return int64(w.seconds[max(1, rank)-1])
}
