package checkpoint

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

const (
	minute = 60.
	hour   = 3600.
	day    = 24 * hour
)

func TestReasons(t *testing.T) {
	daily := Constant(1 / day)
	for name, test := range map[string]struct {
		r    Request
		want Reason
	}{
		"no work":                        {Request{Cost: minute, Interval: hour, Hazard: daily}, NothingToSave},
		"soon":                           {Request{Cost: 12 * minute, Interval: hour, Since: hour, Hazard: daily}, NotYet},
		"late":                           {Request{Cost: 12 * minute, Interval: hour, Since: 4 * hour, Hazard: daily}, Worth},
		"late, but nearly done":          {Request{Cost: 12 * minute, Interval: hour, Since: 4 * hour, Left: hour / 2, Hazard: daily}, NotWorth},
		"soon, but stopped after it":     {Request{Cost: 12 * minute, Interval: hour, Since: hour, Ends: hour, Hazard: daily}, LastChance},
		"soon, but stopped, and safe":    {Request{Cost: 12 * minute, Interval: hour, Since: hour, Ends: hour, Hazard: Constant(0)}, LastChance},
		"hardly begun, but stopped":      {Request{Cost: hour, Interval: hour, Since: 1, Ends: hour, Hazard: Constant(0)}, LastChance},
		"stopped after the next":         {Request{Cost: 12 * minute, Interval: hour, Since: hour, Ends: hour + 13*minute, Hazard: daily}, NotYet},
		"stopped after idling":           {Request{Cost: 12 * minute, Interval: hour, Since: hour, Ends: 2 * hour, Hazard: daily}, Worth},
		"stopped before it is complete":  {Request{Cost: 12 * minute, Interval: hour, Since: 4 * hour, Ends: 11 * minute, Hazard: daily}, TooLate},
		"done when it would be stopped":  {Request{Cost: 12 * minute, Interval: hour, Since: hour, Left: hour, Ends: 2 * hour, Hazard: daily}, NotWorth},
		"stopped if it checkpoints":      {Request{Cost: 12 * minute, Interval: hour, Since: 9 * hour, Left: 3 * hour, Ends: 3*hour + 11*minute, Hazard: daily}, SavesEnd},
		"stopped anyway":                 {Request{Cost: 12 * minute, Interval: hour, Since: 9 * hour, Left: 4 * hour, Ends: 3 * hour, Hazard: daily}, Worth},
		"a deadline to be met":           {Request{Cost: 12 * minute, Interval: hour, Since: 9 * hour, Left: 3 * hour, Deadline: 3*hour + 11*minute, Hazard: daily}, SavesDeadline},
		"a deadline with time for it":    {Request{Cost: 12 * minute, Interval: hour, Since: 9 * hour, Left: 3 * hour, Deadline: 3*hour + 12*minute, Hazard: daily}, Worth},
		"a deadline that cannot be met":  {Request{Cost: 12 * minute, Interval: hour, Since: 9 * hour, Left: 3 * hour, Deadline: 2 * hour, Hazard: daily}, Worth},
		"a deadline that has passed":     {Request{Cost: 12 * minute, Interval: hour, Since: 9 * hour, Left: 3 * hour, Deadline: -hour, Hazard: daily}, Worth},
		"free, and safe":                 {Request{Interval: hour, Since: hour, Hazard: Constant(0)}, NotWorth},
		"done":                           {Request{Cost: minute, Interval: hour, Since: 9 * hour, Done: true, Warned: true, Hazard: daily}, NothingLeft},
		"warned":                         {Request{Cost: 12 * minute, Interval: hour, Since: hour, Warned: true, Hazard: daily}, TakenAway},
		"warned, nothing to save":        {Request{Cost: 12 * minute, Interval: hour, Warned: true, Hazard: daily}, NothingToSave},
		"warned, too late":               {Request{Cost: 12 * minute, Interval: hour, Since: hour, Ends: 11 * minute, Warned: true, Hazard: daily}, TooLate},
		"warned, a deadline to be met":   {Request{Cost: 12 * minute, Interval: hour, Since: hour, Left: hour, Deadline: hour, Warned: true, Hazard: daily}, SavesDeadline},
		"a burst to come, in time":       {Request{Cost: 12 * minute, Interval: hour, Since: hour, Hazard: burst{1 / day, 2 * hour, 4 * hour, 1 / hour}}, NotYet},
		"a burst to come before another": {Request{Cost: 12 * minute, Interval: hour, Since: hour, Hazard: burst{1 / day, 30 * minute, 4 * hour, 1 / hour}}, Worth},
	} {
		a := Advise(&test.r)
		if a.Reason.String() == "" || a.Reason != test.want || a.Checkpoint != (test.want <= LastChance) {
			t.Errorf("%s: %+v, want reason %d", name, a, test.want)
		}
	}
}

func TestCheck(t *testing.T) {
	good := Request{Cost: 1, Interval: 1, Since: 1, Deadline: -5, Hazard: Constant(0)}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for name, test := range map[string]struct {
		change func(*Request)
		want   error
	}{
		"negative cost":        {func(r *Request) { r.Cost = -1 }, ErrCost},
		"NaN":                  {func(r *Request) { r.Cost = math.NaN() }, ErrCost},
		"no interval":          {func(r *Request) { r.Interval = 0 }, ErrInterval},
		"infinite interval":    {func(r *Request) { r.Interval = math.Inf(1) }, ErrInterval},
		"long since":           {func(r *Request) { r.Since = 2 * Longest }, ErrSince},
		"negative left":        {func(r *Request) { r.Left = -1 }, ErrLeft},
		"has ended":            {func(r *Request) { r.Ends = -1 }, ErrEnds},
		"negative restart":     {func(r *Request) { r.Restart = -1 }, ErrRestart},
		"endless deadline":     {func(r *Request) { r.Deadline = math.Inf(-1) }, ErrDeadline},
		"negative rate":        {func(r *Request) { r.Hazard = Constant(-1) }, ErrHazard},
		"rate is not a number": {func(r *Request) { r.Hazard = Constant(math.NaN()) }, ErrHazard},
		"fails all the time":   {func(r *Request) { r.Hazard = Constant(math.Inf(1)) }, ErrHazard},
	} {
		r := good
		test.change(&r)
		if err := r.Check(); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// strange is a Hazard that no predictor should give.
type strange struct {
	rate, a, b float64
}

func (s strange) Rate() float64 { return s.rate }
func (s strange) Within(seconds float64) float64 {
	return s.a*math.Sin(seconds) + s.b/seconds
}

// FuzzAdvise: whatever the times and the predictions, there is an answer that is a number, and a
// known reason.
func FuzzAdvise(f *testing.F) {
	f.Add(720., 3600., 3., 0., 0., 0., 0., 1e-5, 0., 0.)
	f.Add(720., 3600., 3., 60., 7200., 0., 8000., 1e-5, 0., 0.)
	f.Add(0., 1e-9, 1e9, 60., Longest, 3., -5., 1e300, .5, 1.)
	f.Add(Longest, Longest, 1., Longest, 0., Longest, 0., 5e-324, 3., math.NaN())
	f.Fuzz(func(t *testing.T, cost, interval, requests, restart, left, ends, deadline, rate, a, b float64) {
		r := Request{Cost: cost, Interval: interval, Since: requests * interval, Restart: restart, Left: left, Ends: ends, Deadline: deadline, Hazard: Constant(rate)}
		if r.Check() != nil {
			return
		}
		sound(t, Advise(&r))
		r.Hazard = strange{rate, a, b}
		sound(t, Advise(&r))
		for _, rule := range []Rule{Never, Equation1, Marginal, EveryYoung, EveryDaly} {
			rule(&r)
		}
	})
}

// TestFewNearTheEnd: a job with hardly any risk checkpoints once before it is stopped, at the last
// request at which that will be complete. What it cannot use is no reason for more.
func TestFewNearTheEnd(t *testing.T) {
	for _, c := range []struct{ cost, interval, ends, mtbf float64 }{
		{minute, 10 * minute, hour, 30000 * day},
		{30, 2 * minute, 10 * minute, 289 * day / 2},
		{minute, 10 * minute, hour, math.Inf(1)},
	} {
		for n := 1.; n*c.interval+c.cost <= c.ends; n++ {
			r := Request{Cost: c.cost, Interval: c.interval, Since: n * c.interval, Ends: c.ends - n*c.interval, Hazard: Constant(1 / c.mtbf)}
			last := c.interval+c.cost > r.Ends
			a := Advise(&r)
			if a.Checkpoint != last || last && a.Reason != LastChance || !last && (a.Reason != NotYet || n*c.interval+a.Next+c.cost+c.interval <= c.ends) {
				t.Errorf("%+v, request %v: %+v", c, n, a)
			}
		}
	}
}

// At a constant rate, neither more failures nor more work at risk turn the advice to checkpoint
// into one to skip, and neither does a cheaper checkpoint. (With a risk that changes they may:
// before a burst of failures it is better to wait for the last request that is early enough.)
func TestMonotonic(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	logUniform := func(low, high float64) float64 { return low * math.Pow(high/low, random.Float64()) }
	turned := 0
	for range 1200 {
		interval := logUniform(10, 2*hour)
		cost := logUniform(1, 2*hour)
		rate := logUniform(1e-9, 1) / (interval + cost)
		r := Request{Cost: cost, Interval: interval, Restart: float64(random.IntN(2)) * cost, Hazard: Constant(rate)}
		r.Since = logUniform(.1, 5) * Daly(r.Cost, 1/rate)
		if random.IntN(2) == 0 {
			r.Left = logUniform(.1, 5) * Daly(r.Cost, 1/rate)
		}
		before, more := Advise(&r), logUniform(1.01, 3)
		for _, change := range []func(*Request){
			func(r *Request) { r.Hazard = Constant(more * rate) },
			func(r *Request) { r.Since *= more },
			func(r *Request) { r.Cost /= more },
		} {
			q := r
			change(&q)
			after := Advise(&q)
			// Both are within a hundredth of a checkpoint of the best: see TestOracle.
			if before.Saves > .01*cost && after.Saves < -.01*cost {
				t.Errorf("%+v: %+v; but %+v: %+v", r, before, q, after)
			}
			if before.Checkpoint != after.Checkpoint {
				turned++
			}
		}
	}
	if turned < 100 {
		t.Errorf("only %d changes turned the advice", turned)
	}
}

func sound(t *testing.T, a Advice) {
	t.Helper()
	if math.IsNaN(a.Saves) || math.IsInf(a.Saves, 0) || !(a.Next > 0) || a.Checkpoint != (a.Reason <= LastChance) || a.Reason > TooLate {
		t.Errorf("%+v", a)
	}
}

func BenchmarkAdvise(b *testing.B) {
	for name, r := range map[string]Request{
		"constant":       {Cost: 60, Interval: 60, Since: 3600, Hazard: Constant(1 / (30 * day))},
		"known end":      {Cost: 720, Interval: hour, Since: 3 * hour, Left: 12 * hour, Hazard: Constant(1 / day)},
		"burst, stopped": {Cost: 720, Interval: 60, Since: 3 * hour, Ends: 12 * hour, Hazard: burst{1 / day, hour, 3 * hour, 1 / hour}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Advise(&r)
			}
		})
	}
}

// A plan knows the expected time up to each instant: with a constant rate (1 - e^-λt)/λ.
func TestObserve(t *testing.T) {
	r := Request{Cost: hour, Interval: hour / 2, Since: hour, Hazard: Constant(2 / hour)}
	p := newPlan(&r, false, false)
	for n, row := range p.when {
		for i, at := range row {
			lambda := r.Hazard.Rate()
			if want := -math.Expm1(-lambda*at.time) / lambda; math.Abs(at.spent-want) > 1e-6 || math.Abs(at.alive-math.Exp(-lambda*at.time)) > 1e-9 {
				t.Errorf("checkpoints %d, request %d: %+v, want %v s", n, i, at, want)
			}
		}
	}
}

// With a constant rate and no end in sight, what is after the next checkpoint is worth nothing more
// or less than in the long run. So a checkpoint now, against one at the next request, saves what
// can be written down.
func TestSaves(t *testing.T) {
	for _, hours := range []float64{1, 3, 4, 5, 6, 8} {
		r := Request{Cost: 720, Interval: hour, Since: hours * hour, Hazard: Constant(64 / (200 * day))}
		s := newSteady(&r)
		value := func(more float64) float64 {
			x := s.rate * (more + r.Cost)
			return -math.Expm1(-x)/s.rate - s.price*math.Exp(-x)*(r.Since+more)
		}
		skip := math.Inf(1)
		for more := hour; more < day; more += hour {
			skip = min(skip, value(more))
		}
		if want, got := skip-value(0), Advise(&r).Saves; math.Abs(got-want) > .01*r.Cost {
			t.Errorf("after %v h it saves %.2f s, want %.2f", hours, got, want)
		}
	}
}
