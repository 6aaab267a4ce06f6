package told

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

func TestEvidence(t *testing.T) {
	const now = 1_700_000_000
	simulating := []api.Component{{Forecaster: "qbets", Share: .4}, {Forecaster: "forest", Share: .6, Simulated: "FCFS with EASY backfilling"}}
	for want, e := range map[string]api.Evidence{
		"no past wait: none of jobs like it is known": {},
		"12 past waits":                        {Sample: 12},
		"what runs and waits in reservation r": {Class: "reservation r"},
		"12 past waits of jobs like it (main)": {Sample: 12, Class: "main"},
		"12 past waits, the newest: those before are still being learnt, and the answer may be otherwise in some minutes":        {Sample: 12, Learning: true},
		"12 past waits and, as more work is ahead than was ever learnt from, simulations of the queue":                           {Sample: 12, Beyond: .2},
		"12 past waits; with a probability of 7 % running jobs leave no room for it now":                                         {Sample: 12, Taken: .07},
		"past waits of jobs like it (main), and from simulations of the queue":                                                   {Sample: 887, Class: "main", Components: simulating},
		"past waits and, as more work is ahead than was ever learnt from, simulations of the queue":                              {Sample: 887, Beyond: .2, Components: simulating},
		"no past wait: none of jobs like it is known; the queue was read 00:00:31 ago, and jobs that came since are not counted": {AsOf: now - 31},
		"12 past waits; the queue was read 00:00:45 ago, and jobs that came since are not counted":                               {Sample: 12, AsOf: now - 45},
		"1 past wait": {Sample: 1, AsOf: now - 30},
	} {
		if got := Evidence(&e, now); got != want {
			t.Errorf("%+v: %q, not %q", e, got, want)
		}
	}
}

// During an outage it is told, too, how old the queue is.
func TestBasis(t *testing.T) {
	const now = 1_700_000_000
	got := Basis(&api.Evidence{Down: "all nodes are down", AsOf: now - 60}, now)
	if want := "Nothing can be promised now: all nodes are down; the queue was read 00:01:00 ago, and jobs that came since are not counted."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A job that may start at once is eligible now, and one that has to wait is told for how long.
func TestEligible(t *testing.T) {
	const now = 1_700_000_000
	for begin, want := range map[int64]string{now: "now", now - 5: "now", now + 90: "2023-11-14T22:14:50, 00:01:30 from now"} {
		lines := Plan(&api.Plan{BeginTime: begin, TimeLimit: 3600, WorkLimit: 3600}, &api.PlanRequest{}, now, time.UTC)
		if got := lines[0]; got != (Line{"Eligible", want}) {
			t.Errorf("from %d on: %q, want %q", begin-now, got, want)
		}
	}
}

// Of a promise whose forecast has fallen since it was offered, both are told.
func TestOffered(t *testing.T) {
	const now = 1_700_000_000
	lines := Plan(&api.Plan{Prob: .9, Forecast: .7, Offered: now - 40, Estimate: .93}, &api.PlanRequest{}, now, time.UTC)
	offered := Line{"Offered", "at 2023-11-14T22:12:40, with a probability of 0.93: it is promised as it was offered"}
	if i := slices.Index(lines, offered); i < 1 || !strings.HasPrefix(lines[i-1].Text, "0.70, from ") {
		t.Errorf("%+v", lines)
	}
}
