package forecast

import (
	"sort"

	"github.com/varq-project/varq/predictor/workload"
)

// Trajectory forecasts the submissions of a probability trajectory by what a
// Predictor would promise of each. It implements trajectory.Forecaster.
type Trajectory struct{ *Predictor }

const (
	// knot is how many seconds lie at least between two submissions that the
	// Predictor is asked about; between them probabilities are interpolated.
	knot = 600
	// mostKnots is how many it is asked about at most.
	mostKnots = 96
)

// Forecast implements trajectory.Forecaster. Of a job that waits already it says
// what it would of one like it that comes now, and not what it has waited so far.
func (t Trajectory) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	if len(c) == 0 {
		return
	}
	knots := knots(c)
	var left, right Answer
	t.ask(&r, now, &c[0], &left)
	for k := range knots {
		from, to := knots[k], len(c)-1
		right = left
		if k+1 < len(knots) {
			to = knots[k+1]
			t.ask(&r, now, &c[to], &right)
		}
		for i := from; i <= to; i++ {
			share := 0.
			if to > from {
				share = float64(c[i].Submit-c[from].Submit) / float64(max(1, c[to].Submit-c[from].Submit))
			}
			est[i] = t.estimate(&left, &right, share, float64(c[i].Budget-max(0, now-c[i].Submit)))
		}
		left = right
	}
}

// knots returns the candidates, by their indices, that are asked about: the first,
// the last, and between them some that are far enough apart.
func knots(c []workload.Candidate) []int {
	last := len(c) - 1
	apart := max(knot, (c[last].Submit-c[0].Submit)/(mostKnots-2)+1)
	list := []int{0}
	for at := 0; at < last; {
		next := at + 1 + sort.Search(last-at-1, func(i int) bool { return c[at+1+i].Submit >= c[at].Submit+apart })
		list = append(list, next)
		at = next
	}
	return list
}

// ask asks about one candidate. Where nothing is known, what is said is never.
func (t Trajectory) ask(r *workload.Request, now int64, c *workload.Candidate, a *Answer) {
	q := Question{Request: *r, Now: now, Submit: max(now, c.Submit)}
	q.Limit = c.Limit
	if !t.Predictor.Forecast(&q, a) {
		*a = Answer{Evidence: a.Evidence}
	}
}

// estimate is what two answers say of a budget, in seconds, for a candidate between.
func (t Trajectory) estimate(left, right *Answer, share, budget float64) workload.Estimate {
	between := func(of func(*Answer) float64) float64 { return (1-share)*of(left) + share*of(right) }
	return workload.Estimate{
		Prob: t.promises.prob(
			between(func(a *Answer) float64 { return a.Wait.Within(budget) }),
			between(func(a *Answer) float64 { return a.Lower.Within(budget) }),
			budget,
		),
		Held:   between(func(a *Answer) float64 { return a.Wait.Held(budget) }),
		Sample: int(between(func(a *Answer) float64 { return a.Sample })),
		Class:  left.Class,
		Down:   left.Down,
	}
}
