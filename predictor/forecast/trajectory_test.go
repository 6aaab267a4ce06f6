package forecast

import (
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/recalibration"
	"github.com/varq-project/varq/predictor/workload"
)

// picky forecasts a start at once for limits up to most, and none for others.
type picky struct {
	most  int64
	asked int
}

func (*picky) Name() string            { return "picky" }
func (*picky) Submitted(*workload.Job) {}
func (*picky) Started(*workload.Job)   {}
func (*picky) Ended(*workload.Job)     {}
func (f *picky) Forecast(q *Question, a *Answer) bool {
	f.asked++
	*a = Answer{}
	if q.Limit <= f.most {
		for i := range a.Wait {
			a.Wait[i] = 1
		}
	}
	return true
}

// TestJumpsAreFound: where a time limit becomes short enough for a start, the
// candidates before are not taken for good, nor those after for bad, though few are
// asked about.
func TestJumpsAreFound(t *testing.T) {
	const now, day = 1_000_000, 86_400
	var c []workload.Candidate
	for at := int64(0); at < day; at += 30 {
		c = append(c, workload.Candidate{Submit: now + at, Limit: 3600 + day - at, Budget: day - at})
	}
	for _, most := range [...]int64{3600 + 100, 4*3600 + 17, 20 * 3600, 2 * day} {
		rng := rand.New(rand.NewPCG(1, 1))
		f := &picky{most: most}
		p := &Predictor{present: NewBlend("present", rng, f), later: NewBlend("later", rng, f), promises: newPromises()}
		for _, b := range []*Blend{p.present, p.later} {
			for range 2000 {
				said := delay.Distribution{}
				for i := range said {
					said[i] = 1
				}
				addTails(&said)
				b.calibration.Learn(&said, &recalibration.Forecast{Wait: said}, 0, rng.Float64())
			}
		}
		est := make([]workload.Estimate, len(c))
		Trajectory{p}.Forecast(workload.Request{}, now, c, est)
		for i := range c {
			if good := est[i].Prob > .5; good != (c[i].Limit <= most) {
				t.Errorf("up to %d: %v at limit %d", most, est[i].Prob, c[i].Limit)
				break
			}
		}
		if f.asked > mostKnots+mostJumps {
			t.Errorf("%d questions", f.asked)
		}
	}
}
