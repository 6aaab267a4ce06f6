package blend

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/forecast/recalibration"
)

// TestBlendFollowsTheBest: the weight in a group goes to the expert that forecasts it best.
// When another expert becomes the best, the weight goes to that one.
func TestBlendFollowsTheBest(t *testing.T) {
	l := newLife(1, always("short", forecasttest.Exponential(100)), always("long", forecasttest.Exponential(10_000)))
	if s := l.weightsOf("a"); s["short"] != .5 || s["long"] != .5 {
		t.Errorf("at first: %v", s)
	}
	for range 300 {
		l.jobs(1, "a", 100)
		l.jobs(1, "b", 10_000)
	}
	if a, b := l.weightsOf("a"), l.weightsOf("b"); a["short"] < .9 || b["long"] < .9 {
		t.Errorf("short waits in a, long ones in b: %v, %v", a, b)
	}
	l.jobs(700, "a", 10_000)
	if a := l.weightsOf("a"); a["long"] < .9 {
		t.Errorf("after a change: %v", a)
	}
	if c := l.weightsOf("never seen"); c["long"] < .9 {
		t.Errorf("where nothing is known: %v", c)
	}
}

// TestWeights: the weights sum up to 1, and only experts that answer have one.
func TestWeights(t *testing.T) {
	odd := &scripted{name: "odd", says: func(q *forecast.Question) *delay.Distribution {
		if q.Now%2 == 0 {
			return nil
		}
		return forecasttest.Exponential(500)
	}}
	l := newLife(2, always("always", forecasttest.Exponential(1000)), odd)
	for range 500 {
		l.jobs(1, "a", 800)
		sum, answers := 0., 0
		for _, weight := range l.weightsOf("a") {
			sum += weight
			answers++
		}
		if want := 1 + int(l.now%2); math.Abs(sum-1) > 1e-12 || answers != want {
			t.Fatalf("%d weigh %v, want %d", answers, sum, want)
		}
	}
}

// TestSilence: an expert neither gains nor loses weight while it has no answer. If two
// experts give equal answers, but one has none half of the time, their weights are equal.
func TestSilence(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	good, bad := forecasttest.Exponential(1000), forecasttest.Exponential(20)
	half := func(name string, d *delay.Distribution) *scripted {
		silent := false
		return &scripted{name: name, says: func(*forecast.Question) *delay.Distribution {
			if silent = random.IntN(2) == 0; silent {
				return nil
			}
			return d
		}}
	}
	l := newLife(3, always("good", good), half("half good", good), always("bad", bad), half("half bad", bad))
	l.jobs(1000, "a", 1000)
	sum := map[string]float64{}
	for range 1000 {
		if s := l.weightsOf("a"); len(s) == 4 {
			sum = s
		}
	}
	if ratio := sum["half good"] / sum["good"]; ratio < .7 || ratio > 1.3 {
		t.Errorf("weights %v", sum)
	}
	if sum["bad"]+sum["half bad"] > .1 {
		t.Errorf("weights %v: silence saves a bad forecaster", sum)
	}
}

// TestNobodyAnswers: where no expert has an answer, the blend has none, and learns nothing.
func TestNobodyAnswers(t *testing.T) {
	silent := true
	l := newLife(4, &scripted{name: "shy", says: func(*forecast.Question) *delay.Distribution {
		if silent {
			return nil
		}
		return forecasttest.Exponential(10)
	}})
	for range 100 {
		j, _, ok := l.submit("a")
		if ok {
			t.Fatal("an answer out of nothing")
		}
		l.wait(j, 1e5)
	}
	silent = false
	_, a, ok := l.submit("a")
	if !ok || len(a.Opinions) != 1 || math.Abs(a.Recalibrated-recalibration.New().Effective()) > 1e-9 {
		t.Errorf("answers %v: %+v", ok, a.Evidence)
	}
	want := forecasttest.Exponential(10)
	addTails(want)
	for i := range a.Wait {
		if math.Abs(a.Wait[i]-want[i]) > 1e-9 {
			t.Fatalf("says %v for %v", a.Wait[i], want[i])
		}
	}
}

// TestBeyond: as far as the queue lies beyond all that was learnt from, an expert that knows
// only the past loses its weight.
func TestBeyond(t *testing.T) {
	short, long := forecasttest.Exponential(600), forecasttest.Exponential(86_400)
	for _, beyond := range []float64{0, .5, 1} {
		simulates := &scripted{name: "simulates", says: func(*forecast.Question) *delay.Distribution { return long }, beyond: beyond}
		l := newLife(1, simulates, always("remembers", short))
		_, a, _ := l.submit("main")
		want := .5 * (1 - beyond) / (1 - .5*beyond)
		if got := a.Opinions[1].Weight; math.Abs(got-want) > 1e-9 || a.Beyond != beyond {
			t.Errorf("%v beyond: a weight of %v, want %v; it says %v", beyond, got, want, a.Beyond)
		}
	}
}
