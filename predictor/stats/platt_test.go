package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// slowPlatt finds the most likely parameters by Newton's method, from all outcomes with
// their weights.
func slowPlatt(logits, weights []float64, came []bool) (a, b float64) {
	b = 1
	for range 50 {
		ga, gb := -a/(deviationA*deviationA), (1-b)/(deviationB*deviationB)
		aa, ab, bb := 1/(deviationA*deviationA), 0., 1/(deviationB*deviationB)
		for i, x := range logits {
			p := logistic(a + b*x)
			surprise, info := -p, weights[i]*p*(1-p)
			if came[i] {
				surprise++
			}
			ga, gb = ga+weights[i]*surprise, gb+weights[i]*surprise*x
			aa, ab, bb = aa+info, ab+info*x, bb+info*x*x
		}
		det := aa*bb - ab*ab
		a, b = a+(bb*ga-ab*gb)/det, b+(aa*gb-ab*ga)/det
	}
	return a, b
}

// TestPlattOnLine: learning outcome by outcome gives nearly the same as learning from all outcomes
// at once.
func TestPlattOnLine(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 20 {
		var r Platt
		var logits, weights []float64
		var came []bool
		now := int64(1_800_000_000)
		for range 800 {
			p := .2 + .79*random.Float64()
			yes := random.Float64() < logistic(.7*logit(p)-.4)
			if random.IntN(3) == 0 {
				now += hour
			}
			r.Learn(p, yes, now)
			weight := 1 / float64(r.Burst)
			for i := range weights {
				weights[i] *= math.Pow(keep, weight)
				if r.Burst == 1 {
					weights[i] *= math.Exp2(-float64(hour) / fade)
				}
			}
			logits, weights, came = append(logits, logit(p)), append(weights, weight), append(came, yes)
		}
		a, b := slowPlatt(logits, weights, came)
		for _, p := range []float64{.3, .6, .9, .97} {
			got, _ := r.Prob(p, now)
			if want := logistic(a + b*logit(p)); math.Abs(got-want) > .02 {
				t.Errorf("%v becomes %v, with all outcomes %v", p, got, want)
			}
		}
	}
}

// Of a forecast whose ranks are not uniform it learns how they are distributed. Before undoes Prob.
func TestPlattRanks(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	var r Platt
	now := int64(1_800_000_000)
	for range 3000 {
		now += hour
		r.LearnRank(logistic((logit(random.Float64())-.8)/.85), now)
	}
	for _, level := range []float64{.1, .5, .75, .9, .95} {
		got, lower := r.Prob(level, now)
		if want := logistic(.8 + .85*logit(level)); math.Abs(got-want) > .03 || !(lower < got) {
			t.Errorf("%v comes true in %v, and is replaced by %v, at least %v", level, want, got, lower)
		}
		if before := r.Before(got, now); math.Abs(before-level) > 1e-9 {
			t.Errorf("%v is %v before", level, before)
		}
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}
