package trajectory

import (
	"fmt"
	"math"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// figure4 is a forecaster with the probabilities that the paper's Figure 4 shows for NCSA's
// TeraGrid cluster and a 4-node, 1-hour job 12 hours ahead. The probability decreases from a
// little below .4 to .25. At T+21600 the enlarged job becomes short enough for another
// class, and the probability is about .7. From there it decreases, through .5 at T+40470,
// towards 0 at the deadline.
type figure4 struct{}

func (figure4) Forecast(_ workload.Request, _ int64, c []workload.Candidate, est []workload.Estimate) {
	for i := range c {
		e := workload.Estimate{Sample: 1000}
		switch left := float64(c[i].Budget); {
		case c[i].Limit > 3600+21600:
			e.Class, e.Prob = "long", .25+.14*(left-21600)/21600
		case left >= 2730: // 43200 - 40470
			e.Class, e.Prob = "short", .5+.2*(left-2730)/(21600-2730)
		default:
			e.Class, e.Prob = "short", .5*left/2730
		}
		e.Held = e.Prob * float64(c[i].Budget) / 2
		est[i] = e
	}
}

// asked is the paper's request: 4 nodes for an hour, 12 hours from T = 0, which
// is 2:49 PM on 6 March 2007.
func asked(prob float64) Request {
	return Request{
		Job:      workload.Request{Size: workload.Size{Nodes: 4, CPUs: 8}, Limit: 3600},
		Deadline: 43200, HoldUntil: 43200, Prob: prob,
	}
}

func TestSection3Figure4(t *testing.T) {
	p := &Planner{Forecaster: figure4{}}
	a := p.Plan(asked(.5))
	if n := len(a.Trajectory); n != 1440 {
		t.Fatalf("%d points, want 12 h / 30 s = 1440", n)
	}
	at := func(second int64) float64 { return a.Trajectory[second/30].Prob }
	for i, pt := range a.Trajectory {
		if pt.Begin != int64(30*i) {
			t.Fatalf("point %d is at %d", i, pt.Begin)
		}
	}
	if at(0) >= .4 || at(0) < .35 || math.Abs(at(21570)-.25) > .01 || at(21600) < .699 || at(43170) > .01 {
		t.Errorf("T: %.3f, before the jump: %.3f, after: %.3f, at the end: %.3f",
			at(0), at(21570), at(21600), at(43170))
	}
}

// "we should wait 40470 seconds and then submit a 4 node job requesting 6330
// second", at most 4*(43200-40470) node-seconds more (the paper prints 9,480,
// but the product is 10,920). Slurm counts limits in minutes, so 6330 s become
// 106 min.
func TestSection3WorkedExample(t *testing.T) {
	p := &Planner{Forecaster: figure4{}}
	for _, want := range []struct {
		prob         float64
		begin, limit int64
		worst        float64
	}{
		{.5, 40470, 6360, 10920},
		{.7, 21600, 25200, 86400},
	} {
		t.Run(fmt.Sprint(want.prob), func(t *testing.T) {
			a := p.Plan(asked(want.prob))
			if a.Refusal != nil {
				t.Fatal(a.Refusal.Reason)
			}
			got := a.Plan
			if got.Begin != want.begin || got.Limit != want.limit || got.Worst.NodeSeconds != want.worst {
				t.Errorf("begin T+%d, limit %d s, worst %v node-seconds; want T+%d, %d s, %v",
					got.Begin, got.Limit, got.Worst.NodeSeconds, want.begin, want.limit, want.worst)
			}
			if got.Work.NodeSeconds != 14400 {
				t.Errorf("the work costs %v node-seconds, want 14,400", got.Work.NodeSeconds)
			}
			if got.Expected.NodeSeconds <= 0 || got.Expected.NodeSeconds >= got.Worst.NodeSeconds {
				t.Errorf("expected cost %v is not between nothing and the worst", got.Expected.NodeSeconds)
			}
		})
	}
}

// "if the user had specified a desired success probability greater than 0.7, the
// system would have responded by indicating that no reservation is possible."
func TestSection3Refusal(t *testing.T) {
	p := &Planner{Forecaster: figure4{}}
	a := p.Plan(asked(.71))
	if a.Plan != nil || a.Refusal == nil {
		t.Fatalf("promised %v", a.Plan)
	}
	if want := "a start by 1970-01-01T12:00:00Z, in 12:00:00 and its nodes held until then, can be promised with probability 0.70 at best, not 0.71"; a.Refusal.Reason != want {
		t.Errorf("%q, want %q", a.Refusal.Reason, want)
	}
	// 0.70, less what the forecast may fall until the offer is taken
	if len(a.Refusal.Offers) == 0 || a.Refusal.Offers[0].Kind != OfferProb || a.Refusal.Offers[0].Request.Prob != .68 {
		t.Errorf("the best probability is not offered: %+v", a.Refusal.Offers)
	}
}

// Section 4.6: a best-effort reservation pays for no idle nodes, and a window pays for the
// time until it opens. A job whose nodes need not idle has the work's time limit, and so is
// one of Figure 4's short jobs from the beginning.
func TestSection4Modes(t *testing.T) {
	p := &Planner{Forecaster: figure4{}}
	for _, mode := range []struct {
		name             string
		holdUntil, begin int64
		limit            int64
		worst            float64
	}{
		{"strict", 43200, 40470, 6360, 4 * (43200 - 40470)},
		{"window", 41400, 40470, 4560, 4 * (41400 - 40470)},
		{"window early enough", 40000, 40020, 3600, 0},
		{"best effort", 0, 0, 3600, 0},
	} {
		t.Run(mode.name, func(t *testing.T) {
			r := asked(.5)
			r.HoldUntil = mode.holdUntil
			got := p.Plan(r).Plan
			if got == nil || got.Begin != mode.begin || got.Limit != mode.limit || got.Worst.NodeSeconds != mode.worst {
				t.Fatalf("%+v, want %+v", got, mode)
			}
			if got.Expected.NodeSeconds > got.Worst.NodeSeconds {
				t.Errorf("expected cost %v above the worst", got.Expected.NodeSeconds)
			}
		})
	}
}
