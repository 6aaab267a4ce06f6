package blend

import (
	"math"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/forecast/recalibration"
)

// TestTails: tails make delays possible that are longer than any before. The probabilities
// of other delays hardly change.
func TestTails(t *testing.T) {
	var d delay.Distribution
	for i := delay.Index(600); i < delay.Points; i++ {
		d[i] = 1
	}
	addTails(&d)
	for i := 1; i < delay.Points; i++ {
		if d[i] < d[i-1] || d[i] > 1 {
			t.Fatalf("falls to %v, or rises above 1, after %v", d[i], d[i-1])
		}
	}
	if got := d.Within(700); math.Abs(got-.97) > .001 {
		t.Errorf("what was seen has a probability of %v", got)
	}
	if got := d.Within(3600); got < .985 || got > .995 {
		t.Errorf("six times as long has a probability of %v", got)
	}
	if got := d.Within(1e5); math.Abs(got-1) > 1e-9 {
		t.Errorf("in the end there are %v", got)
	}
}

// TestQueueLongerThanEver: while waits grow longer than any before, recalibrated
// quantiles cover more waits with tails than without.
func TestQueueLongerThanEver(t *testing.T) {
	none := func(*delay.Distribution) {}
	with, without := coverageWhileGrowing(addTails), coverageWhileGrowing(none)
	if with < .9 || without > with-.1 {
		t.Errorf("the .95 quantile covered %.3f, and %.3f without tails", with, without)
	}
}

// coverageWhileGrowing returns the share of delays within the .95 quantile. Without tails,
// each delay is longer than its forecast allows.
func coverageWhileGrowing(tails func(*delay.Distribution)) float64 {
	c := recalibration.New()
	covered := 0
	const n = 3000
	for i := range n {
		seconds := 100 * math.Pow(10, float64(i)/1000)
		raw := forecasttest.Exponential(seconds / 6)
		for k := range raw {
			if delay.At(k) > seconds*.8 {
				raw[k] = 1
			}
		}
		tails(raw)
		var got recalibration.Forecast
		c.Apply("", raw, &got)
		if seconds <= got.Wait.Quantile(.95) {
			covered++
		}
		c.Learn("", 1, raw, &got, seconds, .5)
	}
	return float64(covered) / n
}

// TestTailBeyond: forecasts have been twice too long. As far as the queue lies beyond all that was
// learnt from, only the median is corrected.
func TestTailBeyond(t *testing.T) {
	raw, beyond := forecasttest.Exponential(2000), 0.
	expert := &scripted{name: "expert", says: func(*forecast.Question) *delay.Distribution { return raw }}
	l := newLife(1, expert)
	ask := func() (median, tail float64) {
		expert.beyond = beyond
		j, a, _ := l.submit("a")
		l.wait(j, math.Floor(1000*l.random.ExpFloat64()))
		return a.Wait.Quantile(.5) / raw.Quantile(.5), a.Wait.Quantile(.95) / raw.Quantile(.95)
	}
	for range 2000 {
		ask()
	}
	_, least := ask()
	if least > .6 {
		t.Errorf("ordinarily, the .95 quantile is %.2f of the forecast", least)
	}
	for _, beyond = range []float64{.1, .25, .5, 1} {
		median, tail := ask()
		if median > .7 || tail < least {
			t.Errorf("%v beyond, the quantiles are %.2f and %.2f of the forecast", beyond, median, tail)
		}
		least = tail
	}
	if least < .95 {
		t.Errorf("wholly beyond, the .95 quantile is %.2f of the forecast", least)
	}
}
