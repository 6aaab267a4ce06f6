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

// TestLeast compares the size with the least of those for all numbers of a user's outcomes.
func TestLeast(t *testing.T) {
	for _, all := range []float64{10, 150, 250, 1000, 1e5} {
		s := sample{all, all}
		want := math.Inf(1)
		for n := 0.; n < 2000; n++ {
			want = min(want, (n+sharedOutcomes)*(n+sharedOutcomes)/(n+sharedOutcomes*sharedOutcomes/all))
		}
		if got := s.least(); math.Abs(got-want) > .5 {
			t.Errorf("of %v: %v, want %v", all, got, want)
		}
	}
}
