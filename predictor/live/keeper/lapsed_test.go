package keeper

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// submit puts a job of a plan into the queue.
func (s *site) submit(id int64, user string, p *api.Plan) {
	s.Slurm.Pending[id] = slurm.QueueEntry{Job: workload.Job{
		ID: id, Submit: s.Clock, Eligible: p.BeginTime, State: workload.Pending, Comment: p.Comment,
		Request: workload.Request{User: user, Partition: "main", Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: p.TimeLimit},
	}}
}

// ask asks for a promise to user, and returns the plan, or nil if it is refused.
func (s *site) ask(user string) *api.Plan {
	s.T.Helper()
	a, err := s.desk.Plan(s.T.Context(), user, desktest.Request(desktest.Epoch+7200), true)
	if err != nil {
		s.T.Fatal(err)
	}
	return a.Plan
}

// alice gives up room, by taking her plan back or by not submitting its job. Once bob is promised
// the room, it is his. alice's job does not get it, whether varqd was killed in between or not, and
// bob's job keeps it.
func TestRoomIsPromisedOnce(t *testing.T) {
	takeBack := func(s *site, plan string) {
		if err := s.keeper.Cancel(t.Context(), "alice", api.Cancellation{Plan: plan}); err != nil {
			t.Fatal(err)
		}
	}
	for name, giveUp := range map[string]func(s *site, plan string){
		"taken back":                      takeBack,
		"taken back, and varqd is killed": func(s *site, plan string) { takeBack(s, plan); s.crash() },
		"without a job for long":          func(s *site, _ string) { s.Clock += 120 },
	} {
		for _, binds := range []string{"found in the queue", "told"} {
			s := newSite(t)
			s.Outlook.Rooms = 1
			hers := s.ask("alice")
			giveUp(s, hers.ID)
			his := s.ask("bob")
			if his == nil {
				t.Fatalf("%s: bob is refused", name)
			}
			s.submit(7, "alice", hers)
			s.submit(8, "bob", his)
			if binds == "told" {
				if err := s.keeper.Bind(t.Context(), "alice", api.Binding{Plan: hers.ID, Job: 7}); !errors.Is(err, api.ErrConflict) || !strings.Contains(fmt.Sprint(err), "too little room") {
					t.Errorf("%s: %v", name, err)
				}
			}
			for range 2 {
				if err := s.watch(); err != nil {
					t.Fatal(err)
				}
			}
			e, err := s.keeper.planOf(t.Context(), "alice", hers.ID)
			if err != nil || e.Open || e.State != api.StateCancelled || !strings.HasPrefix(e.Note, "job 7 has taken up the plan") {
				t.Errorf("%s, %s: alice's: %+v, %v", name, binds, e, err)
			}
			if e, err := s.keeper.planOf(t.Context(), "bob", his.ID); err != nil || e.Job != 8 {
				t.Errorf("%s, %s: bob's: %+v, %v", name, binds, e, err)
			}
		}
	}
}

// A job that is held before its begin time, and may be released in time, keeps its room. The room
// is not promised to others meanwhile.
func TestHeldKeepsRoom(t *testing.T) {
	s := newSite(t)
	s.Outlook.Rooms = 1
	p := s.ask("alice")
	s.submit(7, "alice", p)
	for _, held := range []bool{false, true} {
		j := s.Slurm.Pending[7]
		j.Held = held
		if held {
			j.Eligible = 0
		}
		s.Slurm.Pending[7] = j
		if err := s.watch(); err != nil {
			t.Fatal(err)
		}
	}
	if e, err := s.keeper.planOf(t.Context(), "alice", p.ID); err != nil || !e.Progress.Held {
		t.Fatalf("%+v, %v", e, err)
	}
	if s.ask("bob") != nil {
		t.Error("bob is promised its room while it is held")
	}
}

// A user who plans and takes back all the time is soon promised nothing more for an hour, and does
// not fill the ledger.
func TestFloodOfTakingBack(t *testing.T) {
	s := newSite(t)
	made, refused := 0, ""
	for range 40 { // 4 minutes
		for range 20 {
			a, err := s.desk.Plan(t.Context(), "alice", desktest.Request(desktest.Epoch+7200), true)
			if err != nil {
				t.Fatal(err)
			}
			if a.Refusal != nil {
				refused = a.Refusal.Reason
				break
			}
			made++
			if err := s.keeper.Cancel(t.Context(), "alice", api.Cancellation{Plan: a.Plan.ID}); err != nil {
				t.Fatal(err)
			}
		}
		s.Clock += 6
		if err := s.watch(); err != nil {
			t.Fatal(err)
		}
	}
	if made != ledger.MaxUnclaimed || !strings.Contains(refused, "kept room from others for 20 minutes or more of the last hour, and no job took them up") {
		t.Errorf("after %d plans: %q", made, refused)
	}
	if a, err := s.desk.Plan(t.Context(), "alice", desktest.Request(desktest.Epoch+7200), false); err != nil || a.Refusal == nil || a.Refusal.Reason != refused {
		t.Errorf("a quote then: %+v, %v", a, err)
	}
	if a, err := s.desk.Probe(t.Context(), "alice", &api.ProbeRequest{
		Sizes:    []api.Size{{Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: 7200}},
		FinishBy: s.Clock + 5*3600, Slots: 7, Gap: 600,
	}); err != nil || len(a.Slots) > 0 || !slices.Equal(a.Reasons, []string{refused}) {
		t.Errorf("varq reserve then: %+v, %v", a, err)
	}
	s.Clock = desktest.Epoch + ledger.VainWithin
	if err := s.watch(); err != nil {
		t.Fatal(err)
	}
	if a, err := s.desk.Plan(t.Context(), "alice", desktest.Request(desktest.Epoch+7200), true); err != nil || a.Plan == nil {
		t.Errorf("an hour later: %+v, %v", a, err)
	}
}

// A plan that was taken back leaves its room to others at once, even before it is closed.
func TestWithdrawnLeavesRoom(t *testing.T) {
	s := newSite(t)
	s.Outlook.Rooms = 1
	ask := func() *api.Plan {
		t.Helper()
		a, err := s.desk.Plan(t.Context(), "alice", desktest.Request(desktest.Epoch+7200), true)
		if err != nil {
			t.Fatal(err)
		}
		return a.Plan
	}
	first := ask()
	if first == nil || ask() != nil {
		t.Fatal("not just one is promised")
	}
	if err := s.keeper.Cancel(t.Context(), "alice", api.Cancellation{Plan: first.ID}); err != nil {
		t.Fatal(err)
	}
	if ask() == nil || ask() != nil {
		t.Error("not just one is promised after the first was taken back")
	}
}
