package predictor

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// TestPromisesAreProbabilities: the probability of a promise is not above the forecast one.
// It does not fall as the forecast rises, and is 0 without a forecast.
func TestPromisesAreProbabilities(t *testing.T) {
	p := newPromises()
	p.odds.all[1] = tally{missed: 1, expected: 4}
	for _, budget := range [...]float64{0, 900, 3600, 1e6} {
		last := 0.
		for wait := 0.; wait <= 1; wait += .01 {
			got := p.odds.correct("", wait, wait*wait, budget)
			if got < last || got > wait {
				t.Fatalf("%v of %v with a budget of %v, after %v", got, wait, budget, last)
			}
			last = got
		}
		if p.odds.correct("", 0, 0, budget) != 0 {
			t.Error("a promise without a forecast")
		}
	}
}

// TestPromisesAreKept: promises need a corrected probability of .95. Forecasts err at
// random, and yet .95 of the promises are kept.
func TestPromisesAreKept(t *testing.T) {
	for _, optimism := range [...]float64{.5, 1, 3} {
		random := rand.New(rand.NewPCG(1, 1))
		p := newPromises()
		made, kept := 0, 0
		for id := range int64(20_000) {
			// The most hopeful of ten forecasts. The true risk is often low, and sometimes
			// not.
			miss, said := .5*random.Float64()*random.Float64(), 1.
			for range 10 {
				said = min(said, miss/optimism*(.7+.6*random.Float64()))
			}
			if p.odds.correct("", 1, 1-said, 600) < .95 {
				continue
			}
			j := workload.Job{ID: id, Submit: 1000, Start: 1000 + 300}
			if random.Float64() < miss {
				j.Start = 2000
			}
			p.open.Put(id, promise{submit: 1000, deadline: 1600, budget: 600, miss: said})
			p.score(&j)
			if made++; j.Start < 2000 {
				kept++
			}
		}
		if share := float64(kept) / float64(made); made < 1000 || share < .945 {
			t.Errorf("risks forecast by 1/%v: of %d promises %.3f are kept", optimism, made, share)
		}
	}
}

// TestDisasterIsForgiven: after two days without a kept promise, probabilities are corrected
// to a low value. Half a year later, a high probability is trusted again.
func TestDisasterIsForgiven(t *testing.T) {
	const day = 86_400
	p := newPromises()
	at := int64(1e9)
	for id := range int64(100) {
		at += day / 50
		p.open.Put(id, promise{submit: at - 7200, deadline: at - 6600, budget: 600, miss: .01})
		p.score(&workload.Job{ID: id, Submit: at - 7200, Start: at})
	}
	if got := p.odds.correct("", 1, .99, 600); got > .6 {
		t.Errorf("promises %v on the next day", got)
	}
	for end := at + 180*day; at < end; at += 600 {
		p.score(&workload.Job{ID: -1, Submit: at, Start: at})
	}
	if got := p.odds.correct("", 1, .99, 600); got < .95 {
		t.Errorf("promises %v half a year later", got)
	}
}

// TestPromisesOfOthers: nothing is learnt from a job that was moved, has never started, or
// has no promise.
func TestPromisesOfOthers(t *testing.T) {
	p := newPromises()
	for id := range int64(2) {
		p.open.Put(id, promise{submit: 1000, deadline: 1060, budget: 60, miss: .1})
	}
	p.score(&workload.Job{ID: 0, Submit: 1500, Start: 9000})
	p.drop(&workload.Job{ID: 1})
	p.score(&workload.Job{ID: 2, Submit: 1000, Start: 9000})
	if p.odds.all[0] != prior || len(p.odds.users) > 0 || p.open.Len() > 0 {
		t.Errorf("%+v, %v, %d left", p.odds.all[0], p.odds.users, p.open.Len())
	}
}

// TestOddsAreTakenOver: SetOdds takes over what Odds returns, and ignores values that Odds
// cannot return.
func TestOddsAreTakenOver(t *testing.T) {
	old, fresh := History(Options{}, rand.New(rand.NewPCG(1, 1))), History(Options{}, rand.New(rand.NewPCG(1, 1)))
	for i, user := range []string{"", "alice", "alice", "bob"} {
		made := promise{user: user, submit: 1000, deadline: 2000, budget: 1000 * float64(1+i), miss: .1}
		old.promises.odds.learn(&made, 3000)
	}
	fresh.SetOdds(old.Odds())
	if !slices.Equal(fresh.Odds(), old.Odds()) || math.Abs(fresh.promises.odds.all[1].ratio()-old.promises.odds.all[1].ratio()) > 1e-9 || len(old.Odds()) != 3 {
		t.Errorf("%v, want %v", fresh.Odds(), old.Odds())
	}
	good := forecast.Odds{Missed: 1, Expected: 1}
	for _, wrong := range [][]forecast.Odds{
		{good, {Range: -1}}, {good, {Range: ranges}}, {good, {Missed: -1}},
		{good, {Missed: math.NaN(), Expected: 1}}, {good, {Missed: 1, Expected: math.Inf(1)}},
	} {
		if fresh.SetOdds(wrong); !slices.Equal(fresh.Odds(), old.Odds()) {
			t.Fatalf("took over %v", wrong)
		}
	}
}

// TestDecisionsCount: a promise keeps the forecast of its decision when it is reviewed, and
// when the job is moved because its promise is no longer good.
func TestDecisionsCount(t *testing.T) {
	p := blended(rand.New(rand.NewPCG(1, 1)), &picky{most: 60})
	q := forecast.Question{Now: 1000, Submit: 1000}
	q.Limit = 60
	p.Promise(7, &q, 3000, true)
	want, _ := p.promises.open.Get(7)
	q.Limit = 100
	p.Promise(7, &q, 3000, true)
	if got, _ := p.promises.open.Get(7); got != want {
		t.Errorf("%+v, was %+v", got, want)
	}
	q.Submit, want.submit = 2000, 2000
	p.Promise(7, &q, 3000, false)
	if got, _ := p.promises.open.Get(7); got != want {
		t.Errorf("moved as it is no longer good: %+v, want %+v", got, want)
	}
	q.Submit = 2500
	p.Promise(7, &q, 3000, true)
	if got, _ := p.promises.open.Get(7); got.budget != 500 || got.submit != 2500 || got.miss == want.miss {
		t.Errorf("moved: still %+v", got)
	}
}

func TestInherit(t *testing.T) {
	old, fresh := History(Options{}, rand.New(rand.NewPCG(1, 1))), History(Options{}, rand.New(rand.NewPCG(1, 1)))
	old.promises.odds.all[0] = tally{missed: 3, expected: 2}
	fresh.Inherit(old)
	if fresh.promises.odds.all[0] != (tally{missed: 3, expected: 2}) || old.promises.odds.all[0] != prior {
		t.Error("what has become of promises was not handed over")
	}
}
