package checkpoint

import (
	"math"
	"math/rand/v2"
	"testing"
)

// oracle weighs every plan there is: each subset of the requests to come. It walks through a plan
// in steps of a second, with all the time that checkpoints take, and knows what Advise knows.
type oracle struct {
	*Request
	price    float64
	requests int // to come, without the one now
	stopped  bool
}

// value returns the value of the plan in which request k has a checkpoint if bit k is set, request
// 0 being now.
func (o *oracle) value(plan uint) float64 {
	alive := 1.
	time, unsaved, value := 0., o.Since, 0.
	pass := func(seconds float64) {
		for range int(seconds) {
			if o.stopped && time >= o.Ends {
				return
			}
			before, after := 1-o.Hazard.Within(time), 1-o.Hazard.Within(time+1)
			value += alive * (1 + after/before) / 2
			value += alive * (1 - after/before) * o.Restart
			alive *= after / before
			time++
		}
	}
	for k := range o.requests + 1 {
		if plan&(1<<k) != 0 {
			begun := time
			pass(o.Cost)
			if time == begun+o.Cost {
				value -= alive * o.price * unsaved
				unsaved = 0
			}
		}
		work := o.Interval
		if k == o.requests && !o.stopped {
			work = o.Left - float64(k)*o.Interval
		} else if k == o.requests {
			work = o.Ends
		}
		pass(work)
		unsaved += work
	}
	if !o.stopped {
		value -= alive * o.price * unsaved
	}
	return value
}

// best returns the values of the best plans with and without a checkpoint now.
func (o *oracle) best() (do, skip float64) {
	do, skip = math.Inf(1), math.Inf(1)
	for plan := range uint(1) << (o.requests + 1) {
		if value := o.value(plan); plan&1 != 0 {
			do = min(do, value)
		} else {
			skip = min(skip, value)
		}
	}
	return do, skip
}

// burst is a risk that is greater between two times.
type burst struct{ rate, from, to, greater float64 }

func (b burst) Rate() float64 { return b.rate }
func (b burst) Within(s float64) float64 {
	return -math.Expm1(-b.rate*s - (b.greater-b.rate)*max(0, min(s, b.to)-b.from))
}

// Advise is as good as the oracle, but for some hundredths of a checkpoint where there are more of
// them than it reckons with.
func TestOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	uniform := func(low, high float64) float64 { return math.Round(low + (high-low)*random.Float64()) }
	var wrong, checkpoints, worst, sum float64
	const cases = 500
	for n := range cases {
		interval := uniform(20, 100)
		r := &Request{Cost: uniform(2, 30), Interval: interval, Since: interval * uniform(1, 6), Restart: uniform(0, 50)}
		o := &oracle{Request: r, requests: int(uniform(0, 6)), stopped: n%4 == 0}
		rest := float64(o.requests)*interval + uniform(1, interval-1)
		rate := math.Exp(-4-5*random.Float64()) / 10
		r.Hazard = Constant(rate)
		if n%2 == 0 {
			from := uniform(0, rest)
			r.Hazard = burst{rate, from, from + uniform(5, 300), rate * uniform(2, 50)}
		}
		r.Left = rest
		if o.stopped {
			r.Ends, r.Left = rest+uniform(0, r.Cost*float64(o.requests)), 0
			o.requests = int(r.Ends / interval)
		}
		s := newSteady(r)
		if far*s.work < max(rest, r.Ends) {
			continue // Advise does not look so far
		}
		o.price = s.price
		do, skip := o.best()
		a := Advise(r)
		if LookAhead(r) != a.Checkpoint {
			t.Errorf("%+v: advice %+v, and LookAhead does not follow it", *r, a)
		}
		if off := math.Abs(a.Saves - (skip - do)); off > .25*r.Cost {
			t.Errorf("%+v: advice %+v, but it saves %.2f", *r, a, skip-do)
		}
		regret := max(0, do-skip)
		if !a.Checkpoint {
			regret = max(0, skip-do)
		} else {
			checkpoints++
		}
		if regret > 0 {
			wrong++
		}
		sum += regret / r.Cost
		worst = max(worst, regret/r.Cost)
		if regret > .1*r.Cost {
			t.Errorf("%+v: advice %+v; to do it %.2f, to skip it %.2f", *r, a, do, skip)
		}
	}
	t.Logf("%.0f of %d advised to checkpoint, %.0f not as the oracle; regret %.3f of a checkpoint at most, %.4f on average", checkpoints, cases, wrong, worst, sum/cases)
	if checkpoints < cases/10 || sum/cases > .001 {
		t.Error("too few checkpoints, or too much regret")
	}
}

// A job of known length under failures at a constant, known rate takes at most 2.5 % more time
// above its work than the best plan: equal parts, or nearly so, as many as are best.
func TestKnownEnd(t *testing.T) {
	for _, c := range cells() {
		for _, hours := range []float64{1.5, 5, 18, 100} {
			requests := int(hours * 3600 / c.interval)
			if requests > 400 || hours*3600 > 30*c.mtbf {
				continue
			}
			segment := func(n int, last bool) float64 {
				exposed := float64(n) * c.interval
				if !last {
					exposed += c.cost
				}
				return c.mtbf*math.Expm1(exposed/c.mtbf) - float64(n)*c.interval
			}
			// best[k] is the least waste with k intervals to go, just after a checkpoint.
			best := make([]float64, requests+1)
			for k := 1; k <= requests; k++ {
				best[k] = segment(k, true)
				for n := 1; n < k; n++ {
					best[k] = min(best[k], segment(n, false)+best[k-n])
				}
			}
			waste, since := 0., 0
			for left := requests; left > 0; {
				since++
				left--
				r := Request{Cost: c.cost, Interval: c.interval, Since: float64(since) * c.interval, Left: float64(left) * c.interval, Hazard: Constant(1 / c.mtbf)}
				if left == 0 {
					waste += segment(since, true)
				} else if LookAhead(&r) {
					waste += segment(since, false)
					since = 0
				}
			}
			if waste > 1.025*best[requests] {
				t.Errorf("%+v, %v h: wastes %.1f s, the best plan %.1f s: %.2f %% more", c, hours, waste, best[requests], 100*(waste/best[requests]-1))
			}
		}
	}
}
