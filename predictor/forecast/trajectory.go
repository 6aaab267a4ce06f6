package forecast

import (
	"math"
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
	// jump is by how much the probabilities of two knots may differ for that; where
	// they differ by more, as where a time limit falls below one that matters, it is
	// asked about those between, up to mostJumps times.
	jump      = .05
	mostJumps = 64
)

// Forecast implements trajectory.Forecaster. Of a job that waits already it says
// what it would of one like it that comes now, and not what it has waited so far.
func (t Trajectory) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	if len(c) == 0 {
		return
	}
	p := pass{Trajectory: t, request: &r, now: now, candidates: c, estimates: est, jumps: mostJumps}
	knots := knots(c)
	var left, right Answer
	p.ask(0, &left)
	for k, to := range knots[1:] {
		p.ask(to, &right)
		p.fill(knots[k], to, &left, &right)
		left = right
	}
	last := len(c) - 1
	est[last] = p.estimate(last, &left, &left, 0)
}

// pass is one call of Forecast.
type pass struct {
	Trajectory
	request    *workload.Request
	now        int64
	candidates []workload.Candidate
	estimates  []workload.Estimate
	jumps      int // how many more may be looked into
}

// fill estimates the candidates between two that were asked about, and the first.
func (p *pass) fill(from, to int, left, right *Answer) {
	middle := (from + to) / 2
	budget := p.budget(middle)
	if differ := left.Lower.Within(budget) - right.Lower.Within(budget); math.Abs(differ) > jump && middle > from && p.jumps > 0 {
		p.jumps--
		var between Answer
		p.ask(middle, &between)
		p.fill(from, middle, left, &between)
		p.fill(middle, to, &between, right)
		return
	}
	begin, end := p.candidates[from].Submit, p.candidates[to].Submit
	for i := from; i < to; i++ {
		share := float64(p.candidates[i].Submit-begin) / float64(max(1, end-begin))
		p.estimates[i] = p.estimate(i, left, right, share)
	}
}

// budget returns how long a candidate, by its index, may wait from now on, or from
// its submission on if that is yet to come; seconds.
func (p *pass) budget(i int) float64 {
	c := &p.candidates[i]
	return float64(c.Budget - max(0, p.now-c.Submit))
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
func (p *pass) ask(i int, a *Answer) {
	c := &p.candidates[i]
	q := Question{Request: *p.request, Now: p.now, Submit: max(p.now, c.Submit)}
	q.Limit = c.Limit
	if !p.Predictor.Forecast(&q, a) {
		*a = Answer{Evidence: a.Evidence}
	}
}

// estimate is what two answers say of a candidate between.
func (p *pass) estimate(i int, left, right *Answer, share float64) workload.Estimate {
	budget := p.budget(i)
	between := func(of func(*Answer) float64) float64 { return (1-share)*of(left) + share*of(right) }
	return workload.Estimate{
		Prob: p.promises.prob(
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
