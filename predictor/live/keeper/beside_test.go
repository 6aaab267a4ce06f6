package keeper

import (
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// besidePlain reports room before plain jobs are eligible, and no room from then on.
type besidePlain struct{ *desktest.Outlook }

func (besidePlain) Room(_ workload.Place, _, _ int64, claims []workload.Claim) func(workload.Claim, float64) workload.Room {
	return func(c workload.Claim, _ float64) workload.Room {
		room := workload.Room{Prob: 1}
		for i := range claims {
			if o := &claims[i]; o.Plain && o.Start <= c.From {
				room.Late = []workload.Hold{{At: o.Start}}
			}
		}
		return room
	}
}

// A job that was promised before others' plain jobs came stays before them, however short the queue
// is. A job that was promised before such a job was submitted is moved as far as its ceiling
// allows, or is endangered.
func TestPromisesStayBeforePlainJobs(t *testing.T) {
	for _, first := range []bool{true, false} {
		s := newSite(t)
		s.desk.Outlook = besidePlain{s.Outlook}
		plain := slurm.QueueEntry{Job: workload.Job{
			ID: 1, Submit: desktest.Epoch, Eligible: desktest.Epoch + 3600, State: workload.Pending,
			Request: workload.Request{User: "bob", Partition: "main", Size: workload.Size{Nodes: 4, CPUs: 4}, Limit: 36000},
		}}
		if first {
			s.Slurm.Pending[1] = plain
		}
		s.watch()
		answer, err := s.desk.Plan(t.Context(), "alice", desktest.Request(desktest.Epoch+7200), true)
		if err != nil || answer.Plan == nil {
			t.Fatal(answer.Refusal, err)
		}
		p := answer.Plan
		s.Slurm.Pending[7] = slurm.QueueEntry{Job: workload.Job{
			ID: 7, Submit: desktest.Epoch, Eligible: p.BeginTime, State: workload.Pending, Comment: p.Comment,
			Request: workload.Request{User: "alice", Partition: "main", Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: p.TimeLimit},
		}}
		s.Slurm.Pending[1] = plain
		for range 3 {
			s.Clock += 30
			s.watch()
		}
		list, err := s.records.Reservations(t.Context(), "alice", api.ReservationsQuery{Job: 7})
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		r, begin := list[0], s.Slurm.Pending[7].Eligible
		switch {
		case first && (begin >= desktest.Epoch+3600 || forecastOf(&r) < p.Prob):
			t.Errorf("promised before a plain job: eligible %d s after now, %+v", begin-desktest.Epoch, r)
		case !first && (begin != p.BeginTime || forecastOf(&r) != 0 || r.Rescue == nil || !strings.Contains(r.Obstacle, "jobs that wait for their begin time")):
			t.Errorf("promised without it: eligible at %d instead of %d, %+v", begin, p.BeginTime, r)
		}
	}
}

// besideRunning reports no room beside promised jobs that run.
type besideRunning struct{ *desktest.Outlook }

func (besideRunning) Room(_ workload.Place, _, _ int64, claims []workload.Claim) func(workload.Claim, float64) workload.Room {
	runs := slices.ContainsFunc(claims, func(c workload.Claim) bool { return c.Runs })
	return func(workload.Claim, float64) workload.Room {
		if runs {
			return workload.Room{}
		}
		return workload.Room{Prob: 1}
	}
}

// A promised job that waits is forecast beside those that run, whose nodes are held until their
// work has ended, from the look on that shows their start. Those that wait are not in its way.
func TestPromisesBesideRunningOnes(t *testing.T) {
	s := newSite(t)
	s.desk.Outlook = besideRunning{s.Outlook}
	for id, user := range map[int64]string{7: "alice", 8: "bob"} {
		answer, err := s.desk.Plan(t.Context(), user, desktest.Request(desktest.Epoch+7200), true)
		if err != nil || answer.Plan == nil {
			t.Fatal(answer.Refusal, err)
		}
		s.Slurm.Pending[id] = slurm.QueueEntry{Job: workload.Job{
			ID: id, Submit: desktest.Epoch, Eligible: answer.Plan.BeginTime, State: workload.Pending, Comment: answer.Plan.Comment,
			Request: workload.Request{User: user, Partition: "main", Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: answer.Plan.TimeLimit},
		}}
	}
	if r := s.again(); forecastOf(&r) < .9 {
		t.Errorf("beside a promise that waits: %+v", r)
	}
	runs := s.Slurm.Pending[8]
	runs.State, runs.Start = workload.Running, s.Clock
	s.Slurm.Pending[8] = runs
	if r := s.again(); forecastOf(&r) != 0 {
		t.Errorf("beside a promise that runs: %+v", r)
	}
}
