package qbets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// started returns a job of request r that became eligible at a time and waited
// for some seconds.
func started(r workload.Request, eligible, wait int64) workload.Job {
	return workload.Job{Request: r, Submit: eligible, Eligible: eligible, Start: eligible + wait}
}

// ask forecasts one candidate.
func ask(p *Predictor, r workload.Request, budget int64) workload.Estimate {
	est := make([]workload.Estimate, 1)
	p.Forecast(r, 0, []workload.Candidate{{Limit: r.Limit, Budget: budget}}, est)
	return est[0]
}

// ofOneClass returns a Predictor that treats all requests alike.
func ofOneClass() *Predictor {
	p := New()
	p.cell = func(*workload.Request) Class { return Class{} }
	return p
}

// lastChange returns the time of the last change point of the waits that bounds for r are
// computed from, or 0.
func lastChange(p *Predictor, r workload.Request) int64 {
	var e pool
	a := p.ask(&r)
	p.answer(&e, &a)
	return e.changed()
}

// oracle computes by sorting and scanning a plain list of waits.
type oracle []int64

func (o oracle) bound(q, c float64) (seconds int64, ok bool) {
	sorted := slices.Sorted(slices.Values(o))
	for k := 1; k <= len(sorted); k++ {
		if stats.AtMost(k-1, len(sorted), q) >= c {
			return sorted[k-1], true
		}
	}
	return 0, false
}

func (o oracle) forecast(budget int64, c float64) (prob, held float64) {
	within, sum := 0, int64(0)
	for _, w := range o {
		if w <= budget {
			within++
			sum += budget - w
		}
	}
	// The p for which so many waits within the budget, or more, have the probability 1-c.
	low, high := 0., 1.
	for range 60 {
		if mid := (low + high) / 2; stats.AtMost(within-1, len(o), mid) > c {
			low = mid
		} else {
			high = mid
		}
	}
	return low, float64(sum) / float64(len(o))
}

func TestAgainstOracle(t *testing.T) {
	const most = 400
	random := rand.New(rand.NewPCG(1, 1))
	request := workload.Request{Limit: 3600}
	p := ofOneClass()
	p.most = most
	var past oracle
	for i := range 3000 {
		wait := random.Int64N(10_000)
		if i/500%2 == 1 {
			wait *= 20 // a change point
		}
		p.Learn(started(request, int64(1+i), wait))
		past = append(past, wait)
		past = past[len(past)-p.Bound(request, 0, .5).Sample:]
		if i%7 != 0 {
			continue
		}
		for _, q := range []float64{.05, .5, .75, .95, .99} {
			b := p.Bound(request, 0, q)
			seconds, ok := past.bound(q, .95)
			if b.OK != ok || ok && b.Seconds != seconds {
				t.Fatalf("after %d: Bound(%v) = %+v, want %d, %v", i+1, q, b, seconds, ok)
			}
		}
		budget := random.Int64N(200_000)
		e := ask(p, request, budget)
		prob, held := past.forecast(budget, .95)
		if math.Abs(e.Prob-prob) > 1e-9 || math.Abs(e.Held-held) > 1e-6 || e.Sample != len(past) {
			t.Fatalf("after %d: Forecast(%d) = %+v, want %v, %v", i+1, budget, e, prob, held)
		}
	}
}

// learnMixture has p learn n random jobs of many classes, some of them rare.
func learnMixture(p *Predictor, n int, random *rand.Rand) {
	for i := range n {
		r := randomRequest(random)
		scale := 60 * float64(r.Nodes) * math.Sqrt(float64(r.Limit)/600)
		p.Learn(started(r, int64(1+10*i), int64(scale*math.Exp(random.NormFloat64()))))
	}
}

func randomRequest(random *rand.Rand) workload.Request {
	nodes := int32(1) << int(random.ExpFloat64())
	return workload.Request{
		Partition: []string{"batch", "batch", "batch", "long"}[random.IntN(4)],
		QOS:       []string{"", "", "high"}[random.IntN(3)],
		Size:      workload.Size{Nodes: nodes, CPUs: nodes * 16, GPUs: max(0, random.Int32N(40)-36)},
		Limit:     600 * (1 + random.Int64N(200)),
	}
}

// TestEvidenceAgainstOracle: the pool of waits for a request is the one that sorting all
// classes finds, and its bounds are those of a plain list of these waits.
func TestEvidenceAgainstOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 11))
	p := New()
	learnMixture(p, 3000, random)
	pooled, shorter := 0, 0
	for range 500 {
		r := randomRequest(random)
		if random.IntN(4) == 0 {
			r.Limit *= 8 // beyond what was learnt
		}
		service := p.services[r.Partition]
		own := service.class(&r, Class{})
		larger := func(c Class) bool {
			return c.Unit == own.Unit && c.Size.last() >= own.Size.last() || c.Unit == Nodes && own.Unit == CPUs
		}
		var pasts []*history
		for _, h := range service.classes {
			if h.class.Limit.last() >= own.Limit.last() && larger(h.class) {
				pasts = append(pasts, h)
			}
		}
		if len(pasts) == 0 {
			for _, h := range service.classes {
				if h.class.Limit.last() == own.Limit.Above && larger(h.class) {
					pasts = append(pasts, h)
					shorter++
				}
			}
		}
		nearness := func(h *history) string {
			c := h.class
			return fmt.Sprintf("%v %v %09d %d %09d %s", c != own, c.QOS != own.QOS, c.Limit.Above, c.Unit, c.Size.Above, c.QOS)
		}
		slices.SortFunc(pasts, func(a, b *history) int { return strings.Compare(nearness(a), nearness(b)) })
		var past oracle
		for _, h := range pasts {
			if len(past) >= 59 {
				pooled++
				break
			}
			for i := range h.len() {
				past = append(past, int64(h.at(i).wait))
			}
		}
		for _, q := range []float64{.05, .5, .75, .95} {
			b := p.Bound(r, 0, q)
			seconds, ok := past.bound(q, .95)
			if b.OK != ok || ok && b.Seconds != seconds || b.Sample != len(past) {
				t.Fatalf("%+v: Bound(%v) = %+v, want %d, %v of %d", r, q, b, seconds, ok, len(past))
			}
		}
		if len(past) == 0 {
			continue
		}
		budget := random.Int64N(20_000)
		e := ask(p, r, budget)
		prob, held := past.forecast(budget, .95)
		if math.Abs(e.Prob-prob) > 1e-9 || math.Abs(e.Held-held) > 1e-6 || e.Sample != len(past) {
			t.Fatalf("%+v: Forecast(%d) = %+v, want %v, %v", r, budget, e, prob, held)
		}
	}
	if shorter == 0 {
		t.Error("no request was answered by shorter jobs")
	}
	if pooled < 100 {
		t.Errorf("only %d pools left anything out", pooled)
	}
}

func TestMonotone(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	p := New()
	learnMixture(p, 5000, random)
	for range 300 {
		r := randomRequest(random)
		previous := Bound{OK: true}
		for q := .01; q < 1; q += .01 {
			b := p.Bound(r, 0, q)
			if b.OK && (!previous.OK || b.Seconds < previous.Seconds || b.Confidence < .95) {
				t.Fatalf("%+v: bound %+v follows %+v", r, b, previous)
			}
			previous = b
		}
		var last workload.Estimate
		for budget := int64(0); budget < 50_000; budget += 500 {
			e := ask(p, r, budget)
			if e.Prob < last.Prob || e.Held < last.Held || e.Prob >= 1 {
				t.Fatalf("%+v: within %d %+v follows %+v", r, budget, e, last)
			}
			last = e
		}
	}
}

// TestForecastIsManyAsks: one call for a trajectory answers like a call for each
// candidate.
func TestForecastIsManyAsks(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	p := New()
	learnMixture(p, 5000, random)
	for range 20 {
		r := randomRequest(random)
		candidates, est := trajectory(r.Limit, 12*hour)
		p.Forecast(r, 0, candidates, est)
		for i, c := range candidates {
			r.Limit = c.Limit
			if want := ask(p, r, c.Budget); est[i] != want {
				t.Fatalf("%+v: candidate %d is %+v, alone %+v", r, i, est[i], want)
			}
		}
	}
}

// trajectory returns VARQ's candidates for a job that works for work seconds and has its
// deadline in ahead seconds. It also returns room for their estimates.
func trajectory(work, ahead int64) ([]workload.Candidate, []workload.Estimate) {
	var c []workload.Candidate
	for s := int64(0); s < ahead; s += 30 {
		c = append(c, workload.Candidate{Submit: s, Limit: work + ahead - s, Budget: ahead - s})
	}
	return c, make([]workload.Estimate, len(c))
}

func TestNothingLearnt(t *testing.T) {
	p := New()
	r := workload.Request{Partition: "batch", Limit: 600}
	if b := p.Bound(r, 0, .5); b.OK || b.Sample != 0 {
		t.Errorf("Bound = %+v, want none", b)
	}
	if e := ask(p, r, 1e6); e != (workload.Estimate{}) {
		t.Errorf("Forecast = %+v, want nothing", e)
	}
	if p.Len() != 0 || lastChange(p, r) != 0 {
		t.Errorf("Len, last change = %d, %d, want 0", p.Len(), lastChange(p, r))
	}
}

func TestContradictoryJobsTeachNothing(t *testing.T) {
	p := New()
	for _, job := range []workload.Job{
		{},
		{Submit: 10, Eligible: 10},
		{Submit: 10, Eligible: 10, Start: 9},
		{Start: 10},
		{Submit: 10, Eligible: 1, Start: math.MaxInt64},
		{Eligible: math.MinInt64, Start: math.MaxInt64},
	} {
		p.Learn(job)
	}
	if p.Len() != 0 {
		t.Errorf("learnt %d waits from jobs that have none", p.Len())
	}
}

// TestOneLimitForAll: if all users ask for one limit, a reservation that needs a little more
// is not refused for lack of history.
func TestOneLimitForAll(t *testing.T) {
	p := New()
	all := workload.Request{Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: hour}
	for i := range int64(1000) {
		p.Learn(started(all, 1+i, 10+i%50))
	}
	longer := all
	longer.Limit = 90 * minute
	if e := ask(p, longer, 60); e.Prob < .95 || e.Class != "partition=main cpus=1 limit=30m-2h" {
		t.Errorf("half as long again: %+v", e)
	}
	longer.Limit = 3 * hour
	if e := ask(p, longer, 60); e != (workload.Estimate{}) {
		t.Errorf("three times as long: %+v, want nothing", e)
	}
}

// TestSmallJobsVouchForNoOther: nothing is forecast for a job that asks for more than any
// job before, however many shorter and smaller jobs started at once. If a few jobs asked for
// as much, only they count.
func TestSmallJobsVouchForNoOther(t *testing.T) {
	p := New()
	bulk := workload.Request{Partition: "main", Size: workload.Size{Nodes: 4}, Limit: 8 * hour}
	for i := range int64(1000) {
		p.Learn(started(bulk, 1+50*i, 10+i%50))
	}
	longer, larger := bulk, bulk
	longer.Limit = 24 * hour
	larger.Nodes = 8
	for _, r := range []workload.Request{longer, larger} {
		if e := ask(p, r, 1e6); e != (workload.Estimate{}) {
			t.Errorf("%+v: %+v, want nothing", r, e)
		}
		if b := p.Bound(r, 0, .5); b.OK || b.Sample != 0 {
			t.Errorf("%+v: %+v, want no bound", r, b)
		}
	}

	for i := range int64(10) {
		p.Learn(started(longer, 1+i, 50_000+i))
	}
	beyond := longer
	beyond.Limit = 10 * hour
	if e, want := ask(p, beyond, 60), (workload.Estimate{Sample: 10, Class: "partition=main nodes=3-4 limit>8h"}); e != want {
		t.Errorf("of 10 that waited long: %+v, want %+v", e, want)
	}
	// All 10 waits are within the budget: the 95 % lower bound is .05^(1/10).
	if e, want := ask(p, beyond, 60_000), math.Pow(.05, .1); math.Abs(e.Prob-want) > 1e-9 {
		t.Errorf("of 10 that waited long: %+v, want probability %v", e, want)
	}
	if b := p.Bound(beyond, 0, .5); b.Seconds < 50_000 {
		t.Errorf("of 10 that waited long: %+v, want 50000 s or more", b)
	}
	if b := p.Bound(beyond, 0, .95); b.OK {
		t.Errorf("10 waits bound the .95 quantile: %+v", b)
	}
	if e := ask(p, bulk, 60); e.Prob < .95 {
		t.Errorf("short jobs: %+v, want as good as before", e)
	}
}

// TestFreshCluster: the first jobs of a cluster, of all kinds, suffice for forecasts of
// small and short ones.
func TestFreshCluster(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 12))
	p := New()
	for i := range int64(100) {
		r := workload.Request{Partition: "main", Size: workload.Size{Nodes: 1 + random.Int32N(16)}, Limit: minute * (1 + random.Int64N(1440))}
		p.Learn(started(r, 1+i, random.Int64N(hour)))
	}
	small := workload.Request{Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 4}, Limit: 10 * minute}
	if b := p.Bound(small, 0, .95); !b.OK || b.Seconds > hour || b.Class != "partition=main cpus=3+ limit>5m" {
		t.Errorf("Bound = %+v", b)
	}
}

func TestMaxHistory(t *testing.T) {
	p := New()
	p.most = 100
	r := workload.Request{Partition: "batch", Limit: 600}
	for i := range int64(1000) {
		p.Learn(started(r, 1+i, 7))
	}
	if e := ask(p, r, 10); e.Sample != 100 || e.Held != 3 {
		t.Errorf("Forecast = %+v, want the newest 100 of 1000", e)
	}
	if p.Len() != 1000 {
		t.Errorf("Len = %d, want 1000", p.Len())
	}
}

func FuzzLearn(f *testing.F) {
	f.Add(int64(1), int64(2), int64(3), int64(600), int32(1), int32(1), int64(60))
	f.Add(int64(-1), int64(math.MaxInt64), int64(math.MinInt64), int64(-600), int32(-1), int32(0), int64(-60))
	f.Add(int64(0), int64(1), int64(math.MaxUint32), int64(math.MaxInt64), int32(math.MaxInt32), int32(math.MinInt32), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, submit, eligible, start, limit int64, nodes, cpus int32, budget int64) {
		p := New()
		p.most = 70
		r := workload.Request{Partition: "batch", Size: workload.Size{Nodes: nodes, CPUs: cpus, GPUs: nodes / 2}, Limit: limit}
		for i := range 100 {
			p.Learn(workload.Job{Request: r, Submit: submit, Eligible: eligible, Start: start + int64(i%3)})
			p.Learn(started(workload.Request{Limit: 600}, int64(1+i), int64(i)))
		}
		if e := ask(p, r, budget); !(e.Prob >= 0 && e.Prob < 1) || !(e.Held >= 0) {
			t.Errorf("Forecast = %+v", e)
		}
		for _, q := range []float64{-1, 0, .5, .95, 1, 2, math.NaN()} {
			if b := p.Bound(r, 0, q); b.Seconds < 0 || b.OK && b.Confidence < .95 {
				t.Errorf("Bound(%v) = %+v", q, b)
			}
		}
	})
}

// FuzzEvents: for any events in any order, nothing panics and forecasts are valid.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("submit, start and end some jobs; then submit more, and start"))
	f.Fuzz(func(t *testing.T, events []byte) {
		p := New()
		p.least, p.most = 2, 20
		now := int64(1)
		for i, b := range events {
			now += int64(b >> 4)
			j := workload.Job{
				ID:      int64(b % 7),
				Request: workload.Request{Partition: "ab"[b%2 : b%2+1], User: "uvw"[b%3 : b%3+1], Size: workload.Size{Nodes: int32(b % 5)}, Limit: 600 * int64(b%11)},
				Submit:  now - int64(b%32),
			}
			switch b % 4 {
			case 0:
				p.Submitted(&j)
			case 1, 2:
				j.Start = now
				p.Started(&j)
			case 3:
				p.Ended(&j)
			}
			if i%16 != 0 {
				continue
			}
			var d delay.Distribution
			_, ok := p.Distribution(j.Request, now, &d)
			for k := 1; ok && k < len(d); k++ {
				if !(d[k] >= d[k-1]) || d[k] > 1 {
					t.Fatalf("within %v: %v follows %v", delay.At(k), d[k], d[k-1])
				}
			}
			if b := p.Bound(j.Request, now, .5); b.OK && (b.Confidence < .95 || b.Seconds < 0) {
				t.Fatalf("Bound = %+v", b)
			}
		}
	})
}

// learnt returns a predictor that has learnt n waits of a busy cluster.
func learnt(n int) *Predictor {
	p := New()
	learnMixture(p, n, rand.New(rand.NewPCG(1, 1)))
	return p
}

var sizes = []int{200_000, 1_000_000}

// someone returns r as the request of one of 200 users in 20 accounts.
func someone(r workload.Request, random *rand.Rand) workload.Request {
	n := random.IntN(200)
	r.User, r.Account = fmt.Sprint("user", n), fmt.Sprint("account", n%20)
	return r
}

func BenchmarkLearn(b *testing.B) {
	random := rand.New(rand.NewPCG(2, 2))
	jobs := make([]workload.Job, 1<<16)
	for i := range jobs {
		jobs[i] = started(someone(randomRequest(random), random), int64(1+i), int64(600*math.Exp(random.NormFloat64())))
	}
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := learnt(n)
			for i := 0; b.Loop(); i++ {
				p.Learn(jobs[i%len(jobs)])
			}
		})
	}
}

// BenchmarkEvents measures a submission, and the start of a job submitted 1,000 jobs before.
func BenchmarkEvents(b *testing.B) {
	random := rand.New(rand.NewPCG(2, 2))
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := learnt(n)
			jobs := make([]workload.Job, 1000)
			now := 10 * int64(n)
			for i := 0; b.Loop(); i++ {
				now += 10
				j := &jobs[i%len(jobs)]
				if j.ID != 0 {
					j.Start = now
					p.Started(j)
				}
				*j = workload.Job{ID: now, Request: someone(randomRequest(random), random), Submit: now}
				p.Submitted(j)
			}
		})
	}
}

// BenchmarkDistribution measures the distribution for a class of which 500 jobs wait, also
// for a user whose jobs are served differently.
func BenchmarkDistribution(b *testing.B) {
	r := workload.Request{Partition: "batch", Size: workload.Size{Nodes: 1, CPUs: 16}, Limit: 8 * hour}
	for _, n := range sizes {
		p := learnt(n)
		now := 10 * int64(n)
		for i := range int64(500) {
			p.Submitted(&workload.Job{ID: 1 + i, Request: r, Submit: now - i*30})
		}
		for _, r.User = range []string{"", "slow"} {
			for i := range int64(300) {
				if r.User != "" {
					p.Learn(started(r, now+i, 20_000+i))
				}
			}
			b.Run(fmt.Sprintf("%d%s", n, r.User), func(b *testing.B) {
				var d delay.Distribution
				for b.Loop() {
					p.Distribution(r, now, &d)
				}
			})
		}
	}
}

func BenchmarkBound(b *testing.B) {
	r := workload.Request{Partition: "batch", Size: workload.Size{Nodes: 1, CPUs: 16}, Limit: 8 * hour}
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := learnt(n)
			for b.Loop() {
				p.Bound(r, 0, .95)
			}
		})
	}
}

// BenchmarkForecast measures one trajectory: 1,440 candidates, 12 hours.
func BenchmarkForecast(b *testing.B) {
	r := workload.Request{Partition: "batch", Size: workload.Size{Nodes: 1, CPUs: 16}, Limit: hour}
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := learnt(n)
			candidates, est := trajectory(r.Limit, 12*hour)
			for b.Loop() {
				p.Forecast(r, 0, candidates, est)
			}
		})
	}
}

// BenchmarkForecastOfFewWaits measures the worst case of pooling: each wait has a class of
// its own, so that dozens of classes are needed.
func BenchmarkForecastOfFewWaits(b *testing.B) {
	p := New()
	r := workload.Request{Partition: "batch"}
	for _, limit := range limitSteps {
		for r.Nodes = 1; r.Nodes <= 4096; r.Nodes *= 2 {
			for _, r.QOS = range []string{"low", "normal", "high"} {
				r.Limit = limit
				p.Learn(started(r, limit, int64(r.Nodes)))
			}
		}
	}
	r.Nodes, r.Limit = 4, hour
	candidates, est := trajectory(r.Limit, 12*hour)
	for b.Loop() {
		p.Forecast(r, 0, candidates, est)
	}
}

// BenchmarkForecastOfOneClass measures the worst case: a history without bound, and a
// different number of its waits within each budget.
func BenchmarkForecastOfOneClass(b *testing.B) {
	r := workload.Request{Limit: hour}
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 1))
			p := ofOneClass()
			p.most = n
			for i := range int64(n) {
				p.Learn(started(r, 1+i, random.Int64N(24*hour)))
			}
			candidates, est := trajectory(r.Limit, 12*hour)
			for b.Loop() {
				p.Forecast(r, 0, candidates, est)
			}
		})
	}
}

// BenchmarkMemory reports the memory of a predictor.
func BenchmarkMemory(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				p := learnt(n)
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB-live")
				runtime.KeepAlive(p)
			}
		})
	}
}
