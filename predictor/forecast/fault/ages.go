package fault

import "math"

// ages is a Weibull model of the time from one failure of a node to its next. A shape below 1 means
// that the longer a node has been well, the longer it will stay well.
type ages struct {
	// by node: the time of its last failure, or of the start, in days since the start
	last         []float64
	gaps         []float64 // between failures, in days: the last mostGaps gaps
	next         int       // the index of the oldest gap, once there are mostGaps
	shape, scale float64   // scale is in days; 0: not fitted yet
}

const (
	mostGaps   = 1000
	fewGaps    = 20        // fewer are not fitted
	leastGap   = 1. / 1440 // a minute
	leastShape = .1
	mostShape  = 5.
)

func newAges(nodes int) ages { return ages{last: make([]float64, nodes)} }

func (a *ages) observe(n int, now float64) {
	gap := max(now-a.last[n], leastGap)
	if len(a.gaps) < mostGaps {
		a.gaps = append(a.gaps, gap)
	} else {
		a.gaps[a.next] = gap
		a.next = (a.next + 1) % mostGaps
	}
	a.last[n] = now
}

// fit fits shape and scale to the gaps by maximum likelihood. The time since the last failure of
// each node is a gap that has not ended, that is, a censored observation.
func (a *ages) fit(now float64) {
	if len(a.gaps) < fewGaps {
		return
	}
	logs, ended := make([]float64, 0, len(a.gaps)+len(a.last)), 0.
	for _, gap := range a.gaps {
		logs = append(logs, math.Log(gap))
		ended += logs[len(logs)-1]
	}
	ended /= float64(len(a.gaps))
	for _, last := range a.last {
		logs = append(logs, math.Log(max(now-last, leastGap)))
	}
	powers := func(shape float64) (sum, weighted float64) {
		for _, l := range logs {
			power := math.Exp(shape * l)
			sum += power
			weighted += power * l
		}
		return sum, weighted
	}
	// With the best scale for each shape, the derivative of the likelihood by the shape falls as
	// the shape grows.
	low, high := leastShape, mostShape
	for high/low > 1.001 {
		shape := math.Sqrt(low * high)
		if sum, weighted := powers(shape); 1/shape+ended-weighted/sum > 0 {
			low = shape
		} else {
			high = shape
		}
	}
	a.shape = math.Sqrt(low * high)
	sum, _ := powers(a.shape)
	a.scale = math.Pow(sum/float64(len(a.gaps)), 1/a.shape)
}

// expected returns the cumulative hazard of a node over a span of days from now on.
func (a *ages) expected(n int, now, span float64) float64 {
	if a.scale == 0 {
		return 0
	}
	since := max(now-a.last[n], leastGap)
	return math.Pow((since+span)/a.scale, a.shape) - math.Pow(since/a.scale, a.shape)
}
