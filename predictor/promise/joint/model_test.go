package joint

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/stats"
)

// TestEmptyPast: before the first outcome probabilities stay as they are, and the lower bound
// leaves a margin.
func TestEmptyPast(t *testing.T) {
	var m Model
	a, b := Member{"a", .8}, Member{"b", .5}
	q := m.Quote(AnyOf(a, b), start)
	for _, p := range []float64{q.Independent, q.Joint, q.Prob} {
		if math.Abs(p-.9) > 1e-12 {
			t.Errorf("%+v", q)
		}
	}
	if math.Abs(q.Lower-.7257) > 1e-3 || q.Least != .8 || q.Most != 1 || q.Strongest != (Estimate{}) {
		t.Errorf("%+v", q)
	}
	if one := m.Quote(AnyOf(a), start); one.Prob != .8 || one.Lower != .8 {
		t.Errorf("one member: %+v", one)
	}
	for _, certain := range []float64{0, 1} {
		if q := m.Quote(AllOf(Member{"a", certain}, Member{"b", certain}), start); q.Prob != certain || q.Lower != certain {
			t.Errorf("certain: %+v", q)
		}
	}
	before := 0.
	for p := .01; p < 1; p += .01 {
		q := m.Quote(AllOf(Member{"a", p}, Member{"b", p}), start)
		if !(q.Lower > before && q.Lower < q.Prob) {
			t.Errorf("%v: %+v", p, q)
		}
		before = q.Lower
	}
}

// overconfident returns how often a site's jobs start in time if its forecasts say p.
func overconfident(p float64) float64 { return shifted(.7, -.4, p) }

// shifted returns p with another logit: b times its own, and a.
func shifted(b, a, p float64) float64 { return 1 / (1 + math.Exp(-a)*math.Pow(1/p-1, b)) }

func TestRecalibration(t *testing.T) {
	for name, truth := range map[string]func(float64) float64{
		"honest": func(p float64) float64 { return p }, "overconfident": overconfident,
		"timid": func(p float64) float64 { return shifted(1, 1, p) },
	} {
		random := rand.New(rand.NewPCG(1, 1))
		var m Model
		kept := map[float64]int{}
		promised := map[float64]int{}
		now, off, n := int64(start), 0., 0
		for i := range 6000 {
			p := .3 + .699*random.Float64()
			q := m.Quote(AnyOf(Member{"a", p}, Member{"b", 1e-12}), now)
			came := random.Float64() < truth(p)
			if i >= 500 {
				off, n = off+math.Abs(q.Prob-truth(p)), n+1
				for _, level := range []float64{.5, .75, .9} {
					if q.Lower >= level && q.Lower < level+.05 {
						promised[level]++
						if came {
							kept[level]++
						}
					}
				}
			}
			now += 1800
			m.Came(Any, q.Joint, came, now)
		}
		if off/float64(n) > .03 {
			t.Errorf("%s: probabilities are off by %.3f", name, off/float64(n))
		}
		for level, all := range promised {
			share := float64(kept[level]) / float64(all)
			t.Logf("%s: %d promises of %v, kept %.3f", name, all, level, share)
			if share < level || share > level+.2 {
				t.Errorf("%s: of %d promises of %v, %v were kept", name, all, level, share)
			}
		}
		if all := m.Quote(AllOf(Member{"a", .9}, Member{"b", .9}), now); math.Abs(all.Prob-.81) > 1e-12 {
			t.Errorf("%s: what comes of any-of changes all-of: %v", name, all)
		}
	}
}

// TestWayBack: after misses that end all promises, time brings the beginning back.
func TestWayBack(t *testing.T) {
	var m Model
	for i := range int64(200) {
		m.Came(All, .9, false, start+i*hour)
	}
	g := AllOf(Member{"a", .95}, Member{"b", .95})
	now := int64(start + 200*hour)
	if q := m.Quote(g, now); q.Prob > .2 {
		t.Errorf("%+v after 200 misses", q)
	}
	if q := m.Quote(g, now+3000*day); math.Abs(q.Prob-q.Joint) > 1e-9 {
		t.Errorf("%+v when all is forgotten", q)
	}
}

// TestBurst: a thousand misses in one hour do not end all promises.
func TestBurst(t *testing.T) {
	var burst, apart Model
	for i := range int64(1000) {
		burst.Came(Any, .9, false, start)
		apart.Came(Any, .9, false, start+i*hour)
	}
	g := AnyOf(Member{"a", .8}, Member{"b", .5})
	if p := burst.Quote(g, start).Prob; p < .2 || p > .8 {
		t.Errorf("%v after a burst", p)
	}
	if p := apart.Quote(g, start+1000*hour).Prob; p > .1 {
		t.Errorf("%v after as many misses in 1000 hours", p)
	}
}

// TestNothingLearnt: impossible outcomes teach nothing, and neither does time that goes back.
func TestNothingLearnt(t *testing.T) {
	var m Model
	m.Came(Single, .5, true, start)
	m.Came(kinds, .5, true, start)
	for _, p := range []float64{0, 1, -1, 2, math.NaN()} {
		m.Came(Any, p, false, start)
	}
	m.Came(Any, .5, true, -5)
	if diff := cmp.Diff(new(Model).State(), m.State()); diff != "" {
		t.Errorf("learnt:\n%s", diff)
	}
	m.Came(Any, .5, true, start)
	m.Came(Any, .5, true, start-day)
	if at := m.State().Any.At; at != start {
		t.Errorf("the last outcome was at %d", at)
	}
}

func TestState(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	var m Model
	d, now := lived(gaussian(.5), 30, random)
	m.Dependence = d
	for i := range int64(50) {
		m.Came(Any, random.Float64(), random.IntN(3) > 0, now+i*hour)
		m.Came(All, random.Float64(), random.IntN(3) > 0, now+i*hour)
		m.Came(Nested, random.Float64(), random.IntN(3) > 0, now+i*hour)
	}
	text, err := json.Marshal(m.State())
	if err != nil {
		t.Fatal(err)
	}
	var s State
	var again Model
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	if err := again.Restore(s); err != nil {
		t.Fatal(err)
	}
	now += 60 * hour
	a, b, c := Member{"a", .8}, Member{"b", .6}, Member{"c", .9}
	for _, g := range []Group{AnyOf(a, b), AllOf(a, b), {{a, b}, {c}}} {
		if got, want := again.Quote(g, now), m.Quote(g, now); got != want || want.Strongest.Correlation < .3 || want.Prob == want.Joint {
			t.Errorf("%v: %+v, want %+v", g, got, want)
		}
	}
	for want, change := range map[string]func(*State){
		"recalibration of groups: precision [-1 0 0], shift [0 0] at 0: no outcomes lead to that; begin anew without it":  func(s *State) { s.Any = stats.Platt{Precision: [3]float64{-1}} },
		"recalibration of groups: precision [1 3 1], shift [0 0] at 0: no outcomes lead to that; begin anew without it":   func(s *State) { s.All = stats.Platt{Precision: [3]float64{1, 3, 1}} },
		"recalibration of groups: precision [0 0 0], shift [NaN 0] at 0: no outcomes lead to that; begin anew without it": func(s *State) { s.Nested = stats.Platt{Shift: [2]float64{math.NaN()}} },
		`windows of "c": number 1, of hour 0 with 0 jobs, is not later than those before it, or has no jobs; send one window an hour, in order`: func(s *State) {
			s.Sites["c"] = []Window{{}}
		},
		"200 sites are more than the 128 that are remembered; leave some out": func(s *State) {
			for i := range 198 {
				s.Sites[string(rune('A'+i))+"."] = nil
			}
		},
	} {
		bad := again.State()
		change(&bad)
		if err := again.Restore(bad); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if diff := cmp.Diff(m.State(), again.State()); diff != "" {
		t.Errorf("a wrong state changed something:\n%s", diff)
	}
}

// FuzzQuote: whatever state is restored, quotes are probabilities.
func FuzzQuote(f *testing.F) {
	f.Add([]byte(`{"sites":{"a":[{"hour":1,"n":2,"sum":1,"squares":2}]},"any":{"precision":[1,0,1],"shift":[1,1],"at":5}}`), .5, .9, int64(9))
	f.Add([]byte(`{"all":{"precision":[1e300,0,1e300],"shift":[1e308,-1e308]}}`), 1., 1e-300, int64(-9))
	f.Fuzz(func(t *testing.T, text []byte, p, r float64, now int64) {
		var s State
		var m Model
		if json.Unmarshal(text, &s) != nil || m.Restore(s) != nil {
			t.Skip()
		}
		a, b, c := Member{"a", p}, Member{"b", r}, Member{"c", p / 2}
		for _, g := range []Group{AnyOf(a, b), AllOf(a, a), {{a, b}, {c}}} {
			q := m.Quote(g, now)
			m.Came(g.Kind(), q.Joint, true, now)
			for _, p := range []float64{q.Independent, q.Joint, q.Prob, q.Lower, q.Least, q.Most} {
				if !(p >= 0 && p <= 1) {
					t.Fatalf("%+v", q)
				}
			}
			if err := m.Restore(m.State()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
