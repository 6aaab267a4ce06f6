package desk

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/workload"
)

func TestPredict(t *testing.T) {
	s := newSite(t)
	p, err := s.desk.Predict(t.Context(), "alice", &api.PredictRequest{})
	if err != nil || len(p.Bounds) != 4 || p.Job.Partition != "main" || p.Waiting != 31 || p.Running != 80 {
		t.Errorf("%+v, %v", p, err)
	}
	wait := delay.At(delay.Index(600))
	for _, b := range p.Bounds[:3] {
		if b.Expected == nil || *b.Expected > wait || b.Seconds == nil || *b.Seconds > wait || *b.Seconds < *b.Expected {
			t.Errorf("the %v quantile: expected %v, at most %v; all wait 600 s", b.Quantile, b.Expected, b.Seconds)
		}
	}
	if b := s.predicted(.99).Bounds[0]; b.Expected == nil || b.Seconds != nil {
		t.Errorf("%+v: what is expected is certain, what is promised no more than .98", b)
	}
	// quote says the same
	for _, b := range p.Bounds {
		for less, promised := range map[int64]bool{0: true, 60: false} {
			quote, err := s.desk.Plan(t.Context(), "alice", &api.PlanRequest{BeginBy: s.Clock + int64(*b.Seconds) - less, BestEffort: true, Prob: b.Quantile}, false)
			if err != nil || (quote.Plan != nil) != promised {
				t.Errorf("within %v s less %d: %+v, %v", *b.Seconds, less, quote, err)
			}
		}
	}
	want := api.Evidence{Sample: 1000, Class: "all", Calibrated: 512, Components: []api.Component{
		{Forecaster: "forest", Share: .7, Sample: 1200}, {Forecaster: "qbets", Share: .3, Sample: 400, Class: "all", Changed: 17},
	}}
	if diff := cmp.Diff(want, p.Evidence); diff != "" {
		t.Error(diff)
	}
	if _, err := s.desk.Predict(t.Context(), "alice", &api.PredictRequest{Job: workload.Request{Partition: "none"}}); !errors.Is(err, api.ErrInvalid) {
		t.Errorf("an unknown partition: %v", err)
	}
}

// Downey's predictors have quantiles, but no bounds on which a promise could rest.
func TestPredictDowney(t *testing.T) {
	s := newSite(t)
	p, err := s.desk.Predict(t.Context(), "alice", &api.PredictRequest{Forecaster: api.ForecasterDowney})
	if err != nil || p.Sample != 300 || p.Components != nil {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, b := range p.Bounds {
		if b.Expected == nil || *b.Expected > delay.At(delay.Index(600)) || b.Seconds != nil {
			t.Errorf("the %v quantile: expected %v, at most %v", b.Quantile, b.Expected, b.Seconds)
		}
	}
}

// Where nothing is promised within the horizon, that takes one plan, however many quantiles
// are asked for; and where something is, none is promised sooner than a lower one.
func TestPredictTakesFewPlans(t *testing.T) {
	s := newSite(t)
	asked := func(quantiles ...float64) (n int, bounds []api.Bound) {
		before := s.Outlook.Asked[0]
		p, err := s.desk.Predict(t.Context(), "alice", &api.PredictRequest{Quantiles: quantiles})
		if err != nil {
			t.Fatal(err)
		}
		return s.Outlook.Asked[0] - before, p.Bounds
	}
	if _, bounds := asked(.9, .5, .75); bounds[0].Seconds == nil || bounds[1].Seconds == nil || *bounds[0].Seconds < *bounds[1].Seconds || bounds[0].Quantile != .9 {
		t.Errorf("%+v", bounds)
	}
	s.Outlook.Delay = 30 * 86400
	one, _ := asked(.5)
	four, bounds := asked(.5, .75, .9, .95)
	if one == 0 || four != one || bounds[0].Seconds != nil || bounds[3].Seconds != nil {
		t.Errorf("%d candidates for one quantile, %d for four: %+v", one, four, bounds)
	}
}

// It is said where less can be promised than is forecast, as promises made before keep room.
func TestPredictCrowded(t *testing.T) {
	s := newSite(t)
	if p := s.predicted(.5); p.Crowded || p.Bounds[0].Seconds == nil {
		t.Errorf("on its own: %+v", p)
	}
	if a, err := s.desk.Plan(t.Context(), "bob", desktest.Request(desktest.Epoch+7200), true); err != nil || a.Plan == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	s.Outlook.Rooms = 1
	if p := s.predicted(.5); !p.Crowded || p.Bounds[0].Seconds != nil {
		t.Errorf("beside a promise: %+v", p)
	}
}

// It is said by how much less than the forecast a promise counts on, where that makes it later.
func TestPredictCareful(t *testing.T) {
	s := newSite(t)
	s.Outlook.Delay = 3600
	if p := s.predicted(.9); p.Careful != "" || p.Bounds[0].Seconds == nil {
		t.Errorf("as forecast: %+v", p)
	}
	s.Outlook.Lowered = .3
	const want = "of a start within 01:05:17 the forecast is 0.98, and a promise counts on 0.68, as only 1000 past waits are known"
	if p := s.predicted(.9); p.Careful != want || p.Bounds[0].Seconds != nil {
		t.Errorf("lowered: %q, %+v", p.Careful, p.Bounds)
	}
}

// A job that is alone on its nodes is forecast with all their CPUs, as it is when it is promised.
func TestPredictExclusive(t *testing.T) {
	s := newSite(t)
	// the CPUs of the only node that is known
	for exclusive, cpus := range map[bool]int32{false: 1, true: 250} {
		p, err := s.desk.Predict(t.Context(), "alice", &api.PredictRequest{Job: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}}, Needs: &workload.Needs{Exclusive: exclusive}})
		if err != nil || p.Job.CPUs != cpus {
			t.Errorf("exclusive %v: %+v, %v", exclusive, p.Job, err)
		}
	}
}

// No wait is predicted for a job if no node, or no time limit of its partition, is large enough for
// it.
func TestPredictNever(t *testing.T) {
	s := newSite(t)
	for want, req := range map[string]*api.PredictRequest{
		"(MaxTime)": {Job: workload.Request{Limit: 2 * 86400}},
		"--cpus-per-task: 0 of the 4 nodes of partition main have 251 CPUs": {
			Job: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 251}}, Needs: &workload.Needs{MostNodes: 1, NodeCPUs: workload.NodeNeed{Amount: 251, Option: "--cpus-per-task"}},
		},
	} {
		if _, err := s.desk.Predict(t.Context(), "alice", req); !errors.Is(err, api.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A job that is too large for its partition is refused, with the partition's name.
func TestPredictTooLarge(t *testing.T) {
	s := newSite(t)
	_, err := s.desk.Predict(t.Context(), "alice", &api.PredictRequest{Job: workload.Request{Size: workload.Size{Nodes: 10_000}}})
	if !errors.Is(err, api.ErrInvalid) || !strings.Contains(err.Error(), "nothing is predicted for such a job: partition main has ") {
		t.Errorf("%v", err)
	}
}

func TestPredictWhileDown(t *testing.T) {
	s := newSite(t)
	s.Outlook.Down = "no node of partition main can start jobs"
	if p := s.predicted(.5); p.Down != s.Outlook.Down || p.Bounds[0].Expected != nil || p.Bounds[0].Seconds != nil {
		t.Errorf("%+v", p)
	}
}

func TestForecastersHearOfNodes(t *testing.T) {
	if s := newSite(t); s.Outlook.Nodes != 1 {
		t.Errorf("they heard of %d nodes", s.Outlook.Nodes)
	}
}
