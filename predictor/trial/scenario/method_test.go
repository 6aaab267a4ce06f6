package scenario

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/outlook"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/workload"
)

// With every method, the same seed chooses the same jobs and gives the same result, and
// Callbacks.Answered is called for each request.
func TestMethods(t *testing.T) {
	jobs := busy(1500)
	for _, m := range []Method{QBETS, History, Blend} {
		s := Scenario{Procs: 64, Backfill: sched.EASY, Seed: 6,
			Reservations: Reservations{VARQ: &VARQ{Share: .1, Prob: .5, Every: 6 * 3600, Method: m}}}
		if m == Blend {
			jobs = jobs[:300]
		}
		refused, promised, kept := 0, 0, 0
		got, err := s.Run(each(jobs), Callbacks{Answered: func(r Outcome) {
			switch {
			case r.Refusal != "":
				refused++
			case r.Prob < .5 || r.Begin < r.Asked || r.Start < r.Begin || r.Deadline%(6*3600) != 0:
				t.Errorf("%v: %+v", m, r)
			case r.Kept():
				kept++
				fallthrough
			default:
				promised++
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if v := got.VARQ; v.Promised == 0 || refused != v.Asked-v.Promised || promised != v.Promised || kept != v.Kept {
			t.Errorf("%v: Answered counted %d refusals and %d promises, %d of them kept, with %+v", m, refused, promised, kept, got.VARQ)
		}
		if diff := cmp.Diff(got, simulate(t, s, jobs)); diff != "" {
			t.Errorf("%v: not the same again:\n%s", m, diff)
		}
	}
}

// TestDefaultIsVarqds: reservations without further settings are what varqd makes. After the
// same past, the forecaster of the default method gives the answers that varqd's gives, and
// the planner has varqd's bounds.
func TestDefaultIsVarqds(t *testing.T) {
	reservations, err := ParseReservations("varq=10%")
	if err != nil {
		t.Fatal(err)
	}
	v := reservations.VARQ
	if want := config.Default().Plan.MaxHold; v.MaxHold != want || v.MaxCost != 1 {
		t.Errorf("holds %v time limits at most, want %v, and %v times the quote, want 1", v.MaxHold, want, v.MaxCost)
	}

	now := int64(0)
	daemon := outlook.New(outlook.Options{Confidence: config.Default().Forecast.Confidence, Now: func() int64 { return now }})
	model := daemon.NewModel(nil)
	var known queue.Queue
	simulated := v.Method.newForecaster(&known, nil, rand.New(rand.NewPCG(1, 1)))
	var cases []workload.Job
	for _, j := range busy(400) {
		cases = append(cases, workload.Job{
			ID: j.ID, Request: workload.Request{Size: workload.Size{Nodes: j.Procs, CPUs: j.Procs}, Limit: j.Limit},
			Submit: j.Submit, Eligible: j.Submit, Start: j.Submit + j.ID%7*600, End: j.Submit + j.ID%7*600 + j.Run,
		})
	}
	for _, e := range forecast.Events(cases) {
		now = e.At
		model.Observe(&e)
		e.Tell(&known, simulated)
	}
	model.Serve()
	r := workload.Request{Size: workload.Size{Nodes: 4, CPUs: 4}, Limit: 3600}
	var c []workload.Candidate
	for lead := range int64(12) {
		c = append(c, workload.Candidate{Submit: now + 1800*lead, Limit: 7200 - 300*lead, Budget: 21600 - 1800*lead})
	}
	want, got := make([]workload.Estimate, len(c)), make([]workload.Estimate, len(c))
	daemon.Forecast(r, now, c, want)
	simulated.Forecast(r, now, c, got)
	if diff := cmp.Diff(want, got); diff != "" || want[0].Prob == 0 {
		t.Errorf("%v forecasts unlike varqd (-varqd +simulated):\n%s", v.Method, diff)
	}
}
