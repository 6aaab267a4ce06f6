package forecast

import (
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/workload"
)

func TestMoreConfidencePromisesLess(t *testing.T) {
	within := func(confidence float64) float64 {
		p := History(rand.New(rand.NewPCG(1, 1)))
		p.SetConfidence(confidence)
		var a Answer
		for i := range a.Wait {
			a.Wait[i] = .9
		}
		p.present.calibration.Lower(&a.Wait, &a.Lower)
		return a.Lower.Within(delay.At(0))
	}
	if low, high := within(.99), within(.6); !(low < high && high < .9) {
		t.Errorf("of .9 is promised %v at confidence .99, %v at .6", low, high)
	}
}

func TestInherit(t *testing.T) {
	old, fresh := History(rand.New(rand.NewPCG(1, 1))), History(rand.New(rand.NewPCG(1, 1)))
	old.promises.odds[0] = Odds{Missed: 3, Said: 2}
	fresh.Inherit(old)
	if fresh.promises.odds[0] != (Odds{Missed: 3, Said: 2}) || old.promises.odds[0] != unproven {
		t.Error("what has become of promises was not handed over")
	}
}

func TestOutageIsToldToWhoMinds(t *testing.T) {
	p := History(rand.New(rand.NewPCG(1, 1)))
	q := Question{Request: workload.Request{Partition: "main", Limit: 60}, Now: 100, Submit: 100}
	var a Answer
	p.Outage(qbets.Outage{Partition: "main", From: 50, Reason: "it is being moved"})
	if p.Forecast(&q, &a) || a.Down != "it is being moved" {
		t.Errorf("down: %q", a.Down)
	}
	p.Outage(qbets.Outage{Partition: "main", From: 50, To: 90})
	if p.Forecast(&q, &a); a.Down != "" {
		t.Errorf("after the outage, down: %q", a.Down)
	}
}
