package twin

import "github.com/varq-project/varq/predictor/workload"

// mostLate is at how many times plain claims are told apart, by when they become eligible.
const mostLate = 8

// late returns Room.Late for the work of a claim. prob is the bound without plain claims. Where more
// than mostLate times matter, those that follow one another count as the first of them.
func (o *occupants) late(demands []demand, c *workload.Claim, prob float64) (late []workload.Hold) {
	last := o.plain // after those that are eligible before the work begins
	for last < len(o.list) && o.list[last].start <= c.From {
		last++
	}
	if last == o.plain || o.beside(last, demands, c) == prob {
		return nil
	}
	step := (last - o.plain + mostLate - 1) / mostLate
	for i := o.plain; i < last; {
		at := o.list[i].start
		for i = min(i+step, last); i < last && o.list[i].start == o.list[i-1].start; {
			i++
		}
		if left := o.beside(i, demands, c); left < prob {
			prob = left
			late = append(late, workload.Hold{At: at, Prob: prob})
		}
	}
	return late
}

// beside bounds the probability that the work of a claim runs from c.From on beside the first n occupants.
func (o *occupants) beside(n int, demands []demand, c *workload.Claim) float64 {
	first := o.first(n)
	prob := first.leave(demands, c.From)
	for _, time := range first.squeezes(demands, c.From, c.From+c.Limit) {
		prob = min(prob, first.leave(demands, time))
	}
	return prob
}
