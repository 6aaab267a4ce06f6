package outlook

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/workload"
)

// site has eight nodes of one CPU, on which hardly a job has ever waited. planner plans beside the
// claims made so far.
type site struct {
	*Model
	claims  []workload.Claim
	planner trajectory.Planner
}

func calmSite(t *testing.T) *site {
	t.Helper()
	o := newOutlook()
	s := &site{Model: o.NewModel(func(workload.Place) twin.Pool { return twin.Pool{Name: "main", Size: workload.Size{Nodes: 8, CPUs: 8}} })}
	jobs := varied(now-40*day, now-7200)
	for i := range jobs {
		jobs[i].Start = jobs[i].Submit + 1
	}
	if err := s.Learn(t.Context(), jobs, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	s.Serve()
	s.planner = trajectory.Planner{Forecaster: o, Horizon: day, Room: func(c workload.Claim, now int64, least float64) workload.Room {
		return o.Room(c.Place(), c.Job, now, s.claims)(c, least)
	}}
	return s
}

// ask asks for a node within 20 minutes.
func (s *site) ask(limit int64) trajectory.Answer {
	r := trajectory.Request{Job: varied(now, now+1)[0].Request, Now: now, Deadline: now + 1200, HoldUntil: now + 1200, Prob: .8}
	r.Job.Limit = limit
	return s.planner.Plan(r)
}

// take lets jobs that began some time ago run on all nodes.
func (s *site) take(ago int64) {
	for id := range int64(8) {
		j := workload.Job{ID: 1_000_000 + id, Request: varied(now, now+1)[0].Request, Submit: now - ago, Eligible: now - ago, Start: now - ago, State: workload.Running}
		j.User = "user3"
		for _, e := range forecast.Events([]workload.Job{j}) {
			if e.Kind != forecast.Ended {
				s.Observe(&e)
			}
		}
	}
}

// While jobs with long limits run on all nodes, nothing is promised before they end, though nobody
// waits; and the refusal says why.
func TestTakenNodes(t *testing.T) {
	s := calmSite(t)
	if a := s.ask(600); a.Plan == nil {
		t.Fatalf("refused while all nodes are free: %+v", a.Refusal)
	}
	s.take(300)
	a := s.ask(600)
	if a.Plan != nil || !strings.Contains(a.Refusal.Reason, "leave too little room") {
		t.Errorf("promised %+v, or refused with %+v", a.Plan, a.Refusal)
	}
	for _, o := range a.Refusal.Offers {
		if o.Kind == trajectory.OfferLater && o.Request.Deadline < now+1500 {
			t.Errorf("offers %d s from now", o.Request.Deadline-now)
		}
	}
}

// Of promises for one deadline no more are made than there are nodes, and none that would take the
// nodes of one made before.
func TestPromisesLeaveRoom(t *testing.T) {
	s := calmSite(t)
	for i := range 14 {
		a := s.ask(600)
		if (a.Plan != nil) != (i < 8) {
			t.Fatalf("promise %d: %+v, %+v", i+1, a.Plan, a.Refusal)
		}
		if a.Plan != nil {
			s.claims = append(s.claims, workload.Claim{Request: a.Job, Start: now + 1200, From: now + 1200})
		}
	}
	for i := range s.claims {
		s.claims[i].Start, s.claims[i].From = now+1500, now+1500
	}
	if a := s.ask(3600); a.Plan != nil {
		t.Errorf("what would still run when other promises are due: %+v", a.Plan)
	}
	if a := s.ask(300); a.Plan == nil {
		t.Errorf("what has ended before: %+v", a.Refusal)
	}
}
