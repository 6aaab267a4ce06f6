package walltime

// life is how many outcomes are remembered, on average: the weight of an outcome falls by a
// factor of e after life further outcomes. On real logs, a smaller life makes distributions too
// wide, and a larger one makes them follow changes late.
const life = 500

// trust is the number of outcomes as which the assumption counts that distributions are right.
const trust = 20

// ranks recalibrates quantiles. It is a histogram of ranks: a rank is the probability that a
// distribution gave to run times below the one that followed. The histogram is flat if the
// distributions are right, as the zero ranks assumes.
type ranks struct {
	bins  [levels]float64 // sum up to total
	total float64
	// inverse is the recalibrated levels of 0, 1/levels, ... and 1: the quantile of 1/levels
	// is the distribution's quantile of inverse[1].
	inverse [levels + 1]float32
}

// believed is the inverse if distributions are right.
var believed = func() (inverse [levels + 1]float32) {
	for i := range inverse {
		inverse[i] = float32(i) / levels
	}
	return inverse
}()

// worth returns the recalibrated levels of 0, 1/levels, ... and 1.
func (r *ranks) worth() *[levels + 1]float32 {
	if r.total == 0 {
		return &believed
	}
	return &r.inverse
}

// add learns a run time x. Below is the probability that its distribution gave to less than x,
// and within the probability of at most x. The rank of x is spread evenly between the two.
func (r *ranks) add(below, within float64) {
	if r.total == 0 {
		r.total = trust
		for i := range r.bins {
			r.bins[i] = float64(trust) / levels
		}
	}
	const keep = 1 - 1./life
	for i := range r.bins {
		r.bins[i] *= keep
	}
	r.total = r.total*keep + 1
	from, to := below*levels, within*levels
	first, last := min(int(from), levels-1), min(int(to), levels-1)
	if first == last {
		r.bins[first]++
	} else {
		each := 1 / (to - from)
		r.bins[first] += each * (float64(first+1) - from)
		for i := first + 1; i < last; i++ {
			r.bins[i] += each
		}
		r.bins[last] += each * (to - float64(last))
	}
	r.invert()
}

// invert computes inverse. No bin is empty, because trust fades but never reaches 0.
func (r *ranks) invert() {
	step := r.total / levels
	i, sum := 1, 0.
	for b, n := range r.bins {
		for ; i < levels && float64(i)*step <= sum+n; i++ {
			r.inverse[i] = float32((float64(b) + (float64(i)*step-sum)/n) / levels)
		}
		sum += n
	}
	for ; i <= levels; i++ {
		r.inverse[i] = 1
	}
}
