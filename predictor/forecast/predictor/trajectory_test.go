package predictor

import (
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/blend"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/workload"
)

// picky forecasts a start at once for limits up to most, and no start for others.
type picky struct {
	most  int64
	asked int
}

func (*picky) Name() string            { return "picky" }
func (*picky) Submitted(*workload.Job) {}
func (*picky) Started(*workload.Job)   {}
func (*picky) Ended(*workload.Job)     {}
func (f *picky) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	f.asked++
	*a = forecast.Answer{}
	if q.Limit <= f.most {
		for i := range a.Wait {
			a.Wait[i] = 1
		}
	}
	return true
}

// blended returns a Predictor of one expert, without any past.
func blended(rng *rand.Rand, one forecast.Forecaster) *Predictor {
	return &Predictor{
		forest:  expert.NewForest(rand.New(rand.NewPCG(1, 2)), nil, nil), // is not asked
		present: blend.New("present", rng, one), later: blend.New("later", rng, one), promises: newPromises(),
	}
}

// TestJumpsAreFound: where a time limit becomes short enough for a start, candidates on both
// sides get different probabilities, though the Predictor is asked about few of them.
func TestJumpsAreFound(t *testing.T) {
	const now, day = 1_000_000, 86_400
	var c []workload.Candidate
	for at := int64(0); at < day; at += 30 {
		c = append(c, workload.Candidate{Submit: now + at, Limit: 3600 + day - at, Budget: day - at})
	}
	for _, most := range [...]int64{3600 + 100, 4*3600 + 17, 20 * 3600, 2 * day} {
		f := &picky{most: most}
		p := blended(rand.New(rand.NewPCG(1, 1)), f)
		for id := range int64(2000) { // until the blend trusts f
			j := workload.Job{ID: id, Submit: now, Eligible: now, Start: now}
			for _, b := range [...]*blend.Blend{p.present, p.later} {
				b.Expect(&j, forecast.AtSubmission(&j))
				b.Score(&j)
			}
		}
		f.asked = 0
		est := make([]workload.Estimate, len(c))
		Trajectory{p}.Forecast(workload.Request{}, now, c, est)
		for i := range c {
			if good := est[i].Prob > .5; good != (c[i].Limit <= most) {
				t.Errorf("up to %d: %v at limit %d", most, est[i].Prob, c[i].Limit)
				break
			}
		}
		if f.asked > mostKnots+mostBisections {
			t.Errorf("%d questions", f.asked)
		}
	}
}
