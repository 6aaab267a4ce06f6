// Package extrapolation corrects forecasts of a wait where the queue has become longer than any
// that was learnt from.
//
// A method that learns from past waits never forecasts a longer wait than the longest it has seen.
// When the queue grows longer than ever, such a method forecasts the same as for the longest queue
// it knows. A simulation of the queue needs no past to tell that more work is ahead. The anchor is
// a wait that was simulated for a job. Where the anchor lies beyond the edge of what was learnt,
// the forecast is moved from what was learnt towards the anchor.
//
// Delays are compared by x(t) = log(shift + t), where shift is the edge, but neither less than
// leastShift nor more than mostShift. A forecast with the quantiles Q(p) becomes one with the
// quantiles Q'(p), where
//
//	x(Q'(p)) = max(x(Q(p)), (1-s) x(Q(p)) + s (x(anchor) + r(p)))
//	s        = (x(anchor) - x(edge)) / log(far), between 0 and 1
//
// r(p) is the p-quantile of x(wait) - x(anchor) over two things: the past waits with long anchors,
// and a weight doubt of waits that were exactly as long as their anchors. So r also measures how
// reliable simulations are. A forecast only becomes longer: the method may know of a delay that
// simulations do not see, but not of work that is gone.
//
// Waits count by their influence (package influence). In a user's first burst all anchors may err
// in the same way, because nobody knows yet how long the user's jobs run.
//
// Trust measures how far these corrections are to be believed, by scores of the jobs that came
// meanwhile.
package extrapolation

import (
	"cmp"
	"math"
	"slices"
)

const (
	// Differences between delays much shorter than shift, in seconds, count little.
	leastShift, mostShift = 60, 1800
	// remembered is how many of the newest anchors say what was learnt from.
	remembered = 20_000
	// An anchor lies beyond the edge if it exceeds all remembered ones but those of a share of
	// beyond of the weight, and but those of a weight of leastBeyond. The edge is not the longest
	// anchor, since few cases teach little.
	beyond      = .005
	leastBeyond = 10
	// far is how many times the edge an anchor is where the forecast follows the
	// simulations alone.
	far = 4
	// An anchor is long if it is among a share of long of the remembered ones, and at
	// least leastLong seconds.
	long      = .1
	leastLong = 60
	// ratios is how many of the newest waits with long anchors r rests on, and doubt is the weight,
	// beside theirs, of a wait as long as its anchor.
	ratios = 1000
	doubt  = 2
)

// Extrapolation learns what the edge is, and what waits were where anchors were long. Delays are in
// seconds.
type Extrapolation struct {
	anchors ring[weighed] // the newest
	learnt  int
	edge    float64
	long    float64 // the shortest long anchor

	outcomes ring[outcome] // the newest with a long anchor
	noted    int
	ratios   sample    // theirs and the doubt's
	below    []float64 // by ratio: the weight of those up to it
}

// outcome is what came of an anchor.
type outcome struct{ anchor, wait, weight float64 }

// New returns an Extrapolation that has learnt nothing. Until it has learnt enough, it
// changes no forecast.
func New() *Extrapolation {
	return &Extrapolation{anchors: ring[weighed]{most: remembered}, outcomes: ring[outcome]{most: ratios}, edge: math.Inf(1)}
}

// x returns a delay as the package compares it.
func (e *Extrapolation) x(seconds float64) float64 {
	return math.Log(max(leastShift, min(e.edge, mostShift)) + max(0, seconds))
}

// Learn takes in a wait and its anchor, both in seconds, and their weight, above 0 and at most 1.
func (e *Extrapolation) Learn(anchor, wait, weight float64) {
	e.anchors.push(weighed{anchor, weight})
	if e.learnt++; e.learnt < 200 || e.learnt%200 == 0 {
		e.divide()
	}
	if anchor < max(e.long, leastLong) {
		return
	}
	e.outcomes.push(outcome{anchor, wait, weight})
	if e.noted++; e.noted < 50 || e.noted%50 == 0 {
		e.ratios = append(e.ratios[:0], weighed{0, doubt})
		for _, o := range e.outcomes.values {
			e.ratios = append(e.ratios, weighed{e.x(o.wait) - e.x(o.anchor), o.weight})
		}
		e.ratios.sort()
		e.below = e.below[:0]
		sum := 0.
		for i := range e.ratios {
			sum += e.ratios[i].weight
			e.below = append(e.below, sum)
		}
	}
}

// divide works out which anchors are long, and where the edge is.
func (e *Extrapolation) divide() {
	sorted := slices.Clone(e.anchors.values)
	left := max(leastBeyond, beyond*sample(sorted).sort())
	e.long = sorted[len(sorted)-1-int(long*float64(len(sorted)))].value
	for _, a := range slices.Backward(sorted) {
		if left -= a.weight; left < 0 {
			e.edge = a.value
			break
		}
	}
}

// sample is values with weights.
type sample []weighed

type weighed struct{ value, weight float64 }

// sort sorts a sample by value, and returns the sum of the weights.
func (s sample) sort() (sum float64) {
	slices.SortFunc(s, func(a, b weighed) int { return cmp.Compare(a.value, b.value) })
	for i := range s {
		sum += s[i].weight
	}
	return sum
}

// ring is the newest values, at most most.
type ring[T any] struct {
	values []T
	next   int // the oldest, once there are most
	most   int
}

func (r *ring[T]) push(v T) {
	if len(r.values) < r.most {
		r.values = append(r.values, v)
		return
	}
	r.values[r.next] = v
	r.next = (r.next + 1) % r.most
}
