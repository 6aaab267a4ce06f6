package blend

import (
	"fmt"
	"math"
	"testing"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/workload"
)

// TestOneUser: however long, or short, the waits of a thousand jobs of one user are, for a
// reason of her own, the forecasts for 20 others change by no more than one user of 21 counts.
// Those for her follow.
func TestOneUser(t *testing.T) {
	const mean, own = 1000., 1000
	for name, hers := range map[string]float64{"long": 50_000, "none": 0} {
		t.Run(name, func(t *testing.T) {
			l := newLife(6, always("mean", forecasttest.Exponential(mean)), always("long", forecasttest.Exponential(50*mean)))
			job := func(user string) (workload.Job, forecast.Answer) {
				l.id++
				l.now++
				j := workload.Job{ID: l.id, Submit: l.now, Eligible: l.now}
				j.User = user
				q := forecast.AtSubmission(&j)
				var a forecast.Answer
				l.Forecast(&q, &a)
				return j, a
			}
			for i := range 3000 {
				j, _ := job(fmt.Sprint("user", i%20))
				l.Submitted(&j)
				l.wait(j, mean*l.random.ExpFloat64())
			}
			asked := []string{"user3", "newcomer", ""}
			// covers returns how often waits of others are within the p-quantile of their
			// forecasts.
			covers := func(user string, p float64) float64 {
				_, a := job(user)
				return 1 - math.Exp(-a.Wait.Quantile(p)/mean)
			}
			levels := []float64{.5, .75, .9, .95}
			before := map[string][]float64{}
			for _, user := range asked {
				for _, p := range levels {
					before[user] = append(before[user], covers(user, p))
				}
			}
			_, first := job("mallory")
			burst := make([]workload.Job, own)
			for i := range burst {
				burst[i], _ = job("mallory")
				l.Submitted(&burst[i])
			}
			for _, j := range burst {
				l.wait(j, hers)
			}
			for _, user := range asked {
				for k, p := range levels {
					if after := covers(user, p); math.Abs(after-before[user][k]) > .08 {
						t.Errorf("%q: %v covers %.3f, before %.3f", user, p, after, before[user][k])
					}
				}
			}
			if _, a := job("user3"); a.Opinions[0].Weight < .9 {
				t.Errorf("the better expert of two has the weight %.3f", a.Opinions[0].Weight)
			}
			if _, last := job("mallory"); (last.Wait.Quantile(.9) > first.Wait.Quantile(.9)) != (hers > mean) {
				t.Errorf("her .9-quantile is %.0f s, before %.0f s", last.Wait.Quantile(.9), first.Wait.Quantile(.9))
			}
		})
	}
}
