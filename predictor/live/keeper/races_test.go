package keeper

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// startsMeanwhile has job 7 start, by its old begin time, after the queue was
// read. Like Slurm it then refuses a begin time, but carries out the rest.
type startsMeanwhile struct{ *fakeSlurm }

func (s startsMeanwhile) Update(ctx context.Context, u slurm.Update) error {
	j := s.jobs[7]
	if j.Start == 0 {
		j.Start, j.State = j.Eligible, workload.Running
		s.jobs[7] = j
	}
	if u.BeginTime == 0 {
		return s.fakeSlurm.Update(ctx, u)
	}
	u.BeginTime = 0
	if err := s.fakeSlurm.Update(ctx, u); err != nil {
		return err
	}
	return slurm.ErrRefused
}

// A job that starts while varqd moves it keeps the limit that its work needs.
func TestStartsWhileMoved(t *testing.T) {
	s := newSite(t)
	deadline := int64(epoch + 7200)
	s.past.wait = 1500
	p := s.promise("alice", request(deadline))
	s.submit("alice", 7, p)
	s.at(epoch + 5)
	s.past.wait = 300 // enough of a reason to move it to a later time
	s.Slurm = startsMeanwhile{s.slurm}
	s.at(p.BeginTime - 1)
	if j := s.slurm.jobs[7]; j.Start == 0 || j.Limit < p.TimeLimit {
		t.Errorf("started at deadline - %d, the job has %d s; its work needs %d", deadline-j.Start, j.Limit, p.TimeLimit)
	}
	s.at(deadline + 5)
	s.want(p.ID, api.StateRunning, "")
}

// What varq-wrapper trims before a requeue is not taken for the user's doing.
func TestRequeuedWithTrimmedLimit(t *testing.T) {
	s := newSite(t)
	deadline := int64(epoch + 7200)
	p := s.promise("alice", request(deadline))
	s.submit("alice", 7, p)
	s.at(epoch + 5)
	s.run(7, deadline-400)
	s.at(deadline - 390)
	s.change(7, func(j *slurm.QueueEntry) {
		j.Limit = 3600 + 420
		j.Submit, j.Eligible, j.Start, j.State = deadline-300, deadline-180, 0, workload.Pending
	})
	s.at(deadline - 290)
	s.want(p.ID, api.StatePending, "")
	if s.reservation(p.ID).Progress.Yielded {
		t.Error("varq leaves the job alone")
	}
}

// Varqd may do what a user may not: it does not take a job over the limits of
// the partition that its user has moved it to.
func TestMovedToAnotherPartition(t *testing.T) {
	for _, partition := range []string{"short", "main,short"} {
		s := newSite(t)
		p := s.promise("alice", request(epoch+7200))
		s.submit("alice", 7, p)
		s.at(epoch + 5)
		s.Slurm = withShort{s.slurm}
		s.change(7, func(j *slurm.QueueEntry) { j.Partition = partition })
		s.past.wait = 3000 // reason to lengthen the job
		s.at(epoch + 10)
		if limit := s.slurm.jobs[7].Limit; limit > 4200 {
			t.Errorf("in %s, with a limit of 4200 s, the job has %d", partition, limit)
		}
	}
}

// withShort adds a partition that allows no more than the promised 4200 s.
type withShort struct{ *fakeSlurm }

func (s withShort) Cluster(ctx context.Context) (limits.Cluster, error) {
	c, err := s.fakeSlurm.Cluster(ctx)
	short := c.Partitions["main"]
	short.Name, short.Default, short.MaxTime = "short", false, 4200
	c.Partitions["short"] = short
	return c, err
}

// A job whose end accounting never learns of is given up in the end.
func TestNoEndInAccounting(t *testing.T) {
	for _, state := range []workload.State{workload.Running, workload.Requeued} {
		s := newSite(t)
		deadline := int64(epoch + 7200)
		p := s.promise("alice", request(deadline))
		s.submit("alice", 7, p)
		s.at(epoch + 5)
		s.end(7, deadline, state)
		s.at(deadline + 5000)
		s.want(p.ID, api.StatePending, "")
		s.at(deadline + 200_000)
		s.want(p.ID, api.StateCancelled, "lost the job")
	}
}

// A job that slurmrestd fails on does not keep the others from being settled.
func TestOneJobFailsInAccounting(t *testing.T) {
	s := newSite(t)
	deadline := int64(epoch + 7200)
	broken, whole := s.promise("alice", request(deadline)), s.promise("alice", request(deadline+60))
	s.submit("alice", 7, broken)
	s.submit("alice", 8, whole)
	s.at(epoch + 5)
	s.Slurm = failsOn7{s.slurm}
	for _, id := range []int64{7, 8} {
		s.run(id, deadline-100)
		s.end(id, deadline+1000, workload.Completed)
	}
	s.clock = deadline + 1001
	if err := s.watch(t.Context()); err == nil {
		t.Error("no error")
	}
	s.at(deadline + 1002)
	s.want(whole.ID, api.StateKept, "")
	s.Slurm = s.slurm
	s.at(deadline + 1100)
	s.want(broken.ID, api.StateKept, "")
}

type failsOn7 struct{ *fakeSlurm }

func (s failsOn7) Accounted(ctx context.Context, id int64) ([]workload.Job, error) {
	if id == 7 {
		return nil, slurm.ErrUnavailable
	}
	return s.fakeSlurm.Accounted(ctx, id)
}

// One who tries to bind another's job does not stop varqd's watch.
func TestWatchGoesOnAfterForbiddenBinding(t *testing.T) {
	s := newSite(t)
	p := s.promise("alice", request(epoch+7200))
	s.submit("bob", 8, s.promise("bob", request(epoch+7200)))
	if err := s.Bind(t.Context(), "alice", api.Binding{Plan: p.ID, Job: 8}); !errors.Is(err, api.ErrForbidden) {
		t.Errorf("alice binds bob's job: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := s.watch(ctx); err != nil {
		t.Errorf("Watch: %v", err)
	}
}

// A job that belongs to another plan than its comment says is not tried to bind
// at every look.
func TestJobTaken(t *testing.T) {
	s := newSite(t)
	claimed, taken := s.promise("alice", request(epoch+7200)), s.promise("alice", request(epoch+7200))
	s.submit("alice", 7, claimed)
	if err := s.Bind(t.Context(), "alice", api.Binding{Plan: taken.ID, Job: 7}); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	for i := range int64(retryAfter + 1) {
		s.at(epoch + 10 + i)
	}
	if n := strings.Count(log.String(), ledger.ErrJobTaken.Error()); n != 2 {
		t.Errorf("%d tries in %d seconds, want 2:\n%s", n, retryAfter+1, log.String())
	}
}
