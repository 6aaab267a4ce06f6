package qbets

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/workload"
)

// TestTenantBounds: bounds for a user with a service of its own are monotone, and agree with
// the forecasts.
func TestTenantBounds(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	p := New()
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

// TestTenantsAlike: if all users are served alike, few of them are found to differ, even if
// each submits bursts of jobs with equal waits.
func TestTenantsAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	p := New()
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
	p := New()
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

func TestIndependent(t *testing.T) {
	if independent(100, 0) != 100 || independent(100, -.5) != 100 || math.Abs(independent(100, .5)-100./3) > 1e-9 {
		t.Error("not n(1-rho)/(1+rho)")
	}
}
