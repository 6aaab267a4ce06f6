package qbets

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// watchStarts lets jobs wait all the time, one of which starts after each silence,
// and returns after how many an outage is found.
func watchStarts(silences []int64) (s *starts, found []int) {
	s = &starts{}
	s.waiting.Insert(1)
	now := int64(1)
	s.started(1, now)
	for i, silence := range silences {
		now += silence
		if since := s.started(1, now); s.heard(now - since) {
			found = append(found, i)
		}
	}
	return s, found
}

func draw(n int, next func() float64) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = 1 + int64(next())
	}
	return list
}

// TestChanceIsNoOutage: of 100,000 silences, one is expected to be as rare as an
// outage; a tail whose shape is estimated has a few more.
func TestChanceIsNoOutage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for name, next := range map[string]func() float64{
		"exponential": func() float64 { return 600 * random.ExpFloat64() },
		"log-normal":  func() float64 { return 600 * math.Exp(random.NormFloat64()) },
		"Pareto":      func() float64 { return 600 * math.Pow(random.Float64(), -1/2.5) },
		"bounded":     func() float64 { return 600 * random.Float64() },
	} {
		_, found := watchStarts(draw(100_000, next))
		t.Logf("%s: %d", name, len(found))
		if len(found) > 12 {
			t.Errorf("%s: %d outages", name, len(found))
		}
	}
}

func TestOutageIsFoundSoon(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	s, _ := watchStarts(draw(2000, func() float64 { return 300 * random.ExpFloat64() }))
	// exp(-x/300) is 1e-5 for 58 minutes.
	for silence, want := range map[int64]bool{30 * minute: false, 3 * hour: true} {
		since, waiting, ok := s.outage(s.newest + silence)
		if ok != want || since != s.newest || waiting != 1 {
			t.Errorf("after %s: %d, %d, %v", span(silence), since, waiting, ok)
		}
	}
}

// TestQuietBecomesNormal: a cluster that has become a hundred times slower is
// believed after a while.
func TestQuietBecomesNormal(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	fast := draw(2000, func() float64 { return 60 * random.ExpFloat64() })
	slow := draw(1000, func() float64 { return 6000 * random.ExpFloat64() })
	_, found := watchStarts(append(fast, slow...))
	if len(found) == 0 || len(found) > 100 || found[len(found)-1] > 2300 {
		t.Errorf("held for outages: %v", found)
	}
}

// TestNobodyWaitsNoSilence: without jobs that wait, or before they are eligible,
// nothing is silent.
func TestNobodyWaitsNoSilence(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	p := New(Options{})
	r := workload.Request{Partition: "main", Limit: hour}
	now := int64(1)
	for range 2000 {
		now += 1 + int64(60*random.ExpFloat64())
		p.Learn(started(r, now-1000, 1000))
	}
	const later = 10 * hour
	if down := p.Down("main", now+later); down != "" {
		t.Errorf("nobody waits, but %s", down)
	}
	p.Submitted(&workload.Job{ID: 1, Request: r, Submit: now, Eligible: now + later})
	if down := p.Down("main", now+later); down != "" {
		t.Errorf("nobody could start, but %s", down)
	}
	p.Submitted(&workload.Job{ID: 2, Request: r, Submit: now + 1})
	if down, want := p.Down("main", now+later), "no job has started for 9h59m while 2 wait: the cluster seems to be down"; down != want {
		t.Errorf("down: %q, want %q", down, want)
	}
	if down := p.Down("other", now+later); down == "" {
		t.Error("another partition of a cluster that is down is not")
	}
	p.Ended(&workload.Job{ID: 2})
	p.Ended(&workload.Job{ID: 1})
	if down := p.Down("main", now+later); down != "" {
		t.Errorf("all were cancelled, but %s", down)
	}
}

func TestToldOutage(t *testing.T) {
	p := New(Options{})
	r := workload.Request{Partition: "main", Limit: hour}
	for i := range int64(200) {
		p.Learn(started(r, 1+i, 10))
	}
	p.Outage(Outage{Partition: "main", From: 1000, Reason: "all nodes of main are drained"})
	b := p.Bound(r, 2000, .5)
	if b.OK || b.Down != "all nodes of main are drained" {
		t.Errorf("Bound = %+v", b)
	}
	if e := ask(p, r, hour); e.Prob == 0 {
		t.Errorf("before it: %+v", e)
	}
	est := make([]workload.Estimate, 1)
	p.Forecast(r, 1000, []workload.Candidate{{Limit: hour, Budget: hour}}, est)
	if want := (workload.Estimate{Down: b.Down}); est[0] != want {
		t.Errorf("Forecast = %+v", est[0])
	}
	if p.Down("other", 2000) != "" || p.Down("main", 999) != "" {
		t.Error("down elsewhere, or before it")
	}
	p.Outage(Outage{Partition: "main", From: 1000, To: 3000})
	if got, want := p.Down("main", 2000), "partition main is down"; got != want {
		t.Errorf("Down = %q, want %q", got, want)
	}
	if p.Down("main", 3000) != "" {
		t.Error("down when it is over")
	}
	n := p.Len()
	p.Learn(started(r, 2999, 100)) // waited for a second of it
	p.Learn(started(r, 500, 2600)) // all of it
	if p.Len() != n {
		t.Error("waits during an outage are learnt")
	}
	p.Learn(started(r, 3000, 200))
	r.Partition = "other"
	p.Learn(started(r, 2000, 1300))
	if p.Len() != n+2 {
		t.Error("waits after an outage, or elsewhere, are not learnt")
	}
	for i := range int64(1000) {
		p.Outage(Outage{From: i, To: i})
	}
	if len(p.outages) != mostOutages {
		t.Errorf("%d outages are remembered", len(p.outages))
	}
}

func TestSpan(t *testing.T) {
	for seconds, want := range map[int64]string{0: "0m", 59: "0m", 600: "10m", 7200: "2h", 7859: "2h10m"} {
		if got := span(seconds); got != want {
			t.Errorf("span(%d) = %q, want %q", seconds, got, want)
		}
	}
}
