package keeper

import (
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// inside promises alice's job 7 inside of the reservation n2 by request, and lets the keeper look
// at it.
func (s *site) inside(request *api.PlanRequest) api.Plan {
	s.T.Helper()
	s.Outlook.RunTime, s.Slurm.Drained = 1800, []string{"d"} // so that all nodes are known
	s.Slurm.Reservations = limits.Reservations{{
		Name: "n2", Start: desktest.Epoch - 600, End: desktest.Epoch + 36000, Nodes: []string{"a", "b"}, Users: []string{"alice"},
	}}
	s.Refresh()
	request.Job.Account, request.Needs = "phys", &workload.Needs{Reservation: "n2"}
	a, err := s.desk.Plan(s.T.Context(), "alice", request, true)
	if err != nil || a.Plan == nil {
		s.T.Fatal(a.Refusal, err)
	}
	job := request.Job
	job.User, job.Partition, job.Reservation, job.Limit = "alice", "main", "n2", a.Plan.TimeLimit
	s.Slurm.Pending[7] = slurm.QueueEntry{Shape: slurm.Shape{Reservation: "n2"}, Job: workload.Job{
		ID: 7, Submit: s.Clock, Eligible: max(s.Clock, a.Plan.BeginTime), State: workload.Pending, Comment: a.Plan.Comment, Request: job,
	}}
	if r := s.again(); forecastOf(&r) < .9 || r.Obstacle != "" {
		s.T.Fatalf("probability %v: %s", forecastOf(&r), r.Obstacle)
	}
	return *a.Plan
}

// again lets the keeper look at the queue a minute later, and returns the reservation of job 7.
func (s *site) again() api.Reservation {
	s.T.Helper()
	s.Clock += 60
	if err := s.watch(); err != nil {
		s.T.Fatal(err)
	}
	list, err := s.records.Reservations(s.T.Context(), "alice", api.ReservationsQuery{Job: 7})
	if err != nil || len(list) != 1 {
		s.T.Fatal(list, err)
	}
	return list[0]
}

// either has a request for a promise about a job's start, and one about its end.
func either() map[string]*api.PlanRequest {
	end := desktest.Request(0)
	end.FinishBy = desktest.Epoch + 7200
	return map[string]*api.PlanRequest{"start": desktest.Request(desktest.Epoch + 7200), "end": end}
}

// A reservation of Slurm's that is closed to the user after a promise keeps her job from starting,
// until it is open again.
func TestShutOut(t *testing.T) {
	for name, request := range either() {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.inside(request)
			s.Slurm.Reservations[0].Users = []string{"bob"}
			const why = "reservation n2 admits neither user alice nor account phys any more: ask whoever keeps it, " +
				"or take the job out of it ('scontrol update jobid=7 reservationname=')"
			if r := s.again(); forecastOf(&r) != 0 || r.Obstacle != why {
				t.Errorf("probability %v: %s", forecastOf(&r), r.Obstacle)
			}
			s.Slurm.Reservations[0].Accounts = []string{"phys"}
			if r := s.again(); forecastOf(&r) < .9 || r.Obstacle != "" {
				t.Errorf("open again: probability %v: %s", forecastOf(&r), r.Obstacle)
			}
		})
	}
}

// A reservation that ends before the work would is told as the reason.
func TestReservationEndsEarlier(t *testing.T) {
	s := newSite(t)
	s.inside(desktest.Request(desktest.Epoch + 7200))
	s.Slurm.Reservations[0].End = desktest.Epoch + 7200 + 1800
	if r := s.again(); forecastOf(&r) != 0 || r.Obstacle != "reservation n2 is over when the work is to run" {
		t.Errorf("probability %v: %s", forecastOf(&r), r.Obstacle)
	}
}

// What keeps a job from being forecast is told as the reason, too.
func TestObstacleOfOutage(t *testing.T) {
	s := &scene{site: newSite(t), plans: map[string]*api.Plan{}, events: map[string]int{}}
	s.play("promise p by 10:00\nsubmit p as 7\nwatch")
	s.Outlook.Down = "no node of partition main can start jobs"
	if r := s.again(); r.Now != nil || r.Obstacle != s.Outlook.Down {
		t.Errorf("probability %v: %s", forecastOf(&r), r.Obstacle)
	}
}

// A job that its user has changed is forecast inside of the reservation that was promised, and
// inside of no other.
func TestChangedInside(t *testing.T) {
	for name, request := range either() {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.inside(request)
			j := s.Slurm.Pending[7]
			j.Limit -= 600
			s.Slurm.Pending[7] = j
			if r := s.again(); !r.Yielded || forecastOf(&r) < .9 || r.Obstacle != "" {
				t.Errorf("probability %v: %s", forecastOf(&r), r.Obstacle)
			}
			j.Reservation, j.Shape.Reservation = "", "n3"
			s.Slurm.Pending[7] = j
			if r := s.again(); r.Now != nil {
				t.Errorf("in another: probability %v", *r.Now)
			}
		})
	}
}

// If the reservation is deleted, Slurm holds the job, and the note says so and what to do.
func TestReservationDeleted(t *testing.T) {
	for name, request := range either() {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.inside(request)
			s.Slurm.Reservations = nil
			j := s.Slurm.Pending[7]
			j.Reservation, j.Shape.Reservation, j.Eligible, j.Stopped = "", "", 0, "Reservation n2 was deleted"
			s.Slurm.Pending[7] = j
			const why = "Slurm holds the job, because reservation n2 was deleted: 'scontrol release 7' lets it run without the reservation, " +
				"and 'scancel 7' withdraws it; varq leaves the job alone now"
			s.again()
			if r := s.again(); r.Note != why || r.Now != nil {
				t.Errorf("probability %v: %s", forecastOf(&r), r.Note)
			}
		})
	}
}
