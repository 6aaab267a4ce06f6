package twin

import "github.com/varq-project/varq/predictor/workload"

// mostLate is at how many times plain claims are told apart, by when they become eligible.
const mostLate = 8

// late returns Room.Late for the work of a claim. prob is the bound without plain claims. Where
// more than mostLate times matter, those that follow one another count as the first of them.
func (n *need) late(c *workload.Claim, prob float64) (late []workload.Hold) {
	list, first := n.of.list, n.of.plain
	last := first // after those that are eligible before the work begins
	for last < len(list) && list[last].start <= c.From {
		last++
	}
	if last == first || prob == 0 || n.besideAll().during(c) == 1 || n.beside(last).during(c) == prob {
		return nil
	}
	step := (last - first + mostLate - 1) / mostLate
	for i := first; i < last; {
		at := list[i].start
		for i = min(i+step, last); i < last && list[i].start == list[i-1].start; {
			i++
		}
		if left := n.beside(i).during(c); left < prob {
			prob = left
			late = append(late, workload.Hold{At: at, Prob: prob})
		}
	}
	return late
}

// during bounds the probability that the work of a claim runs from c.From on.
func (t *timeline) during(c *workload.Claim) float64 {
	return min(t.room(c.From), t.squeezed(c))
}

// squeezed bounds the probability that there is room for the work of a claim whenever others get
// processors while it runs.
func (t *timeline) squeezed(c *workload.Claim) float64 {
	prob := 1.
	for _, time := range t.squeezes(c.From, c.From+c.Limit) {
		prob = min(prob, t.room(time))
	}
	return prob
}
