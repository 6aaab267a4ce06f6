package desk

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/workload"
)

// A quote has the ceiling that --max-cost raises, also for scripts.
func TestQuoteTellsTheCeiling(t *testing.T) {
	s := newSite(t)
	quote := func(c api.MaxCost) api.PlanAnswer {
		t.Helper()
		a, err := s.desk.Plan(t.Context(), "alice", &api.PlanRequest{Job: workload.Request{Size: workload.Size{Nodes: 2}, Limit: 3600}, BeginBy: desktest.Epoch + 7200, MaxCost: c}, false)
		if err != nil || a.Plan == nil || a.Ceiling == nil {
			t.Fatalf("%+v, %v", a, err)
		}
		return a
	}
	if a := quote(api.MaxCost{}); *a.Ceiling != a.Plan.Worst {
		t.Errorf("the ceiling is %v, and %v is quoted", a.Ceiling, a.Plan.Worst)
	}
	if a := quote(api.MaxCost{Times: 2}); a.Ceiling.NodeSeconds != 2*a.Plan.Worst.NodeSeconds || a.Ceiling.NodeSeconds == 0 {
		t.Errorf("the ceiling is %v, and %v is quoted", a.Ceiling, a.Plan.Worst)
	}
}

// Each answer tells when the queue was read on which it rests, also one that refuses.
func TestPlanAsOf(t *testing.T) {
	s := newSite(t)
	s.Outlook.SeenAt = desktest.Epoch - 300
	for name, request := range map[string]*api.PlanRequest{
		"promised": {BeginBy: desktest.Epoch + 7200}, "refused": {BeginBy: desktest.Epoch + 60}, "an end": {FinishBy: desktest.Epoch + 8*3600},
	} {
		request.Job = workload.Request{Size: workload.Size{Nodes: 2}, Limit: 3600}
		a, err := s.desk.Plan(t.Context(), "alice", request, false)
		if err != nil || a.AsOf != desktest.Epoch-300 || (a.Refusal != nil) != (name == "refused") {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// A promise of a cluster in a federation names the cluster, because it is about this cluster's
// queue.
func TestPlanOfFederatedCluster(t *testing.T) {
	s := newSite(t)
	for cluster, federated := range map[string]bool{"": false, "lab": true} {
		s.Slurm.Federated = federated
		s.Refresh()
		request := api.PlanRequest{Job: workload.Request{Size: workload.Size{Nodes: 2}, Limit: 3600}, BeginBy: desktest.Epoch + 7200}
		a, err := s.desk.Plan(t.Context(), "alice", &request, false)
		if err != nil || a.Plan == nil || a.Plan.Cluster != cluster {
			t.Errorf("in a federation %v: %+v, %v", federated, a, err)
		}
		request.BeginBy, request.FinishBy = 0, desktest.Epoch+8*3600
		a, err = s.desk.Plan(t.Context(), "alice", &request, false)
		if err != nil || a.Plan == nil || a.Plan.Cluster != cluster {
			t.Errorf("in a federation %v: %+v, %v", federated, a, err)
		}
	}
}

// While the past is still being learnt, a refusal that rests on a forecast says so, and one that no
// learning can change does not.
func TestRefusalWhileLearning(t *testing.T) {
	s := newSite(t)
	s.Outlook.Learns = true
	for name, c := range map[string]struct {
		nodes    int32
		deadline int64
		end      int64
		learning bool
	}{
		"of an end":      {nodes: 2, end: desktest.Epoch + 4000, learning: true},
		"forecast":       {nodes: 2, deadline: desktest.Epoch + 60, learning: true},
		"too many nodes": {nodes: 1000, deadline: desktest.Epoch + 7200},
		"a far deadline": {nodes: 2, deadline: desktest.Epoch + 400*86400},
	} {
		r := &api.PlanRequest{Job: workload.Request{Size: workload.Size{Nodes: c.nodes}, Limit: 3600}, BeginBy: c.deadline, FinishBy: c.end, Prob: .99}
		a, err := s.desk.Plan(t.Context(), "alice", r, false)
		if err != nil || a.Refusal == nil || strings.HasSuffix(a.Refusal.Reason, stillLearning) != c.learning {
			t.Errorf("%s: %+v, %v", name, a.Refusal, err)
		}
	}
}

// Work that may start from a time in the past on may start from now on.
func TestBeginAfterInThePast(t *testing.T) {
	s := newSite(t)
	r := &api.PlanRequest{Job: workload.Request{Size: workload.Size{Nodes: 2}, Limit: 3600}, BeginBy: desktest.Epoch + 7200, BeginAfter: desktest.Epoch - 3600}
	a, err := s.desk.Plan(t.Context(), "alice", r, false)
	if err != nil || a.Plan == nil || a.Plan.HoldUntil != desktest.Epoch {
		t.Errorf("%+v, %v", a, err)
	}
}

// given is an Outlook whose user gives up during the first forecast if she does not wait.
type given struct {
	*desktest.Outlook
	up    context.CancelFunc
	asked *int
}

func (o given) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	*o.asked++
	o.up()
	o.Outlook.Forecast(r, now, c, est)
}

// A plan that nobody waits for any more is soon done. The offers of its refusal, which take many
// forecasts, are not searched for.
func TestNobodyWaitsForPlan(t *testing.T) {
	forecasts := func(patient bool) int {
		s, asked := newSite(t), 0
		ctx, up := context.WithCancel(t.Context())
		if patient {
			up = func() {}
		}
		s.desk.Outlook = given{s.Outlook, up, &asked}
		hopeless := desktest.Request(desktest.Epoch + 7200)
		hopeless.Prob = .99
		a, err := s.desk.Plan(ctx, "alice", hopeless, true)
		if patient && (err != nil || a.Refusal == nil) || !patient && !errors.Is(err, context.Canceled) {
			t.Errorf("patient %v: %+v, %v", patient, a, err)
		}
		return asked
	}
	if all, few := forecasts(true), forecasts(false); few != 1 || all < 5 {
		t.Errorf("%d forecasts for who waits, and %d for who gives up", all, few)
	}
}

// The end of an array is promised for all its tasks, in as many rounds as the cluster, or a limit,
// lets run at once.
func TestPlanArrayEnd(t *testing.T) {
	s := newSite(t)
	request := func(tasks, atOnce int32) *api.PlanRequest {
		return &api.PlanRequest{
			Job: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 80}, Limit: 3600}, Array: api.Array{Tasks: tasks, AtOnce: atOnce}, FinishBy: desktest.Epoch + 30*3600,
		}
	}
	var ends []int64
	for _, r := range []*api.PlanRequest{request(1, 0), request(3, 0), request(3, 1), request(40, 0)} {
		r.Risk, r.FinishBy = .9, 0
		a, err := s.desk.Plan(t.Context(), "alice", r, false)
		if err != nil || a.Plan == nil {
			t.Fatalf("%+v: %+v, %v", r.Array, a, err)
		}
		if p := a.Plan; p.Tasks != r.Array.Tasks || p.Array != r.Array || p.Work.NodeSeconds != float64(r.Array.Tasks)*3600 || p.HoldUntil != 0 {
			t.Errorf("%+v", p)
		}
		ends = append(ends, a.Plan.FinishBy)
	}
	for i, rounds := range []int64{1, 1, 3, 14} { // there are 250 CPUs
		if want := desktest.Epoch + rounds*(ends[0]-desktest.Epoch); ends[i] != want {
			t.Errorf("%d rounds: by %d, want %d", rounds, ends[i], want)
		}
	}
	a, err := s.desk.Plan(t.Context(), "alice", request(4, 0), true)
	if err != nil || a.Plan == nil || a.Plan.ID == "" {
		t.Fatalf("%+v, %v", a, err)
	}
	e, open, err := s.Ledger.OpenPlan(t.Context(), a.Plan.ID)
	if err != nil || !open || e.Tasks != 4 || e.TasksNodes < 1 || e.Waiting() != 4 {
		t.Errorf("%+v, %v", e, err)
	}
}

// taken has room until a time only.
type taken struct {
	*desktest.Outlook
	until int64
}

func (f taken) Room(workload.Place, int64, int64, []workload.Claim) func(workload.Claim, float64) workload.Room {
	return func(c workload.Claim, _ float64) workload.Room {
		if c.From < f.until {
			return workload.Room{Prob: 1}
		}
		return workload.Room{}
	}
}

// A start that can be promised by an earlier time can be by a later one, though others have the
// nodes then, if the work need not be held until then.
func TestEarlierIsInTime(t *testing.T) {
	s := newSite(t)
	s.desk.Outlook = taken{s.Outlook, desktest.Epoch + 2*3600}
	for _, c := range []struct {
		by         int64
		bestEffort bool
		promised   bool
	}{{3600, true, true}, {4 * 3600, true, true}, {4 * 3600, false, false}} {
		req := desktest.Request(desktest.Epoch + c.by)
		req.BestEffort = c.bestEffort
		a, err := s.desk.Plan(t.Context(), "alice", req, false)
		if err != nil || (a.Plan != nil) != c.promised || c.promised && a.Plan.BeginBy != req.BeginBy {
			t.Errorf("%+v: %+v, %v", c, a, err)
		}
	}
}

// No end is promised by a deadline that is more than a year ahead.
func TestDeadlineFarAhead(t *testing.T) {
	s := newSite(t)
	for ahead, want := range map[int64]bool{furthest: true, furthest + 1: false} {
		req := &api.PlanRequest{Job: desktest.Request(0).Job, FinishBy: desktest.Epoch + ahead}
		if _, err := s.desk.Plan(t.Context(), "alice", req, false); (err == nil) != want || err != nil && (!errors.Is(err, api.ErrInvalid) || !strings.Contains(err.Error(), "more than a year ahead")) {
			t.Errorf("%d s: %v", ahead, err)
		}
	}
}
