package checkpoint

import (
	"math"
	"testing"
)

// cell is a setting with failures at a constant, known rate.
type cell struct{ cost, mtbf, interval float64 }

// cells are those of the comparison with Daly's interval: checkpoints of a minute to half an hour,
// a failure every two hours to thirty days, a request every minute to every hour.
func cells() []cell {
	var all []cell
	for _, cost := range []float64{60, 300, 720, 1800} {
		for _, hours := range []float64{2, 12, 24, 7 * 24, 30 * 24} {
			for _, interval := range []float64{60, 600, 3600} {
				all = append(all, cell{cost, hours * 3600, interval})
			}
		}
	}
	return all
}

// lost returns the share of the time that is not work saved, exactly: with checkpoints after so
// much work, a second of work takes (e^((τ+C)/M) - 1) M / τ seconds (renewal theory, Daly 2006,
// equation 13 without his restarts).
func (c cell) lost(work float64) float64 {
	return 1 - work/(c.mtbf*math.Expm1((work+c.cost)/c.mtbf))
}

// work returns the work between two checkpoints of an application that follows the rule. 0 stands
// for none at all.
func (c cell) work(rule Rule) float64 {
	for n := 1.; n*c.interval < 1e8; n++ {
		if rule(&Request{Cost: c.cost, Interval: c.interval, Since: n * c.interval, Hazard: Constant(1 / c.mtbf)}) {
			return n * c.interval
		}
	}
	return 0
}

// best returns the least that any application loses that checkpoints only at its requests.
func (c cell) best() float64 {
	least := math.Inf(1)
	for n := 1.; c.lost(n*c.interval) < least; n++ {
		least = c.lost(n * c.interval)
	}
	return least
}

// Under failures at a constant, known rate Advise loses as little as can be lost by checkpoints at
// requests only: never more than Daly's interval does when rounded to the nearest multiple of the
// interval between requests. It is within 2.5 % of what Daly's interval itself loses in the 51
// cells in which requests are at most half of it apart. In the other nine no rule is free to come
// nearer: the best multiple loses up to 98.5 % more. Marginal is within 1.5 % of Daly's rounded
// interval, and equation 1 loses up to 34 times as much.
func TestWithinDaly(t *testing.T) {
	var marginal, equation1, itself, coarse float64
	near := 0
	for _, c := range cells() {
		daly := Daly(c.cost, c.mtbf)
		rounded := c.lost(max(1, math.Round(daly/c.interval)) * c.interval)
		lost := c.lost(c.work(LookAhead))
		if best := c.best(); lost > 1.0002*best || lost > 1.0002*rounded {
			t.Errorf("%+v: loses %.5f; the best multiple of the interval %.5f, Daly's %.5f", c, lost, best, rounded)
		}
		marginal = max(marginal, c.lost(c.work(Marginal))/rounded-1)
		equation1 = max(equation1, c.lost(c.work(Equation1))/rounded)
		if more := lost/c.lost(daly) - 1; c.interval <= daly/2 {
			near++
			itself = max(itself, more)
		} else {
			coarse = max(coarse, more)
		}
	}
	t.Logf("at most %.2f %% more than Daly in %d cells, %.0f %% in the others; marginal %.2f %%; equation 1 %.1f times", 100*itself, near, 100*coarse, 100*marginal, equation1)
	if itself > .025 || near != 51 || coarse > .985 || marginal > .021 || math.Round(equation1) != 34 {
		t.Error("not as the comment says")
	}
}

// Daly's interval is nearly the best there is, and the better the rarer failures are.
func TestDaly(t *testing.T) {
	for _, test := range []struct{ cost, mtbf, within float64 }{
		{60, 30 * day, 1e-5}, {300, day, .001}, {720, 2 * hour, .02}, {1800, 2 * hour, .04},
	} {
		s := steady{rate: 1 / test.mtbf, cost: test.cost}
		if daly, best := Daly(test.cost, test.mtbf), s.continuous(); math.Abs(daly/best-1) > test.within {
			t.Errorf("%+v: Daly %f, best %f", test, daly, best)
		}
	}
	if got := Young(300, day); got != 7200 {
		t.Errorf("Young %v", got)
	}
	if got := Daly(1800, 600); got != 600 {
		t.Errorf("%v between checkpoints that take longer than two times between failures", got)
	}
	if got := Daly(0, hour); got != 0 {
		t.Errorf("%v between checkpoints that cost nothing", got)
	}
	if got := Daly(60, math.Inf(1)); !math.IsInf(got, 1) {
		t.Errorf("%v between checkpoints without failures", got)
	}
}

// Equation 1 charges all of a checkpoint to one interval: with what the paper calls a = 0, no
// prediction at all, it never checkpoints.
func TestEquation1(t *testing.T) {
	r := Request{Cost: 720, Interval: 3600, Since: 3600, Hazard: within(.2)}
	if !Equation1(&r) {
		t.Error(".2 of 3600 s is 720 s: p_f d I >= C holds")
	}
	r.Hazard = within(.199)
	if Equation1(&r) {
		t.Error(".199 of 3600 s is less than 720 s")
	}
	r.Since, r.Hazard = 1e6, within(0)
	if Equation1(&r) {
		t.Error("it checkpoints without a risk")
	}
}

// within is a Hazard that gives the same probability for all times.
type within float64

func (w within) Within(float64) float64 { return float64(w) }
func (within) Rate() float64            { return 0 }
