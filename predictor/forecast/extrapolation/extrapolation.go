// Package extrapolation corrects forecasts of a wait where the queue has become longer than
// any that was learnt from.
//
// A method that learns from past waits names none that has not been. When the queue grows
// beyond what it was, such a method still says what it said of the longest queue it knows.
// A simulation of the queue needs no past to tell that more work is ahead. The anchor is
// the longest wait that was simulated for a job. Where the anchor lies beyond the edge of
// what was learnt, the forecast is moved from what was learnt towards the anchor.
//
// Delays are compared by x(t) = log(shift + t). A forecast with the quantiles Q(p) becomes
// one with the quantiles Q'(p), where
//
//	x(Q'(p)) = max(x(Q(p)), (1-s) x(Q(p)) + s (x(anchor) + r(p)))
//	s        = (x(anchor) - x(edge)) / log(far), between 0 and 1
//
// r(p) is the p-quantile of x(wait) - x(anchor) over past waits with long anchors. So it
// is also learnt how far simulations are to be believed. A forecast only becomes longer: a
// method may know of a delay that simulations do not see, but none of work that is gone.
//
// Trust says how far that is to be believed, by scores of the jobs that came meanwhile.
package extrapolation

import (
	"math"
	"slices"
)

const (
	// shift is in seconds. Differences between delays much shorter than that count
	// little.
	shift = 1800
	// remembered is how many of the newest anchors say what was learnt from.
	remembered = 20_000
	// An anchor lies beyond the edge if it exceeds all remembered ones but a share of
	// beyond, and but leastBeyond. The edge is not the longest anchor, since few cases
	// teach little.
	beyond      = .005
	leastBeyond = 50
	// far is how many times the edge an anchor is where the forecast follows the
	// simulations alone.
	far = 4
	// An anchor is long if it is among a share of long of the remembered ones, and at
	// least leastLong seconds.
	long      = .1
	leastLong = 60
	// ratios is how many of the newest waits with long anchors r rests on.
	ratios = 1000
)

// x returns a delay in seconds as the package compares it.
func x(seconds float64) float64 { return math.Log(shift + max(0, seconds)) }

// Extrapolation learns what the edge is, and what waits were where anchors were long.
type Extrapolation struct {
	anchors ring // x of the newest
	learnt  int
	edge    float64 // x
	long    float64 // x of the shortest long anchor

	ratios ring // x(wait) - x(anchor) of the newest with a long anchor
	sorted []float64
	noted  int
}

// New returns an Extrapolation that has learnt nothing. Until it has learnt enough, it
// changes no forecast.
func New() *Extrapolation {
	return &Extrapolation{anchors: ring{most: remembered}, ratios: ring{most: ratios}, edge: math.Inf(1)}
}

// Learn takes in a wait and its anchor, both in seconds.
func (e *Extrapolation) Learn(anchor, wait float64) {
	at := x(anchor)
	e.anchors.push(at)
	if e.learnt++; e.learnt < 200 || e.learnt%200 == 0 {
		e.divide()
	}
	if at < e.long || anchor < leastLong {
		return
	}
	e.ratios.push(x(wait) - at)
	if e.noted++; e.noted < 50 || e.noted%50 == 0 {
		e.sorted = append(e.sorted[:0], e.ratios.values...)
		slices.Sort(e.sorted)
	}
}

// divide works out which anchors are long, and where the edge is.
func (e *Extrapolation) divide() {
	sorted := slices.Sorted(slices.Values(e.anchors.values))
	last := len(sorted) - 1
	e.long = sorted[last-int(long*float64(len(sorted)))]
	if n := max(leastBeyond, int(beyond*float64(len(sorted)))); n <= last {
		e.edge = sorted[last-n]
	}
}

// ring is the newest values, at most most.
type ring struct {
	values []float64
	next   int // the oldest, once there are most
	most   int
}

func (r *ring) push(v float64) {
	if len(r.values) < r.most {
		r.values = append(r.values, v)
		return
	}
	r.values[r.next] = v
	r.next = (r.next + 1) % r.most
}
