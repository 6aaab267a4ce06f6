package keeper

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Plain jobs that are eligible later claim room, in the order in which they are; not those of which
// nobody knows when, nor one for which a promise is open.
func TestPlainJobsClaim(t *testing.T) {
	s := newSite(t)
	answer, err := s.Plan(t.Context(), "alice", request(epoch+7200), true)
	if err != nil {
		t.Fatal(err)
	}
	plain := func(id int64, change func(*slurm.QueueEntry)) {
		j := slurm.QueueEntry{Job: workload.Job{
			ID: id, Submit: epoch, Eligible: epoch + 600, State: workload.Pending,
			Request: workload.Request{User: "bob", Partition: "main", Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: 1800},
		}}
		change(&j)
		s.slurm.queue[id] = j
	}
	plain(1, func(j *slurm.QueueEntry) { j.Eligible = epoch + 900 })
	plain(2, func(*slurm.QueueEntry) {})
	plain(3, func(j *slurm.QueueEntry) { j.Held = true })
	plain(4, func(j *slurm.QueueEntry) { j.Stopped = "JobHeldAdmin" })
	plain(5, func(j *slurm.QueueEntry) { j.Dependency = "afterok:9" })
	plain(6, func(j *slurm.QueueEntry) { j.Eligible = epoch })
	plain(7, func(j *slurm.QueueEntry) { j.Eligible, j.Start, j.State = epoch, epoch, workload.Running })
	plain(8, func(j *slurm.QueueEntry) { j.Comment, j.User = answer.Plan.Comment, "alice" })
	plain(9, func(j *slurm.QueueEntry) { j.Exclusive, j.Eligible = true, epoch+1000 })
	plain(10, func(j *slurm.QueueEntry) { j.Tasks, j.AtOnce, j.Eligible = 100, 3, epoch+1100 })
	plain(12, func(j *slurm.QueueEntry) { j.Exclusive, j.Tasks, j.Eligible = true, 3, epoch+1300 })
	plain(13, func(j *slurm.QueueEntry) { j.Size.Nodes = 1_000_000_000 }) // which never starts
	plain(11, func(j *slurm.QueueEntry) {
		j.Tasks, j.Eligible, j.Size.Nodes, j.Partition = 5, epoch+1200, 1, "main,other"
	})
	type has struct {
		Job, Start  int64
		Nodes, CPUs int32
		Pieces      workload.Pieces
	}
	claimed := func() (plain []has, promised int) {
		t.Helper()
		s.watch()
		claims, err := s.claims(t.Context(), epoch)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range claims {
			switch {
			case c.Plain != (c.User == "bob") || c.Plain && (c.Start != c.From || c.Limit != 1800):
				t.Errorf("%+v", c)
			case c.Plain:
				plain = append(plain, has{c.Job, c.Start, c.Nodes, c.CPUs, c.Pieces})
			default:
				promised++
			}
		}
		return plain, promised
	}
	apart := func(n int32) workload.Pieces { return workload.Pieces{Count: n, Each: workload.Size{CPUs: 1}} }
	want := []has{
		{2, epoch + 600, 2, 2, apart(2)},
		{1, epoch + 900, 2, 2, apart(2)},
		{9, epoch + 1000, 2, 250, workload.Pieces{Count: 2, Exclusive: true}},
		{10, epoch + 1100, 6, 6, workload.Pieces{}},
		{11, epoch + 1200, 5, 10, workload.Pieces{}},
		{12, epoch + 1300, 6, 750, workload.Pieces{Count: 6, Exclusive: true}},
	}
	got, promised := claimed()
	if diff := cmp.Diff(want, got); diff != "" || promised != 1 {
		t.Errorf("%d promises, %s", promised, diff)
	}
	five := int64(5)
	s.slurm.limits.PerUser.Jobs = &five
	s.refresh()
	got, _ = claimed()
	want = append(want[:3], has{10, epoch + 1100, 4, 4, workload.Pieces{}}) // 3 jobs, and 2 tasks
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("of a user who may have %d jobs at once: %s", five, diff)
	}
}

// besidePlain tells of room before plain jobs are eligible, and of none from then on.
type besidePlain struct{ *fakeOutlook }

func (besidePlain) Room(_ string, _, _ int64, claims []workload.Claim) func(workload.Claim, float64) workload.Room {
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

// A job that was promised before plain jobs of others stays before them, however short the queue is. One
// promised before such a job was submitted is moved as far as its ceiling allows, or endangered.
func TestPromisesStayBeforePlainJobs(t *testing.T) {
	for _, first := range []bool{true, false} {
		s := newSite(t)
		s.Outlook = besidePlain{s.outlook}
		plain := slurm.QueueEntry{Job: workload.Job{
			ID: 1, Submit: epoch, Eligible: epoch + 3600, State: workload.Pending,
			Request: workload.Request{User: "bob", Partition: "main", Size: workload.Size{Nodes: 4, CPUs: 4}, Limit: 36000},
		}}
		if first {
			s.slurm.queue[1] = plain
		}
		s.watch()
		answer, err := s.Plan(t.Context(), "alice", request(epoch+7200), true)
		if err != nil || answer.Plan == nil {
			t.Fatal(answer.Refusal, err)
		}
		p := answer.Plan
		s.slurm.queue[7] = slurm.QueueEntry{Job: workload.Job{
			ID: 7, Submit: epoch, Eligible: p.BeginTime, State: workload.Pending, Comment: p.Comment,
			Request: workload.Request{User: "alice", Partition: "main", Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: p.TimeLimit},
		}}
		s.slurm.queue[1] = plain
		for range 3 {
			s.clock += 30
			s.watch()
		}
		list, err := s.Reservations(t.Context(), "alice", api.ReservationsQuery{Job: 7})
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		r, begin := list[0], s.slurm.queue[7].Eligible
		switch {
		case first && (begin >= epoch+3600 || r.Now < p.Prob):
			t.Errorf("promised before a plain job: eligible %d s after now, %+v", begin-epoch, r)
		case !first && (begin != p.BeginTime || r.Now != 0 || r.Rescue == nil || !strings.Contains(r.Obstacle, "jobs that wait for their begin time")):
			t.Errorf("promised without it: eligible at %d instead of %d, %+v", begin, p.BeginTime, r)
		}
	}
}
