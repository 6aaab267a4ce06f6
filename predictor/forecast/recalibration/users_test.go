package recalibration

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/forecasttest"
)

// TestUsers: if one user of eleven waits three times as long as forecast, probabilities come true
// as often as they say for her, and for the others.
func TestUsers(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	r := New()
	raw := forecasttest.Exponential(1000)
	covered, asked := map[bool]float64{}, map[bool]float64{}
	for i := range 20_000 {
		user, slow := fmt.Sprint(i%11), i%11 == 0
		seconds := 1000 * random.ExpFloat64()
		if slow {
			seconds *= 3
		}
		var got Forecast
		r.Apply(user, raw, &got)
		v := random.Float64()
		if i > 10_000 {
			asked[slow]++
			if got.Wait.PIT(seconds, v) <= .9 {
				covered[slow]++
			}
		}
		r.Learn(user, .1, raw, &got, seconds, v)
	}
	for slow, n := range asked {
		if share := covered[slow] / n; math.Abs(share-.9) > .03 {
			t.Errorf("slow %v: .9 covers %.3f", slow, share)
		}
	}
}

// TestUsersAreBounded: of many users, those with the newest outcomes are remembered.
func TestUsersAreBounded(t *testing.T) {
	all := users{byName: map[string]*user{}}
	for i := range 2*mostUsers + 10 {
		all.learn(fmt.Sprint(i), .5)
		all.learn("often", .5)
	}
	if len(all.byName) != mostUsers || all.byName["often"] == nil || all.byName[fmt.Sprint(2*mostUsers+9)] == nil || all.byName["7"] != nil {
		t.Errorf("%d users are remembered", len(all.byName))
	}
}

// TestSampleOfUser compares the size of the sample that a user's curve rests on with Kish's
// formula, applied to the weights of all its outcomes.
func TestSampleOfUser(t *testing.T) {
	for _, own := range []int{0, 1, 10, 100, 1000, 10_000} {
		var hers sample
		all := sample{priorOutcomes, priorOutcomes}
		for range 3000 {
			all.learn(decays[0])
		}
		for range own {
			hers.learn(decays[0])
		}
		total, squares := 0., 0.
		add := func(weight float64) { total, squares = total+weight, squares+weight*weight }
		for i := range own {
			add(math.Pow(decays[0], float64(i)))
		}
		for i := range 3000 {
			add(sharedOutcomes / all.total * math.Pow(decays[0], float64(i)))
		}
		for range int(priorOutcomes) {
			add(sharedOutcomes / all.total * math.Pow(decays[0], 3000))
		}
		if got, want := hers.with(all.effective()), total*total/squares; math.Abs(got-want) > .01*want {
			t.Errorf("%d outcomes of hers: %v, want %v", own, got, want)
		}
	}
}

// TestBoundsOfUsers: the fewer outcomes a probability rests on, the lower its bound.
func TestBoundsOfUsers(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	r, raw := New(), forecasttest.Exponential(1000)
	learn := func(user string, outcomes int) {
		for range outcomes {
			var got Forecast
			r.Apply(user, raw, &got)
			r.Learn(user, 1, raw, &got, 1000*random.ExpFloat64(), random.Float64())
		}
	}
	learn("many", 3000)
	learn("some", 100)
	margin := func(user string) float64 {
		low := *raw
		r.LowerBounds(user, raw, &low)
		return raw.Within(700) - low.Within(700)
	}
	if many, none, some := margin("many"), margin("none"), margin("some"); !(0 < many && many <= none && none < some) {
		t.Errorf("margins of %v with many outcomes, %v without, %v with some", many, none, some)
	}
}
