package qbets

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// watchStarts has jobs waiting all the time. One of them starts after each silence. It
// returns the indexes of the silences after which an outage is found.
func watchStarts(silences []int64) (s *starts, found []int) {
	s = &starts{}
	s.waiting.Insert(1)
	now := int64(1)
	s.started(1, now)
	for i, silence := range silences {
		now += silence
		if q, ok := s.started(1, now); ok && s.over(q, now, outagesApart) {
			found = append(found, i)
		}
	}
	return s, found
}

// startAt has jobs become eligible at these times. One in every of them waits first. If
// every is 0, none waits.
func startAt(times []int64, every int, wait func() int64) *starts {
	s := &starts{}
	for i, now := range times {
		eligible := now
		if every > 0 && i%every == 0 {
			now += wait()
		}
		if q, ok := s.started(eligible, now); ok {
			s.over(q, now, outagesApart)
		}
	}
	return s
}

// comings returns random times that are apart seconds apart on average.
func comings(random *rand.Rand, n int, apart float64) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = 1 + int64(apart*random.ExpFloat64())
		if i > 0 {
			list[i] += list[i-1]
		}
	}
	return list
}

func draw(n int, next func() float64) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = 1 + int64(next())
	}
	return list
}

// TestChanceIsNoOutage: chance is mistaken for an outage as rarely as outages are expected.
// If the tail is heavy it may be twice as often, since its shape is estimated.
func TestChanceIsNoOutage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for name, next := range map[string]func() float64{
		"exponential": func() float64 { return 600 * random.ExpFloat64() },
		"log-normal":  func() float64 { return 600 * math.Exp(random.NormFloat64()) },
		"Pareto":      func() float64 { return 600 * math.Pow(random.Float64(), -1/2.5) },
		"bounded":     func() float64 { return 600 * random.Float64() },
	} {
		list := draw(100_000, next)
		_, found := watchStarts(list)
		expected := 0.
		for _, silence := range list {
			expected += float64(silence) / outagesApart
		}
		t.Logf("%s: %d, at most %.1f expected", name, len(found), expected)
		if float64(len(found)) > 2*expected {
			t.Errorf("%s: %d outages", name, len(found))
		}
	}
}

// TestChanceIsNoOutageEarly: of a thousand clusters, each with its first hundred silences,
// chance is mistaken for an outage in few.
func TestChanceIsNoOutageEarly(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	for name, next := range map[string]func() float64{
		"exponential": func() float64 { return 600 * random.ExpFloat64() },
		"log-normal":  func() float64 { return 600 * math.Exp(random.NormFloat64()) },
		"mostly none": func() float64 { return max(0, 5000*random.ExpFloat64()-10_000) },
	} {
		wrong := 0
		for range 1000 {
			if _, found := watchStarts(draw(100, next)); len(found) > 0 {
				wrong++
			}
		}
		t.Logf("%s: %d", name, wrong)
		if wrong > 50 {
			t.Errorf("%s: chance is mistaken in %d of 1000 clusters", name, wrong)
		}
	}
}

// TestIdleClusterIsWatched: on a cluster where jobs start at once, an outage is found after
// hours if few starts have been observed, and soon if many have.
func TestIdleClusterIsWatched(t *testing.T) {
	for _, test := range []struct {
		starts  int
		apart   float64
		every   int // one in this many waits; 0: none
		atLeast int64
		atMost  int64
	}{
		{starts: 50, apart: 500, atLeast: 30 * minute, atMost: 12 * hour},
		{starts: 50, apart: 500, every: 10, atLeast: 30 * minute, atMost: 24 * hour},
		{starts: 300, apart: 500, atLeast: leastOutage, atMost: 4 * hour},
		{starts: 3000, apart: 500, atLeast: leastOutage, atMost: hour},
		{starts: 3000, apart: 500, every: 20, atLeast: leastOutage, atMost: 3 * hour},
	} {
		random := rand.New(rand.NewPCG(7, 7))
		s := startAt(comings(random, test.starts, test.apart), test.every, func() int64 { return 1 + int64(300*random.ExpFloat64()) })
		got := s.longest(500, outagesApart)
		t.Logf("%+v: %s", test, span(got))
		if got < test.atLeast || got > test.atMost {
			t.Errorf("%+v: an outage after %s", test, span(got))
		}
	}
}

// TestLongestIsMonotone: an outage is assumed the sooner, the longer no job waited before,
// and the later, the rarer outages are. Up to a factor, it is also assumed sooner if fewer
// jobs waited, and later if silences were longer.
func TestLongestIsMonotone(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	for range 100 {
		n, every, mean := 1+random.IntN(1500), 1+random.IntN(20), 100+3000*random.Float64()
		wait := func(scale float64) func() int64 {
			r := rand.New(rand.NewPCG(9, 9))
			return func() int64 { return 1 + int64(scale*mean*r.ExpFloat64()) }
		}
		times := comings(random, n, 50_000)
		s := startAt(times, every, wait(1))
		gap := random.Int64N(outageLasts)
		longest := s.longest(gap, outagesApart)
		if longer := s.longest(gap+random.Int64N(outageLasts), outagesApart); longer > longest {
			t.Errorf("%d silences: %d after a gap, %d after a longer one", n, longest, longer)
		}
		if rarer := s.longest(gap, 2*outagesApart); rarer < longest {
			t.Errorf("%d silences: %d, and %d when outages are rarer", n, longest, rarer)
		}
		if slower := startAt(times, every, wait(3)).longest(gap, outagesApart); slower < longest*4/5 {
			t.Errorf("%d silences: %d, and %d when they are longer", n, longest, slower)
		}
		if fewer := startAt(times, 2*every, wait(1)).longest(gap, outagesApart); n > 100 && fewer > 2*longest {
			t.Errorf("%d silences: %d, and %d when fewer wait", n, longest, fewer)
		}
	}
}

// TestNothingIsKnownAtFirst: no outage is found before the second start.
func TestNothingIsKnownAtFirst(t *testing.T) {
	s := &starts{}
	s.waiting.Insert(1)
	if q, ok := s.outage(100*hour, 0, outagesApart); ok {
		t.Errorf("%+v", q)
	}
	s.started(1, 2)
	if q, ok := s.outage(10_000*hour, 0, outagesApart); ok {
		t.Errorf("%+v", q)
	}
}

// TestTailIsThatOfTheSilences: the length of a silence that is exceeded with a given
// probability is right up to a factor.
func TestTailIsThatOfTheSilences(t *testing.T) {
	for name, d := range map[string]struct{ draw, beyond func(float64) float64 }{
		"exponential": {
			func(u float64) float64 { return -600 * math.Log(u) },
			func(y float64) float64 { return math.Exp(-y / 600) },
		},
		"Pareto": {
			func(u float64) float64 { return 600 * math.Pow(u, -1/2.5) },
			func(y float64) float64 { return math.Pow(y/600, -2.5) },
		},
	} {
		random := rand.New(rand.NewPCG(10, 10))
		var s silences
		for range mostSilences {
			s.add(0, int64(d.draw(1-random.Float64())))
		}
		for _, prob := range []float64{.01, .001, .0001} {
			if got := d.beyond(s.tail.exceeded(prob)); got > 3*prob || got < prob/20 {
				t.Errorf("%s: exceeded with %v, really %v", name, prob, got)
			}
		}
	}
}

func TestOutageIsFoundSoon(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	s, _ := watchStarts(draw(2000, func() float64 { return 300 * random.ExpFloat64() }))
	// A silence is above 45 minutes with probability exp(-2700/300), which is 300 s in 30
	// days.
	for silence, want := range map[int64]bool{30 * minute: false, 90 * minute: true} {
		q, ok := s.outage(s.newest+silence, 0, outagesApart)
		if ok != want || q.since != s.newest || q.waiting != 1 {
			t.Errorf("after %s: %+v, %v", span(silence), q, ok)
		}
	}
}

// TestQuietBecomesNormal: if a cluster becomes a hundred times slower, this counts as
// outages only for a while.
func TestQuietBecomesNormal(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	fast := draw(2000, func() float64 { return 60 * random.ExpFloat64() })
	slow := draw(1000, func() float64 { return 6000 * random.ExpFloat64() })
	_, found := watchStarts(append(fast, slow...))
	late, _ := slices.BinarySearch(found, 2300) // these 700 silences are 1.6 times 30 days
	if late == 0 || late > 100 || len(found)-late > 5 {
		t.Errorf("held for outages: %v", found)
	}
}

// frequent returns a Predictor of a partition in which a job has started every minute, by chance,
// until now.
func frequent() (p *Predictor, r workload.Request, now int64) {
	random := rand.New(rand.NewPCG(4, 4))
	p, r, now = New(), workload.Request{Partition: "main", Limit: hour}, 1
	for range 2000 {
		now += 1 + int64(60*random.ExpFloat64())
		p.Learn(started(r, now-1000, 1000))
	}
	return p, r, now
}

// TestNobodyWaitsNoSilence: without waiting jobs, or before they are eligible, there is no
// silence.
func TestNobodyWaitsNoSilence(t *testing.T) {
	p, r, now := frequent()
	const later = 10 * hour
	if down := p.Down(in("main"), now+later); down != "" {
		t.Errorf("nobody waits, but %s", down)
	}
	p.Submitted(&workload.Job{ID: 1, Request: r, Submit: now, Eligible: now + later})
	if down := p.Down(in("main"), now+later); down != "" {
		t.Errorf("nobody could start, but %s", down)
	}
	p.Submitted(&workload.Job{ID: 2, Request: r, Submit: now + 1})
	if down, want := p.Down(in("main"), now+later), "no job has started for 9h59m while 2 wait: the cluster seems to be down"; down != want {
		t.Errorf("down: %q, want %q", down, want)
	}
	if down := p.Down(in("other"), now+later); down == "" {
		t.Error("another partition of a cluster that is down is not")
	}
	p.Ended(&workload.Job{ID: 2})
	p.Ended(&workload.Job{ID: 1})
	if down := p.Down(in("main"), now+later); down != "" {
		t.Errorf("all were cancelled, but %s", down)
	}
}

func TestToldOutage(t *testing.T) {
	p := New()
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
	if p.Down(in("other"), 2000) != "" || p.Down(in("main"), 999) != "" {
		t.Error("down elsewhere, or before it")
	}
	p.Outage(Outage{Partition: "main", From: 1000, To: 3000})
	if got, want := p.Down(in("main"), 2000), "partition main is down"; got != want {
		t.Errorf("Down = %q, want %q", got, want)
	}
	if p.Down(in("main"), 3000) != "" {
		t.Error("down when it is over")
	}
	n := p.Len()
	p.Learn(started(r, 2999, 100)) // waited during its last second
	p.Learn(started(r, 500, 2600)) // waited during all of it
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

// TestPlannedOutage: while it is known when jobs start again, and soon after that, promises are
// made, and no silence counts.
func TestPlannedOutage(t *testing.T) {
	p, r, now := frequent()
	p.Submitted(&workload.Job{ID: 1, Request: r, Submit: now})
	p.Outage(Outage{Partition: "main", From: now, Planned: true})
	const later = 10 * hour
	down := func(at int64) string { return p.Down(in("main"), now+at) }
	if got := down(later); got != "" {
		t.Errorf("while it lasts: %s", got)
	}
	p.Outage(Outage{Partition: "main", From: now, To: now + later, Planned: true})
	if got := down(later + minute); got != "" {
		t.Errorf("soon after it: %s", got)
	}
	if got, want := down(later+5*hour), "no job has started for 5h while 1 waits: the cluster seems to be down"; got != want {
		t.Errorf("long after it: %q, want %q", got, want)
	}
	n := p.Len()
	if p.Learn(started(r, now, later)); p.Len() != n {
		t.Error("a wait during it is learnt")
	}
}

func TestSpan(t *testing.T) {
	for seconds, want := range map[int64]string{0: "0m", 59: "0m", 600: "10m", 7200: "2h", 7859: "2h10m"} {
		if got := span(seconds); got != want {
			t.Errorf("span(%d) = %q, want %q", seconds, got, want)
		}
	}
}

// in returns a request for a partition.
func in(partition string) *workload.Request { return &workload.Request{Partition: partition} }

// TestNarrowJobsWait: a job that may run on some nodes only is no sign that nothing starts
// elsewhere, but its start is one that something does. Once its node set is a queue of its own,
// that one is watched.
func TestNarrowJobsWait(t *testing.T) {
	const on = "main on n1"
	narrow := workload.Request{Partition: "main", NodeSet: "n1"}
	own := narrow
	own.Line = on
	for name, c := range map[string]struct {
		waits workload.Request
		down  []string // queues
	}{
		"any nodes":     {*in("main"), []string{"main", on}},
		"some nodes":    {narrow, nil},
		"its own queue": {own, []string{on}},
	} {
		const now = int64(1_000_000)
		p := New()
		for i := range int64(400) {
			for _, r := range []workload.Request{*in("main"), own} {
				j := workload.Job{ID: 2 * i, Request: r, Submit: now + 60*i, Start: now + 60*i + 30}
				p.Submitted(&j)
				p.Started(&j)
			}
		}
		at := now + 400*60
		p.Submitted(&workload.Job{ID: 1001, Request: c.waits, Submit: at})
		for _, r := range []workload.Request{*in("main"), own} {
			want := slices.Contains(c.down, r.Queue())
			if got := p.Down(&r, at+86_400); (got != "") != want {
				t.Errorf("%s: %s: %q", name, r.Queue(), got)
			}
		}
	}
}
