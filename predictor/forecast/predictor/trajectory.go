package predictor

import (
	"math"
	"sort"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// Trajectory estimates the candidates of a probability trajectory: for each, the
// probability that its Predictor would promise. It implements trajectory.Forecaster.
//
// A trajectory has thousands of candidates, and their probabilities change slowly. So
// Trajectory asks the Predictor about a few of the candidates, the knots, and interpolates
// between its answers. Where the answers for two knots differ too much, as where the time
// limit becomes short enough for backfill, it bisects the gap between them.
type Trajectory struct{ *Predictor }

const (
	minApart       = 600 // seconds between two knots
	mostKnots      = 96
	largestStep    = .05 // difference of lower bounds between which to interpolate
	mostBisections = 64  // per trajectory
)

// Forecast implements trajectory.Forecaster. Of a candidate whose Submit lies in the past, and
// which is a job that waits, it estimates the rest of the wait.
func (t Trajectory) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	if len(c) == 0 {
		return
	}
	n := interpolation{Trajectory: t, request: &r, now: now, candidates: c, estimates: est, bisections: mostBisections}
	knots := knots(c)
	var left, right forecast.Answer
	n.ask(0, &left)
	for k, to := range knots[1:] {
		n.ask(to, &right)
		n.fill(knots[k], to, &left, &right)
		left = right
	}
	last := len(c) - 1
	est[last] = n.estimate(last, &left, &left, 0)
}

// interpolation is the state of one call of Forecast. Its methods take candidates by index.
type interpolation struct {
	Trajectory
	request    *workload.Request
	now        int64
	candidates []workload.Candidate
	estimates  []workload.Estimate
	bisections int // how many are left
}

// fill estimates the candidates in [from, to). left is the answer for from, right for to.
func (n *interpolation) fill(from, to int, left, right *forecast.Answer) {
	middle := (from + to) / 2
	budget := n.budget(middle)
	if step := left.Lower.Within(budget) - right.Lower.Within(budget); math.Abs(step) > largestStep && middle > from && n.bisections > 0 {
		n.bisections--
		var between forecast.Answer
		n.ask(middle, &between)
		n.fill(from, middle, left, &between)
		n.fill(middle, to, &between, right)
		return
	}
	begin, end := n.candidates[from].Submit, n.candidates[to].Submit
	for i := from; i < to; i++ {
		share := float64(n.candidates[i].Submit-begin) / float64(max(1, end-begin))
		n.estimates[i] = n.estimate(i, left, right, share)
	}
}

// budget returns how many seconds a candidate may wait from its submission on, or from now
// on if its submission lies in the past.
func (n *interpolation) budget(i int) float64 {
	c := &n.candidates[i]
	return float64(c.Budget - max(0, n.now-c.Submit))
}

// knots returns the indices, ascending, of the first candidate, the last, and some between
// that are far enough apart.
func knots(c []workload.Candidate) []int {
	last := len(c) - 1
	apart := max(minApart, (c[last].Submit-c[0].Submit)/(mostKnots-2)+1)
	list := []int{0}
	for at := 0; at < last; {
		next := at + 1 + sort.Search(last-at-1, func(i int) bool { return c[at+1+i].Submit >= c[at].Submit+apart })
		list = append(list, next)
		at = next
	}
	return list
}

// ask sets a to the Predictor's answer for a candidate. Without an answer, it leaves the
// distributions in a zero: those of a wait without end.
func (n *interpolation) ask(i int, a *forecast.Answer) {
	c := &n.candidates[i]
	q := forecast.Question{Request: *n.request, Now: n.now, Submit: max(n.now, c.Submit), Job: c.Job}
	q.Limit = c.Limit
	if c.Submit < n.now && c.Job != 0 {
		q.Since = c.Submit
	}
	if !n.Predictor.Forecast(&q, a) {
		*a = forecast.Answer{Evidence: a.Evidence}
	}
}

// estimate interpolates between the answers for two knots, left and right of a candidate.
// share is the weight of the right one, 0 to 1.
func (n *interpolation) estimate(i int, left, right *forecast.Answer, share float64) workload.Estimate {
	budget := n.budget(i)
	between := func(of func(*forecast.Answer) float64) float64 { return (1-share)*of(left) + share*of(right) }
	within := between(func(a *forecast.Answer) float64 { return a.Wait.Within(budget) })
	bound := between(func(a *forecast.Answer) float64 { return a.Lower.Within(budget) })
	return workload.Estimate{
		Prob:     n.promises.odds.correct(n.request.User, within, bound, budget),
		Forecast: within, Bound: bound,
		Held:   between(func(a *forecast.Answer) float64 { return a.Wait.Held(budget) }),
		Sample: int(between(func(a *forecast.Answer) float64 { return a.Sample })),
		Class:  left.Class,
		Beyond: between(func(a *forecast.Answer) float64 { return a.Beyond }),
		Down:   left.Down,
	}
}
