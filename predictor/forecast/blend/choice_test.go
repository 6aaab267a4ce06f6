package blend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
)

// TestChoiceAgainstOracle compares the mixture with one by sums over all past outcomes.
func TestChoiceAgainstOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	type outcome struct {
		of              [2]delay.Distribution // raw, recalibrated
		seconds, weight float64
		user            string
	}
	c := newChoice()
	var past []outcome
	for range 60 {
		o := outcome{user: []string{"", "alice", "bob"}[random.IntN(3)]}
		for k := range o.of {
			o.of[k] = *forecasttest.Exponential(100 * math.Exp(4*random.Float64()))
		}
		// loss is the decayed sum of the scores of a forecast at a delay.
		loss := func(k, i int, weightOf func(*outcome) float64) float64 {
			sum, decayed := 0., 1.
			for n := len(past) - 1; n >= 0; n-- {
				p, came := &past[n], 0.
				if p.seconds <= delay.At(i) {
					came = 1
				}
				sum += decayed * weightOf(p) * (p.of[k][i] - came) * (p.of[k][i] - came)
				decayed *= math.Pow(choiceDecay, weightOf(p))
			}
			return sum
		}
		hers := func(p *outcome) float64 {
			if o.user != "" && p.user == o.user {
				return 1
			}
			return 0
		}
		var got delay.Distribution
		c.mix(o.user, &o.of[0], &o.of[1], &got)
		last := 0.
		for i := range got {
			sum, want := 0., 0.
			for k := range o.of {
				losses := loss(k, i, func(p *outcome) float64 { return p.weight }) + loss(k, i, hers)
				weight := math.Exp(-choiceRate * (losses - prior*float64(k)))
				sum, want = sum+weight, want+weight*o.of[k][i]
			}
			last = max(last, want/sum)
			if math.Abs(got[i]-last) > 1e-9 {
				t.Fatalf("after %d outcomes %v at %v s, want %v", len(past), got[i], delay.At(i), last)
			}
		}
		o.seconds, o.weight = 1000*random.ExpFloat64(), random.Float64()
		c.learn(o.user, o.weight, &o.of[0], &o.of[1], o.seconds)
		past = append(past, o)
	}
}

// TestChoiceIsBounded: the number of users in memory is bounded.
func TestChoiceIsBounded(t *testing.T) {
	c, d := newChoice(), forecasttest.Exponential(100)
	for i := range 2*mostUsers + 5 {
		c.learn(fmt.Sprint(i), 1, d, d, 100)
	}
	if len(c.users) > mostUsers {
		t.Errorf("%d users are remembered", len(c.users))
	}
}

// TestShock: after a short past, many waits are far longer than any forecast. Then the expert has
// learnt, and its forecasts come true. After 50 of these the upper tail is not far beyond its own.
func TestShock(t *testing.T) {
	const hour = 3600.
	raw := forecasttest.Exponential(hour)
	l := newLife(1, &scripted{name: "expert", says: func(*forecast.Question) *delay.Distribution { return raw }})
	live := func(seconds float64) (tail float64) {
		j, a, _ := l.submit("a")
		l.wait(j, math.Floor(seconds))
		return a.Wait.Quantile(.95) / raw.Quantile(.95)
	}
	for range 200 {
		live(hour * l.random.ExpFloat64())
	}
	for range 60 {
		live(20 * hour * (1 + l.random.Float64()))
	}
	raw = forecasttest.Exponential(20 * hour)
	sum := 0.
	for i := range 350 {
		if tail := live(20 * hour * l.random.ExpFloat64()); i >= 50 {
			sum += tail / 300
		}
	}
	if sum > 1.5 {
		t.Errorf("the .95 quantile is %.2f of the expert's in the mean", sum)
	}
}
