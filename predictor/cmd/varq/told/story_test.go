package told

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// What is said to come next for an endangered promise depends on whether its job can still be
// moved.
func TestNextOfEndangered(t *testing.T) {
	const now = 1000
	for begin, want := range map[int64]string{now + 1: "more idle nodes would not help ('varq accept 7' tells why): 'scancel 7' withdraws the job", now: "cannot be moved any more"} {
		r := api.Reservation{State: api.StatePending, Job: 7, Now: new(.3), Plan: api.Plan{Prob: .9}, Set: api.Setting{BeginTime: begin}}
		if got := Next(&r, now); !strings.Contains(got, want) {
			t.Errorf("eligible at %d: %q, want %q", begin, got, want)
		}
	}
}

// An offer that costs as many hundredths of an hour as was agreed to says how much more it is.
func TestNextOfSmallRescue(t *testing.T) {
	r := api.Reservation{State: api.StatePending, Job: 80, Now: new(.3), Plan: api.Plan{Prob: .9}, Ceiling: api.Cost{NodeSeconds: 150}}
	r.Rescue = &api.Rescue{Prob: .9, Worst: api.Cost{NodeSeconds: 180}}
	if got := Next(&r, 1000); !strings.Contains(got, "may cost 30 node-seconds more than you have agreed to, the probability is 0.90: 'varq accept 80'") {
		t.Error(got)
	}
}

// Whoever reads that something must change reads what.
func TestNextNamesTheObstacle(t *testing.T) {
	const why = "reservation n2 is over when the work is to run"
	start := api.Reservation{State: api.StatePending, Job: 80, Obstacle: why, Plan: api.Plan{Prob: .9, BeginBy: 2000}}
	end := start
	end.Plan = api.Plan{Prob: .9, FinishBy: 2000}
	for want, r := range map[string]*api.Reservation{"start": &start, "end": &end} {
		want = "endangered, since " + why + "; unless that changes, the job does not " + want + " by the deadline: "
		if got := Next(r, 1000); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestStoryOfArray: one task has started, and several have.
func TestStoryOfArray(t *testing.T) {
	for started, want := range map[int32]string{
		0: "2 of 4 tasks at the same time, of which 0 have started", 1: "2 of 4 tasks at the same time, of which 1 has started", 3: "2 of 4 tasks at the same time, of which 2 have started",
	} {
		r := api.Reservation{State: api.StatePending, Started: started, Plan: api.Plan{Prob: .9, Tasks: 2, Array: api.Array{Tasks: 4}}}
		if story := Story(&r, nil, 1000, time.UTC); !slices.Contains(story, Line{"Array", want}) {
			t.Errorf("%d: %+v", started, story)
		}
	}
}

// What is forecast at present is told, also a probability of 0. Where nothing is forecast, that is
// told instead of a probability, and why.
func TestStoryOfNow(t *testing.T) {
	const down = "no node of partition main can start jobs"
	for want, r := range map[string]api.Reservation{
		"probability 0.94":       {Now: new(.94)},
		"probability 0.00: late": {Now: new(0.), Obstacle: "late"},
		"not forecast":           {},
		"not forecast: " + down:  {Obstacle: down},
	} {
		r.State, r.Prob = api.StatePending, .9
		if story := Story(&r, nil, 1000, time.UTC); !slices.Contains(story, Line{"Now", want}) {
			t.Errorf("no %q in %+v", want, story)
		}
	}
	for _, v := range []struct {
		state, want string
		now         *float64
	}{{api.StatePending, "0.00", new(0.)}, {api.StatePending, "-", nil}, {api.StateKept, "-", new(1.)}} {
		if got := Now(&api.Reservation{State: v.state, Now: v.now}); got != v.want {
			t.Errorf("%s: %q, want %q", v.state, got, v.want)
		}
	}
}
