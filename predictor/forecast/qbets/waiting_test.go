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

// censored computes from plain lists: of waits, and of the ages of waiting jobs.
type censored struct{ waits, ages []int64 }

// known returns the number n of jobs of which it is known whether they start within d, and
// the number k of those that do.
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

// bound returns the least wait or age that suffices as a bound. Beyond the longest wait
// there is none.
func (o *censored) bound(q, c float64) (seconds int64, ok bool) {
	for _, d := range slices.Sorted(slices.Values(slices.Concat(o.waits, o.ages))) {
		if k, n := o.known(d); d <= slices.Max(o.waits) && stats.AtMost(k-1, n, q) >= c {
			return d, true
		}
	}
	return 0, false
}

// TestWaitingJobsAgainstOracle: with waiting jobs, bounds are those of plain lists. They are
// never below the bounds without waiting jobs, or below what the ages show, and they are
// monotone in the quantile and the budget.
func TestWaitingJobsAgainstOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	r := workload.Request{Limit: hour}
	refused := 0
	for range 30 {
		p, without := ofOneClass(), ofOneClass()
		const now = 1_000_000
		var o censored
		for i := 59 + random.Int64N(400); i > 0; i-- {
			wait := int64(1000 * random.ExpFloat64())
			p.Learn(started(r, now-10*i-wait, wait))
			without.Learn(started(r, now-10*i-wait, wait))
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

// TestAtLimit: jobs that wait for a limit of their own are not a sign that others would wait, nor
// that the cluster is down. Their waits are not learnt.
func TestAtLimit(t *testing.T) {
	p := New()
	r := workload.Request{Partition: "main", Limit: 3600}
	now := int64(1)
	for range 500 {
		now += 60
		p.Learn(started(r, now, 10))
	}
	at := func() workload.Estimate {
		var est [1]workload.Estimate
		p.Forecast(r, now, []workload.Candidate{{Submit: now, Limit: r.Limit, Budget: 60}}, est[:])
		return est[0]
	}
	before := at()
	for id := range int64(100) {
		p.Submitted(&workload.Job{ID: 1 + id, Request: r, Submit: now, Eligible: now})
	}
	now += 86_400
	if e := at(); e.Prob > before.Prob/2 {
		t.Errorf("%+v while 100 jobs have waited for a day, %+v before", e, before)
	}
	for id := range int64(100) {
		p.Changed(&workload.Job{ID: 1 + id, Request: r, Submit: now - 86_400, Eligible: now - 86_400, AtLimit: true})
	}
	if e := at(); e != before {
		t.Errorf("%+v while they are at a limit, %+v before", e, before)
	}
	for id := range int64(100) {
		p.Started(&workload.Job{ID: 1 + id, Request: r, Submit: now - 86_400, Eligible: now - 86_400, Start: now, AtLimit: true})
	}
	if e := at(); e != before {
		t.Errorf("%+v when they have started, %+v before", e, before)
	}
	for id := range int64(100) {
		p.Changed(&workload.Job{ID: 1 + id, Request: r, Submit: now - 86_400, Eligible: now - 86_400, Start: now})
	}
	if e := at(); e != before {
		t.Errorf("%+v when they run with another limit, %+v before", e, before)
	}
}

// TestWaitingJobsComeAndGo: jobs that wait are counted from their submission until they
// start or are cancelled, even if their classes split or join meanwhile.
func TestWaitingJobsComeAndGo(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	p := New()
	var waits []workload.Job
	for now := int64(1); now < 40_000; now++ {
		j := workload.Job{ID: now, Request: randomRequest(random), Submit: now}
		p.Submitted(&j)
		waits = append(waits, j)
		if len(waits) < 200 {
			continue
		}
		i := random.IntN(len(waits))
		j = waits[i]
		waits = slices.Delete(waits, i, i+1)
		j.Start = now
		if random.IntN(10) == 0 {
			p.Ended(&workload.Job{ID: j.ID, End: now})
		} else {
			p.Started(&j)
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

// Of a job that has waited, those count that had waited as long.
func TestForecastOfRest(t *testing.T) {
	p := New()
	r := workload.Request{Partition: "main", Limit: 3600}
	for i := range int64(1000) {
		j := started(r, 100*i, i*37%100*10) // 0 to 990 s
		p.Started(&j)
	}
	const now = 200_000
	est := make([]workload.Estimate, 2)
	for i, waited := range []int64{0, 500} {
		c := workload.Candidate{Submit: now - waited, Limit: 3600, Budget: 745, Job: 7}
		p.Forecast(r, now, []workload.Candidate{c}, est[i:i+1])
	}
	// .75 of all wait no longer, and of those that wait for more than 500 s, 24 of 49.
	if est[0].Prob < .7 || est[0].Prob > .75 || est[1].Prob < .44 || est[1].Prob > .49 {
		t.Errorf("%+v", est)
	}
}
