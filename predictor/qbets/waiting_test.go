package qbets

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// censored answers from plain lists of waits and of how long jobs have waited.
type censored struct{ waits, ages []int64 }

// known returns of how many jobs it is known whether they start within d, and how
// many did.
func (o *censored) known(d int64) (k, n int) {
	for _, w := range o.waits {
		n++
		if w <= d {
			k++
		}
	}
	for _, age := range o.ages {
		if age > d {
			n++
		}
	}
	return k, n
}

// bound looks at every wait, and at every age, beyond which one job fewer is known
// to fail, for the least that will do.
func (o *censored) bound(q, c float64) (seconds int64, ok bool) {
	for _, d := range slices.Sorted(slices.Values(slices.Concat(o.waits, o.ages))) {
		if k, n := o.known(d); d <= slices.Max(o.waits) && stats.AtMost(k-1, n, q) >= c {
			return d, true
		}
	}
	return 0, false
}

// TestWaitingJobsAgainstOracle: with jobs that wait, bounds are those of lists,
// never more hopeful than without them, never below what they show already, and
// monotone in the quantile and the budget.
func TestWaitingJobsAgainstOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	r := workload.Request{Limit: hour}
	refused := 0
	for range 30 {
		p, without := New(Options{Classifier: oneClass{}}), New(Options{Classifier: oneClass{}})
		const now = 1_000_000
		var o censored
		for i := range int64(59 + random.IntN(400)) {
			wait := int64(1000 * random.ExpFloat64())
			p.Learn(started(r, now/2+10*i-wait, wait))
			without.Learn(started(r, now/2+10*i-wait, wait))
			o.waits = append(o.waits, wait)
		}
		o.waits = o.waits[len(o.waits)-p.Bound(r, now, .5).Sample:]
		for i := range int64(random.IntN(60)) {
			age := int64(float64(1+random.IntN(3000)) * random.ExpFloat64())
			p.Submitted(&workload.Job{ID: 1 + i, Request: r, Submit: now - age})
			o.ages = append(o.ages, age)
		}
		var last Bound
		for q := .02; q < 1; q += .02 {
			b := p.Bound(r, now, q)
			seconds, ok := o.bound(q, .95)
			if b.OK != ok || ok && (b.Seconds != seconds || b.Confidence < .95) {
				t.Fatalf("Bound(%v) = %+v, want %d, %v", q, b, seconds, ok)
			}
			plain := without.Bound(r, now, q)
			if b.OK && (!plain.OK || plain.Seconds > b.Seconds) {
				t.Fatalf("Bound(%v) = %+v, without jobs that wait %+v", q, b, plain)
			}
			if plain.OK && !b.OK {
				refused++
			}
			if b.OK && q > .02 && (!last.OK || last.Seconds > b.Seconds) {
				t.Fatalf("Bound(%v) = %+v follows %+v", q, b, last)
			}
			last = b
			longer := 0
			for _, age := range o.ages {
				if age > b.Seconds {
					longer++
				}
			}
			if b.OK && float64(longer) > (1-q)*float64(len(o.waits)+longer) {
				t.Fatalf("Bound(%v) = %+v, but %d of %d have waited longer already", q, b, longer, len(o.waits)+longer)
			}
		}
		var before workload.Estimate
		for budget := int64(0); budget < 10_000; budget += 73 {
			est := make([]workload.Estimate, 1)
			p.Forecast(r, now, []workload.Candidate{{Limit: hour, Budget: budget}}, est)
			k, n := o.known(budget)
			if want := stats.LowerProportion(k, n, .95); math.Abs(est[0].Prob-want) > 1e-9 {
				t.Fatalf("within %d: %+v, want %v", budget, est[0], want)
			}
			if est[0].Prob < before.Prob || est[0].Held < before.Held {
				t.Fatalf("within %d: %+v follows %+v", budget, est[0], before)
			}
			if plain := ask(without, r, budget); est[0].Prob > plain.Prob || est[0].Held > plain.Held {
				t.Fatalf("within %d: %+v, without jobs that wait %+v", budget, est[0], plain)
			}
			before = est[0]
		}
		var d delay.Distribution
		evidence, ok := p.Distribution(r, now, &d)
		if !ok || evidence.Sample != len(o.waits) {
			t.Fatalf("Distribution says %+v, %v", evidence, ok)
		}
		for i := range d {
			k, n := o.known(int64(delay.At(i)))
			if want := float64(k) / float64(n+1); math.Abs(d[i]-want) > 1e-12 || i > 0 && d[i] < d[i-1] {
				t.Fatalf("within %v: %v, want %v", delay.At(i), d[i], want)
			}
		}
	}
	if refused == 0 {
		t.Error("jobs that wait never made a bound impossible")
	}
}

// TestWaitingJobsComeAndGo: jobs that wait are counted from their submission until they
// start or are cancelled, wherever their class goes meanwhile.
func TestWaitingJobsComeAndGo(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	p := New(Options{})
	waits := map[int64]workload.Job{}
	for now := int64(1); now < 40_000; now++ {
		j := workload.Job{ID: now, Request: randomRequest(random), Submit: now}
		p.Submitted(&j)
		waits[j.ID] = j
		for id, j := range waits {
			if len(waits) < 200 {
				break
			}
			delete(waits, id)
			j.Start = now
			if random.IntN(10) == 0 {
				p.Ended(&workload.Job{ID: id, End: now})
			} else {
				p.Started(&j)
			}
		}
	}
	n := 0
	for _, s := range p.services {
		for _, h := range s.classes {
			n += h.waiting.Len()
		}
	}
	if n != len(waits) || len(p.waiting) != n || p.starts[""].waiting.Len() != n {
		t.Fatalf("%d wait in classes, %d in all, %d in the cluster; want %d", n, len(p.waiting), p.starts[""].waiting.Len(), len(waits))
	}
	for _, w := range p.waiting {
		s := p.services[w.request.Partition]
		place := s.place(&w.request)
		if s.find(&place) != w.home {
			t.Fatalf("%+v waits in %v", w.request, w.home.class)
		}
	}
}

// TestTenantBounds: bounds for a tenant of its own are monotone, and agree with the
// forecasts.
func TestTenantBounds(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	p := New(Options{})
	r := workload.Request{Partition: "main", User: "slow", Size: workload.Size{Nodes: 2}, Limit: hour}
	for i := range int64(5000) {
		wait := 600 * random.ExpFloat64()
		if r.User = "other"; i%10 == 0 {
			r.User = "slow"
			wait *= 4
		}
		p.Learn(started(r, 1+60*i, int64(wait)))
	}
	r.User = "slow"
	if b := p.Bound(r, 0, .5); b.Class != "partition=main user=slow nodes=2 limit=30m-1h" {
		t.Fatalf("Bound = %+v", b)
	}
	last, bounds := int64(0), 0
	for q := .01; q < 1; q += .01 {
		b := p.Bound(r, 0, q)
		if !b.OK {
			continue
		}
		bounds++
		if b.Seconds < last || b.Confidence < .95 {
			t.Fatalf("Bound(%v) = %+v follows %d", q, b, last)
		}
		last = b.Seconds
		if e := ask(p, r, b.Seconds); e.Prob < q {
			t.Fatalf("Bound(%v) = %+v, but within it %+v", q, b, e)
		}
		if b.Seconds > 0 {
			if e := ask(p, r, b.Seconds-1); e.Prob >= q {
				t.Fatalf("Bound(%v) = %+v, but a second earlier %+v", q, b, e)
			}
		}
	}
	if bounds < 90 {
		t.Errorf("%d bounds", bounds)
	}
	var before workload.Estimate
	for budget := int64(0); budget < 20_000; budget += 50 {
		e := ask(p, r, budget)
		if e.Prob < before.Prob || e.Held < before.Held {
			t.Fatalf("within %d: %+v follows %+v", budget, e, before)
		}
		before = e
	}
	var slow, other delay.Distribution
	p.Distribution(r, 0, &slow)
	r.User = "other"
	p.Distribution(r, 0, &other)
	if one, two := slow.Quantile(.5), other.Quantile(.5); one < 2*two {
		t.Errorf("medians %v and %v", one, two)
	}
	for i := 1; i < delay.Points; i++ {
		if slow[i] < slow[i-1] {
			t.Fatalf("within %v: %v follows %v", delay.At(i), slow[i], slow[i-1])
		}
	}
}

// TestTenantsAlike: of users who are served like everyone else, few are taken to
// have a service of their own, even if each comes with bursts of jobs that wait
// together.
func TestTenantsAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	p := New(Options{})
	r := workload.Request{Partition: "main", Size: workload.Size{Nodes: 2}, Limit: hour}
	now, differ, looks := int64(1), 0, 0
	for i := range 3000 {
		r.User = string(rune('a' + random.IntN(26)))
		wait := int64(600 * random.ExpFloat64())
		for range 1 + random.IntN(20) {
			now += 10
			p.Learn(started(r, now, wait))
		}
		if i > 1000 && i%100 == 0 {
			for _, tenant := range p.tenants {
				looks++
				if tenant.differs {
					differ++
				}
			}
		}
	}
	t.Logf("%d of %d differ", differ, looks)
	if differ > looks/20 {
		t.Errorf("%d of %d differ", differ, looks)
	}
}

func TestTenantsAreBounded(t *testing.T) {
	p := New(Options{})
	r := workload.Request{Partition: "main", Limit: hour}
	for i := range int64(3 * mostTenants) {
		r.User = string(rune('a' + i))
		if i < 60 || i%2 == 0 {
			r.User = "often"
		}
		p.Learn(started(r, 1+i, i%100))
	}
	if len(p.tenants) != mostTenants {
		t.Errorf("%d tenants", len(p.tenants))
	}
	if p.tenants[tenantKey{partition: "main", user: "often"}] == nil {
		t.Error("the one that comes often is forgotten")
	}
}
