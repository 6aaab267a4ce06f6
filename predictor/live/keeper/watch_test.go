package keeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// From many jobs some are chosen, and each gets its turn.
func TestSomeOf(t *testing.T) {
	due := make([]duty, 37)
	for i := range due {
		due[i].e = &ledger.Entry{Reservation: api.Reservation{Job: int64(i + 1)}}
	}
	asked := map[int64]bool{}
	for now := int64(1_800_000_000); len(asked) < len(due); now += 5 {
		some := someOf(due, goneOneByOne, now)
		if len(some) != goneOneByOne {
			t.Fatalf("at %d, %d reservations", now, len(some))
		}
		for _, d := range some {
			asked[d.e.Job] = true
		}
	}
	if some := someOf(due[:3], goneOneByOne, 1_800_000_000); len(some) != 3 {
		t.Errorf("of 3, %d", len(some))
	}
}

// goneSite is a site where n promised jobs have been cancelled.
func goneSite(t *testing.T, n int) *site {
	s := newSite(t)
	ctx := t.Context()
	for i := range n {
		p := api.Plan{ID: fmt.Sprintf("p%05d", i), BeginTime: desktest.Epoch + 3600, BeginBy: desktest.Epoch + 7200}
		if err := s.Ledger.Promise(ctx, &api.Reservation{Plan: p, User: "alice", Promised: desktest.Epoch}, 0); err != nil {
			t.Fatal(err)
		}
		job := int64(i + 1)
		if err := s.Ledger.Bind(ctx, p.ID, "alice", job, desktest.Epoch, desktest.Epoch, true); err != nil {
			t.Fatal(err)
		}
		run := workload.Job{ID: job, Request: workload.Request{User: "alice"}, Submit: desktest.Epoch, Eligible: desktest.Epoch + 3600, End: desktest.Epoch + 10, State: workload.Cancelled}
		s.Slurm.Accounts[job] = []workload.Job{run}
	}
	s.Clock = desktest.Epoch + 20
	return s
}

func (s *site) stillOpen() int {
	s.T.Helper()
	entries, err := s.Ledger.Select(s.T.Context(), ledger.Query{Open: true})
	if err != nil {
		s.T.Fatal(err)
	}
	return len(entries)
}

// Many jobs that are cancelled at once are settled at the next two looks, with one request each.
func TestManyGone(t *testing.T) {
	s := goneSite(t, goneAtOnce+100)
	for _, left := range []int{100, 0} {
		if err := s.watch(); err != nil {
			t.Fatal(err)
		}
		if n := s.stillOpen(); n != left {
			t.Errorf("%d open, want %d", n, left)
		}
		s.Clock += 5
	}
	if !slices.Equal(s.Slurm.Lists, []int{goneAtOnce, 100}) {
		t.Errorf("asked for lists of %v jobs", s.Slurm.Lists)
	}
}

// Between two readings of the whole queue, Slurm is asked only for a part of many jobs. Each job
// gets its turn.
func TestManyBound(t *testing.T) {
	s := goneSite(t, 2*boundAtOnce+10)
	if err := s.watchBound(); err != nil {
		t.Fatal(err)
	}
	for _, left := range []int{boundAtOnce + 10, 10, 0} {
		if n := s.stillOpen(); n != left {
			t.Errorf("%d open, want %d", n, left)
		}
		if err := s.watchBound(); err != nil {
			t.Fatal(err)
		}
	}
}

// If many jobs wait, one look plans a part again, and the next looks plan the others.
func TestManyWaiting(t *testing.T) {
	const waiting = 2*revisedAtOnce + 10
	s := newSite(t)
	for i := range int64(waiting) {
		p := api.Plan{ID: fmt.Sprintf("p%05d", i), BeginTime: desktest.Epoch + 3600, TimeLimit: 3600, WorkLimit: 3600, BeginBy: desktest.Epoch + 7200, Prob: .5}
		r := api.Reservation{Plan: p, User: "alice", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Promised: desktest.Epoch}
		if err := errors.Join(s.Ledger.Promise(t.Context(), &r, 0), s.Ledger.Bind(t.Context(), p.ID, "alice", i+1, desktest.Epoch, desktest.Epoch, true)); err != nil {
			t.Fatal(err)
		}
		s.Slurm.Pending[i+1] = slurm.QueueEntry{Job: workload.Job{
			ID: i + 1, Request: workload.Request{User: "alice", Partition: "main", Size: r.Size, Limit: p.TimeLimit},
			Submit: desktest.Epoch, Eligible: p.BeginTime, State: workload.Pending,
		}}
	}
	for look, want := range []int{revisedAtOnce, 2 * revisedAtOnce, waiting} {
		s.Clock += 20
		if err := s.watch(); err != nil {
			t.Fatal(err)
		}
		planned := 0
		for i := range waiting {
			if s.keeper.memory.prospect(fmt.Sprintf("p%05d", i)).known {
				planned++
			}
		}
		if planned != want {
			t.Errorf("after look %d, %d jobs have been planned again, want %d", look+1, planned, want)
		}
	}
}

// Each job gets its turn, even if there is sometimes time only for fewer jobs.
func TestInTurn(t *testing.T) {
	m, entries := newMemory(), make([]ledger.Entry, 25)
	for i := range entries {
		entries[i].Job = int64(100 - i)
	}
	asked := map[int64]int{}
	for _, n := range []int{10, 1, 14, 25, 9, 16} {
		for _, e := range m.inTurn(notUrgent, entries)[:n] {
			m.hadTurn(notUrgent, e.Job)
			asked[e.Job]++
		}
	}
	for i := range entries {
		if asked[entries[i].Job] != 3 {
			t.Errorf("job %d is asked for %d times", entries[i].Job, asked[entries[i].Job])
		}
	}
}

// If there is time for one job only, a job comes first that varq is to move or cancel already, then
// one whose deadline is near. The others take turns.
func TestUrgent(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	for job, p := range map[int64]api.Plan{
		1: {BeginBy: desktest.Epoch + 7200}, 2: {BeginBy: desktest.Epoch + 7200}, 3: {BeginBy: desktest.Epoch + 7200},
		4: {BeginBy: desktest.Epoch + 50},
		5: {BeginBy: desktest.Epoch + 7200, Tentative: desktest.Epoch + 10},
		6: {BeginBy: desktest.Epoch + 7200, Tentative: desktest.Epoch + 1000},
	} {
		p.ID, p.BeginTime = fmt.Sprintf("p%d", job), desktest.Epoch+40
		if err := s.Ledger.Promise(ctx, &api.Reservation{Plan: p, User: "alice", Promised: desktest.Epoch}, 0); err != nil {
			t.Fatal(err)
		}
		if err := s.Ledger.Bind(ctx, p.ID, "alice", job, desktest.Epoch, desktest.Epoch, true); err != nil {
			t.Fatal(err)
		}
	}
	e, err := s.keeper.planOf(ctx, "alice", "p6")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.keeper.recordConfirmed(ctx, e, desktest.Epoch); err != nil { // but not moved
		t.Fatal(err)
	}
	read := func(now int64) (first int64) {
		_, err := s.keeper.readBound(ctx, now, func(_ context.Context, id int64) (slurm.QueueEntry, error) {
			if first != 0 {
				return slurm.QueueEntry{}, ErrEnough
			}
			first = id
			return slurm.QueueEntry{}, slurm.ErrNotFound
		})
		if err != nil {
			t.Fatal(err)
		}
		return first
	}
	settle := func(plan string) {
		if err := s.Ledger.Settle(ctx, plan, ledger.Settlement{At: desktest.Epoch, Outcome: api.StateCancelled}); err != nil {
			t.Fatal(err)
		}
	}
	if got := []int64{read(desktest.Epoch), read(desktest.Epoch + 11), read(desktest.Epoch + 11)}; !slices.Equal(got, []int64{6, 5, 6}) {
		t.Errorf("to be moved or cancelled: %v", got)
	}
	s.keeper.memory.postpone("p5", desktest.Epoch+11)
	if got := []int64{read(desktest.Epoch + 11), read(desktest.Epoch + 11)}; !slices.Equal(got, []int64{6, 6}) {
		t.Errorf("to be moved, while the other is to be tried again later: %v", got)
	}
	settle("p5")
	settle("p6")
	if got := []int64{read(desktest.Epoch + 11), read(desktest.Epoch + 11)}; !slices.Equal(got, []int64{4, 4}) {
		t.Errorf("with a deadline that is near: %v", got)
	}
	settle("p4")
	if got := []int64{read(desktest.Epoch + 11), read(desktest.Epoch + 11), read(desktest.Epoch + 11), read(desktest.Epoch + 11)}; !slices.Equal(got, []int64{1, 2, 3, 1}) {
		t.Errorf("the others: %v", got)
	}
}

// A call that Slurm has not answered is repeated soon. A call that Slurm has refused is repeated
// later.
func TestRetry(t *testing.T) {
	for err, after := range map[error]int64{slurm.ErrUnavailable: retryUnanswered, slurm.ErrRefused: retryAfter} {
		s := newSite(t)
		a := s.submitTentative()
		s.Slurm.Updates = err
		if err := s.keeper.Confirm(t.Context(), "alice", api.Confirmation{Plan: a.Plan.ID, Job: 7}); err != nil {
			t.Fatal(err)
		}
		s.Slurm.Updates, s.Clock = nil, s.Clock+course.Skew+1
		confirmed := s.Clock - course.Skew - 1
		for s.Slurm.Pending[7].Eligible != a.Plan.BeginTime {
			if err := s.watchBound(); err != nil || s.Clock > confirmed+2*retryAfter {
				t.Fatalf("after %d s: %v", s.Clock-confirmed, err)
			}
			s.Clock++
		}
		if took := s.Clock - 1 - confirmed; took != after {
			t.Errorf("after %v it is tried again after %d s, want %d", err, took, after)
		}
	}
}

// One job for which accounting fails does not keep the others from being settled. All are asked for
// one by one for a while, which finds this job, and then again together.
func TestManyGoneButOne(t *testing.T) {
	s := goneSite(t, 40)
	s.Slurm.AccountingDown[7] = true
	for range 20 {
		if err := s.watch(); err != nil && s.stillOpen() == 0 {
			t.Fatal(err)
		}
		s.Clock += 5
	}
	if n := s.stillOpen(); n != 1 {
		t.Errorf("%d open", n)
	}
	s.Slurm.AccountingDown[7] = false
	s.Clock += retryAfter
	if err := s.watch(); err != nil || s.stillOpen() != 0 {
		t.Errorf("%v, %d open", err, s.stillOpen())
	}
}

// While accounting fails, slurmctld tells of a job that was cancelled before it started. Of one
// that has run it does not tell enough.
func TestGoneWithoutAccounting(t *testing.T) {
	for _, c := range []struct {
		name  string
		is    func(*workload.Job)
		state string
	}{
		{"cancelled", func(*workload.Job) {}, api.StateCancelled},
		{"ran", func(j *workload.Job) { j.Start = j.End - 60 }, api.StatePending},
		{"failed", func(j *workload.Job) { j.State = workload.Failed }, api.StatePending},
		{"somebody else's", func(j *workload.Job) { j.User = "bob" }, api.StatePending},
	} {
		s := &scene{site: newSite(t), plans: map[string]*api.Plan{}, events: map[string]int{}}
		s.play("promise p by 10:00\nsubmit p as 7\nwatch")
		j := s.Slurm.Pending[7].Job
		j.State, j.End = workload.Cancelled, s.Clock
		c.is(&j)
		delete(s.Slurm.Pending, 7)
		s.Slurm.Gone, s.Slurm.AccountingDown[0] = map[int64]workload.Job{7: j}, true
		s.Clock += 5
		if err := s.watch(); err != nil {
			t.Log(c.name, err)
		}
		list, err := s.Ledger.Select(t.Context(), ledger.Query{})
		if err != nil || len(list) != 1 || list[0].State != c.state {
			t.Errorf("%s: %+v, %v", c.name, list, err)
		}
	}
}

// TestPendingJobAsks: a forecast for a pending reservation names the job, because the job is itself
// in the queue.
func TestPendingJobAsks(t *testing.T) {
	s := &scene{site: newSite(t), plans: map[string]*api.Plan{}, events: map[string]int{}}
	s.play("promise p by 10:00\nsubmit p as 7")
	clear(s.Outlook.Asked)
	s.play("watch")
	if len(s.Outlook.Asked) != 1 || s.Outlook.Asked[7] == 0 {
		t.Errorf("asked about %v", s.Outlook.Asked)
	}
}

// Plans without a job are closed in parts if there are many, so that no Watch holds the keeper's
// lock for long.
func TestManyExpire(t *testing.T) {
	s := newSite(t)
	const more = 100
	for i := range maxExpired + more {
		r := &api.Reservation{Plan: api.Plan{ID: api.NewPlanID(), BeginBy: desktest.Epoch}, User: fmt.Sprint("user", i/ledger.MaxUnclaimed), Promised: desktest.Epoch - 3600}
		if err := s.Ledger.Promise(t.Context(), r, 0); err != nil {
			t.Fatal(err)
		}
	}
	s.Clock = desktest.Epoch + 301
	s.Outlook.CoveredTo = s.Clock
	for _, want := range []int{more, 0, 0} {
		if err := s.watch(); err != nil {
			t.Fatal(err)
		}
		open, err := s.Ledger.Select(t.Context(), ledger.Query{Open: true})
		if err != nil || len(open) != want {
			t.Errorf("%d are open, %v; want %d", len(open), err, want)
		}
	}
	if text := s.Warnings.String(); text != "" {
		t.Error(text)
	}
}

// BenchmarkWatch looks at a queue with the waiting jobs of 3,000 open promises. One Watch plans
// some of them again.
func BenchmarkWatch(b *testing.B) {
	s := newSite(b)
	const promises = 3000
	queue := make([]slurm.QueueEntry, promises)
	for i := range queue {
		plan := api.Plan{
			ID: fmt.Sprintf("plan%08d", i), BeginTime: desktest.Epoch + 86_400, BeginBy: desktest.Epoch + 90_000, HoldUntil: desktest.Epoch + 90_000,
			Slot: desktest.Epoch + 90_000, TimeLimit: 7200, WorkLimit: 3600, Earliest: desktest.Epoch + 80_000, Prob: .9, Estimate: .95,
		}
		plan.Comment = api.CommentPrefix + plan.ID
		job := workload.Job{
			ID: int64(i + 1), Submit: desktest.Epoch, Eligible: plan.BeginTime, State: workload.Pending, Comment: plan.Comment,
			Request: workload.Request{User: fmt.Sprint("user", i%300), Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: plan.TimeLimit},
		}
		queue[i] = slurm.QueueEntry{Job: job}
		r := &api.Reservation{Plan: plan, User: job.User, Partition: "main", Size: job.Size, Promised: desktest.Epoch}
		if err := errors.Join(s.Ledger.Promise(b.Context(), r, desktest.Epoch), s.Ledger.Bind(b.Context(), plan.ID, job.User, job.ID, job.Submit, desktest.Epoch, true)); err != nil {
			b.Fatal(err)
		}
	}
	s.Clock += 10
	for range 40 { // until each has been planned again once
		s.Clock += 10
		if err := s.keeper.Watch(b.Context(), look.New(queue, s.Clock)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		s.Clock += 10
		if err := s.keeper.Watch(b.Context(), look.New(queue, s.Clock)); err != nil {
			b.Fatal(err)
		}
	}
}
