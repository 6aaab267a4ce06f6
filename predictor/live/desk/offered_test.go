package desk

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/workload"
)

// A user who takes an offer that can no longer be promised is told that the queue has changed.
func TestOfferTakenTooLate(t *testing.T) {
	const changed = "the queue has changed since "
	for _, c := range []struct {
		name  string
		user  string
		after int64
		take  func(req *api.PlanRequest, o *api.Offer)
		want  bool
	}{
		{"taken", "alice", 20, func(req *api.PlanRequest, o *api.Offer) { req.BeginBy = o.BeginBy }, true},
		{"by somebody else", "bob", 20, func(req *api.PlanRequest, o *api.Offer) { req.BeginBy = o.BeginBy }, false},
		{"long ago", "alice", 601, func(req *api.PlanRequest, o *api.Offer) { req.BeginBy = o.BeginBy }, false},
		{"another one", "alice", 20, func(req *api.PlanRequest, o *api.Offer) { req.BeginBy = o.BeginBy + 60 }, false},
		{"a greater probability", "alice", 20, func(req *api.PlanRequest, o *api.Offer) { req.BeginBy, req.Prob = o.BeginBy, .97 }, false},
		{"relative to now", "alice", 20, func(req *api.PlanRequest, o *api.Offer) { req.BeginBy = o.BeginBy + 20 }, true},
		{"at once", "alice", 20, func(req *api.PlanRequest, o *api.Offer) { req.BeginBy, req.BestEffort = o.BeginBy, true }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.Outlook.Delay = 3600
			req := desktest.Request(desktest.Epoch + 1800)
			a, err := s.desk.Plan(t.Context(), "alice", req, true)
			if err != nil || a.Refusal == nil || strings.Contains(a.Refusal.Reason, changed) {
				t.Fatalf("%+v, %v", a, err)
			}
			var later *api.Offer
			for i := range a.Refusal.Offers {
				if a.Refusal.Offers[i].Kind == api.OfferLater {
					later = &a.Refusal.Offers[i]
				}
			}
			if later == nil {
				t.Fatalf("%+v", a.Refusal)
			}
			c.take(req, later)
			s.Outlook.Delay = 86400
			s.Clock += c.after
			a, err = s.desk.Plan(t.Context(), c.user, req, true)
			if err != nil || a.Refusal == nil {
				t.Fatalf("%+v, %v", a, err)
			}
			if got := strings.HasPrefix(a.Refusal.Reason, changed); got != c.want {
				t.Errorf("%q", a.Refusal.Reason)
			}
		})
	}
}

// What was offered is remembered with its estimate for as long as the offer holds.
func TestOfferEstimate(t *testing.T) {
	s := newSite(t)
	s.Outlook.Delay = 3600
	req := desktest.Request(desktest.Epoch + 1800)
	a, err := s.desk.Plan(t.Context(), "alice", req, true)
	if err != nil || a.Refusal == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	taken := *req
	for _, o := range a.Refusal.Offers {
		if o.Kind == api.OfferLater {
			taken.BeginBy = o.BeginBy
		}
	}
	for _, c := range []struct {
		user  string
		req   *api.PlanRequest
		after int64
		want  float64
	}{
		{"alice", &taken, 0, .98}, {"alice", &taken, 60, .98}, {"alice", &taken, 100, 0}, {"bob", &taken, 20, 0}, {"alice", req, 20, 0},
	} {
		if got := s.desk.offered.estimate(c.user, c.req, desktest.Epoch+c.after); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// An offer of fewer nodes is taken by a request that asks for nothing else of them.
func TestOfferOfFewerNodesTaken(t *testing.T) {
	asked := api.PlanRequest{BeginBy: 1000, Job: workload.Request{Size: workload.Size{Nodes: 4, CPUs: 8}}, Needs: &workload.Needs{MostNodes: 4, Scale: []workload.Counted{{Option: "--nodes=", Count: 4}}}}
	m := madeOffer{500, asked, api.Offer{Kind: api.OfferNodes, BeginBy: 1000, Nodes: 2, CPUs: 4}}
	got := asked
	got.Job.Size = workload.Size{Nodes: 2, CPUs: 4}
	got.Needs = &workload.Needs{MostNodes: 2, Scale: []workload.Counted{{Option: "--nodes=", Count: 2}}}
	if !m.taken(&got, 510) {
		t.Error("not taken")
	}
	got.Needs.NodeMemory = workload.NodeNeed{Amount: 3000, Option: "--mem"}
	if m.taken(&got, 510) {
		t.Error("taken with more memory")
	}
}
