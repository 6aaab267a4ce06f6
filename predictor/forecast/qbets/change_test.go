package qbets

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

func TestRareRun(t *testing.T) {
	if got, want := rareRun(0), [...]int32{17, 9, 4}; got != want {
		t.Errorf("rareRun(0) = %v, want %v: the least r with (1-q)^r <= 1e-5", got, want)
	}
	if rareRun(-.5) != rareRun(0) || rareRun(.91) != rareRun(.925) || rareRun(1) != rareRun(.99) {
		t.Error("an autocorrelation is not rounded up to the next in the table")
	}
	for i := 1; i < len(rareRuns); i++ {
		for j := range watched {
			if rareRuns[i].length[j] < rareRuns[i-1].length[j] {
				t.Errorf("autocorrelation %v has a shorter rare run than %v", rareRuns[i].rho, rareRuns[i-1].rho)
			}
			if j > 0 && rareRuns[i].length[j] >= rareRuns[i].length[j-1] {
				t.Errorf("autocorrelation %v: misses of %v are not rarer than of %v", rareRuns[i].rho, watched[j], watched[j-1])
			}
		}
	}
}

// learnChange has p learn 2000 waits, then other waits until p finds a change point. It
// returns the number of these other waits.
func learnChange(t *testing.T, before, then func() float64) int64 {
	t.Helper()
	r := workload.Request{Limit: hour}
	p := ofOneClass()
	for range 2000 {
		p.Learn(started(r, 1, int64(before())))
	}
	changed := lastChange(p, r)
	for n := int64(1); n <= 500; n++ {
		p.Learn(started(r, 1_000_000, int64(then())))
		if lastChange(p, r) != changed {
			return n
		}
	}
	t.Fatal("500 waits after the change it is not found")
	return 0
}

func TestChangeIsFoundSoon(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	normal := func(median float64) func() float64 {
		return func() float64 { return median * math.Exp(random.NormFloat64()) }
	}
	atom := func(share float64) func() float64 {
		return func() float64 {
			if random.Float64() < share {
				return 0
			}
			return 600 * random.ExpFloat64()
		}
	}
	for _, change := range []struct {
		name         string
		before, then func() float64
		within       int64
	}{
		{"50 times slower", normal(600), normal(30_000), 6},
		{"10 times slower", normal(600), normal(6000), 12},
		{"50 times faster", normal(600), normal(12), 6},
		{"10 times faster", normal(600), normal(60), 12},
		{"mostly at once", atom(.1), atom(1), 40},
		{"no more at once", atom(.9), normal(600), 12},
	} {
		if n := learnChange(t, change.before, change.then); n > change.within {
			t.Errorf("%s: found after %d waits, want within %d", change.name, n, change.within)
		}
	}
}

// TestFewFalseAlarms: without a change, six kinds of runs, each with a probability of 1e-5,
// raise at most six false alarms in 100,000 waits on average.
func TestFewFalseAlarms(t *testing.T) {
	r := workload.Request{Limit: hour}
	for _, rho := range []float64{0, .5, .9} {
		random := rand.New(rand.NewPCG(2, 2))
		next := ar1(rho, 1.5)
		p := ofOneClass()
		alarms, changed := 0, int64(0)
		for i := range 100_000 {
			p.Learn(started(r, int64(1+10_000_000*i), int64(next(i, random))))
			if last := lastChange(p, r); last != changed {
				alarms, changed = alarms+1, last
			}
		}
		t.Logf("autocorrelation %v: %d false alarms", rho, alarms)
		if alarms > 12 {
			t.Errorf("autocorrelation %v: %d false alarms", rho, alarms)
		}
	}
}

// TestChangeLeavesNoPast: after a change point, each new wait replaces an old one from
// before it.
func TestChangeLeavesNoPast(t *testing.T) {
	r := workload.Request{Limit: hour}
	random := rand.New(rand.NewPCG(3, 3))
	p := ofOneClass()
	for i := range int64(1000) {
		p.Learn(started(r, 1+i, 10_000+random.Int64N(100)))
	}
	for i := range int64(200) {
		p.Learn(started(r, 5000+i, 100+random.Int64N(100)))
		if b := p.Bound(r, 0, .95); i >= 59+20 && b.Seconds >= 10_000 {
			t.Fatalf("%d waits after the change: %+v", i+1, b)
		}
	}
	if b := p.Bound(r, 0, .5); b.Sample < 180 {
		t.Errorf("200 waits after the change: %+v, want nearly all of them remembered", b)
	}
}
