package walltime

// life is how many outcomes are remembered, on average: the weight of one falls by a
// factor of e when that many have come after it. On real logs, distributions become
// wider than need be with less, and late to follow with more.
const life = 500

// trust is how many outcomes the belief is worth that distributions are right.
const trust = 20

// ranks tells what quantiles were worth: it is a histogram of the probabilities that
// distributions gave to less than what came of them, which is flat if they are right.
// The zero ranks believes that they are.
type ranks struct {
	bins  [levels]float64 // sum up to total
	total float64
	// inverse are those levels whose quantiles are worth 0, 1/levels, ... and 1.
	inverse [levels + 1]float32
}

// believed is the inverse of distributions that are right.
var believed = func() (inverse [levels + 1]float32) {
	for i := range inverse {
		inverse[i] = float32(i) / levels
	}
	return inverse
}()

// worth returns the levels whose quantiles are worth 0, 1/levels, ... and 1.
func (r *ranks) worth() *[levels + 1]float32 {
	if r.total == 0 {
		return &believed
	}
	return &r.inverse
}

// add takes in a run time: less than that had the probability below, and no more the
// probability within. Its rank is anything between, and is spread over it.
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

// invert finds the levels. No bin is empty, as trust fades but never ends.
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
