package backtest

import "math"

// ratios is a histogram of the logarithms of positive numbers.
type ratios struct {
	counts []int32 // counts[i] is the count of step first+i
	first  int
	n      int // sum of counts
}

// logStep is the width of a step of the histogram: about one percent of the number.
const logStep = .01

func (r *ratios) add(ratio float64) {
	step := int(math.Floor(math.Log(ratio) / logStep))
	switch {
	case r.n == 0:
		r.first, r.counts = step, []int32{0}
	case step < r.first:
		r.counts = append(make([]int32, r.first-step), r.counts...)
		r.first = step
	case step >= r.first+len(r.counts):
		r.counts = append(r.counts, make([]int32, step-r.first-len(r.counts)+1)...)
	}
	r.counts[step-r.first]++
	r.n++
}

// median returns the middle of the step that has the median, or 0 if there are no numbers.
func (r *ratios) median() float64 {
	left := r.n / 2
	for i, n := range r.counts {
		if left -= int(n); left < 0 {
			return math.Exp((float64(r.first+i) + .5) * logStep)
		}
	}
	return 0
}
