package flows

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

const epoch = 1_700_000_000

// site is a Keeper with a desk and a Slurm that say what they are told to.
type site struct {
	*Keeper
	t       *testing.T
	clock   int64
	now     *float64
	queue   []slurm.QueueEntry
	runs    map[int64][]workload.Job
	batches bool // accounting is asked about many jobs at a time
	notices []api.Notice
	slots   []workload.Claim
	engines string
	down    bool                     // accounting is
	gone    map[int64][]workload.Job // that slurmctld still shows
}

func newSite(t *testing.T) *site {
	file, err := statefile.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	s := &site{t: t, clock: epoch, runs: map[int64][]workload.Job{}, batches: true}
	s.Keeper = New(Options{
		Store: NewStore(file), Desk: s, Slurm: s, Operator: func(user string) bool { return user == "root" },
		Tell: func(n api.Notice) { s.notices = append(s.notices, n) }, Now: func() int64 { return s.clock }, Log: slog.New(slog.DiscardHandler),
	})
	return s
}

func (s *site) Quote(_ context.Context, user string, r *api.FlowRequest) (api.FlowAnswer, error) {
	return api.FlowAnswer{Flow: &api.Flow{Engines: s.engines}, Promised: &api.FlowPromise{
		User: user, Name: r.Name, Jobs: r.Jobs, FinishBy: r.FinishBy, Prob: r.Prob, Estimate: .95, Promised: s.clock, State: api.StatePending,
	}}, nil
}

// Now implements Desk: most of all, job 2 is waited for.
func (s *site) Now(context.Context, *api.FlowPromise) (*float64, *api.Flow, []workload.Claim, error) {
	return s.now, &api.Flow{Jobs: []api.FlowJob{{Job: 1, Critical: .5}, {Job: 2, Critical: 1}}}, []workload.Claim{{Job: 2}}, nil
}

func (s *site) ObserveFlows(slots []workload.Claim) { s.slots = slots }

func (s *site) Accounted(_ context.Context, job int64) ([]workload.Job, error) {
	return s.runs[job], nil
}

func (s *site) Ended(_ context.Context, job int64) (workload.Job, error) {
	if runs := s.gone[job]; len(runs) > 0 {
		return runs[0], nil
	}
	return workload.Job{}, slurm.ErrNotFound
}

func (s *site) AccountedAll(context.Context, []int64) (map[int64][]workload.Job, error) {
	if s.down {
		return nil, slurm.ErrUnavailable
	}
	if !s.batches {
		return nil, errors.ErrUnsupported
	}
	return s.runs, nil
}

// promise promises alice that jobs end within an hour.
func (s *site) promise(jobs ...int64) api.FlowPromise {
	s.t.Helper()
	a, err := s.PromiseFlow(s.t.Context(), "alice", api.FlowRequest{Name: "nightly", Jobs: jobs, FinishBy: epoch + 3600, Prob: .9})
	if err != nil || a.Promised == nil || a.Promised.ID == "" {
		s.t.Fatalf("%+v, %v", a, err)
	}
	return *a.Promised
}

// look looks at the queue after some seconds, and returns the only promise.
func (s *site) look(after int64) api.FlowPromise {
	s.t.Helper()
	s.clock = epoch + after
	if err := s.Look(s.t.Context(), look.New(s.queue, s.clock)); err != nil {
		s.t.Fatal(err)
	}
	list, err := s.Flows(s.t.Context(), "alice", api.FlowsQuery{Old: true})
	if err != nil || len(list.Flows) != 1 {
		s.t.Fatalf("%+v, %v", list, err)
	}
	return list.Flows[0]
}

// job returns a job of alice's in the queue.
func job(id int64, change ...func(*slurm.QueueEntry)) slurm.QueueEntry {
	j := slurm.QueueEntry{Job: workload.Job{ID: id, Request: workload.Request{User: "alice"}}}
	for _, c := range change {
		c(&j)
	}
	return j
}

// run returns a run of a job that ends after some seconds.
func run(id, end int64, change ...func(*workload.Job)) []workload.Job {
	j := workload.Job{ID: id, Start: epoch + 10, End: epoch + end, State: workload.Completed}
	for _, c := range change {
		c(&j)
	}
	return []workload.Job{j}
}

// A promise is settled by what becomes of all its jobs, once they have left the queue.
func TestSettled(t *testing.T) {
	state := func(s workload.State) func(*workload.Job) { return func(j *workload.Job) { j.State = s } }
	for _, c := range []struct {
		runs       map[int64][]workload.Job
		want, note string
		ended      int64 // when the last has ended, seconds after the promise; 0 if that is not settled
	}{
		{runs: map[int64][]workload.Job{1: run(1, 100), 2: run(2, 3600)}, want: api.StateKept, ended: 3600},
		{runs: map[int64][]workload.Job{1: run(1, 100), 2: run(2, 200, state(workload.Failed))}, want: api.StateKept, ended: 200},
		{runs: map[int64][]workload.Job{1: run(1, 100), 2: run(2, 3601)}, want: api.StateMissed, note: "job 2 ended 1 s after the deadline", ended: 3601},
		{runs: map[int64][]workload.Job{1: run(1, 100, state(workload.Cancelled)), 2: run(2, 200)}, want: api.StateCancelled, note: "job 1 was cancelled before the deadline", ended: 200},
		{runs: map[int64][]workload.Job{1: run(1, 100, state(workload.TimedOut)), 2: run(2, 200)}, want: api.StateCancelled, note: "job 1 was stopped at its time limit before its work was done", ended: 200},
		{
			runs: map[int64][]workload.Job{1: run(1, 100, state(workload.Cancelled)), 2: run(2, 200, func(j *workload.Job) { j.State, j.Evicted = workload.Failed, true })},
			want: api.StateMissed, note: "the nodes of job 2 failed or were taken away before its work was done", ended: 200,
		},
		{
			runs: map[int64][]workload.Job{1: run(1, 100), 2: run(2, 200, func(j *workload.Job) { j.State, j.Unfulfilled = workload.Cancelled, true })},
			want: api.StateMissed, note: "job 2 never started: the jobs that it waited for did not end as it needs", ended: 200,
		},
		// requeued
		{runs: map[int64][]workload.Job{1: run(1, 100), 2: append(run(2, 50, state(workload.Cancelled)), run(2, 300)...)}, want: api.StateKept, ended: 300},
		{runs: map[int64][]workload.Job{1: append(run(5, 50), run(6, 4000)...), 2: run(2, 300)}, want: api.StateMissed, note: "job 6 ended 400 s after the deadline", ended: 4000},
		{runs: map[int64][]workload.Job{1: run(1, 100)}, want: api.StatePending},
		{runs: map[int64][]workload.Job{1: run(1, 100), 2: {{ID: 2, Start: epoch}}}, want: api.StatePending},
	} {
		for _, batches := range []bool{true, false} {
			s := newSite(t)
			s.batches = batches
			s.promise(1, 2)
			s.queue = []slurm.QueueEntry{job(2)}
			if p := s.look(10); p.State != api.StatePending {
				t.Errorf("%+v", p)
			}
			s.queue, s.runs = nil, c.runs
			p, ended := s.look(20), int64(0)
			if c.ended != 0 {
				ended = epoch + c.ended
			}
			if p.State != c.want || p.Note != c.note || p.Ended != ended {
				t.Errorf("%+v: %s, %q, ended %d", c.runs, p.State, p.Note, p.Ended-epoch)
			}
			if c.want == api.StatePending {
				if p := s.look(20 + accounted); p.State != api.StateCancelled || p.Note != "what became of job 2 is not known: accounting does not tell" {
					t.Errorf("%+v", p)
				}
			} else if len(s.notices) != 1 || s.notices[0].State != c.want || !strings.HasSuffix(s.notices[0].Text, c.note) {
				t.Errorf("%+v", s.notices)
			}
		}
	}
}

// A promise that cannot be kept any more is missed at once.
func TestMissedAtOnce(t *testing.T) {
	s := newSite(t)
	s.promise(1, 2)
	s.queue = []slurm.QueueEntry{job(2, func(j *slurm.QueueEntry) { j.Reason, j.Dependency = slurm.NeverSatisfied, "afterok:1(failed)" })}
	if p := s.look(10); p.State != api.StatePending { // job 1 may have been cancelled
		t.Errorf("%+v", p)
	}
	if p := s.look(10 + unsure); p.State != api.StateMissed || p.Note != "job 2 never starts: the jobs that it waits for did not end as it needs (afterok:1(failed))" {
		t.Errorf("%+v", p)
	}
	s = newSite(t)
	s.promise(1, 7)
	s.queue = []slurm.QueueEntry{job(8, func(j *slurm.QueueEntry) { j.ArrayJob, j.Start = 7, epoch })}
	if p := s.look(3602); p.State != api.StatePending {
		t.Errorf("%+v", p)
	}
	if p := s.look(3603); p.State != api.StateMissed || p.Note != "job 8 still runs at the deadline" {
		t.Errorf("%+v", p)
	}
	s = newSite(t)
	s.promise(1)
	// Slurm uses numbers again
	s.queue = []slurm.QueueEntry{job(1, func(j *slurm.QueueEntry) { j.User = "bob" })}
	s.runs[1] = run(1, 5)
	if p := s.look(3700); p.State != api.StateKept {
		t.Errorf("%+v", p)
	}
}

// A job that was cancelled makes the promise void at once: while others wait, and also if these
// never start for it. While accounting fails, slurmctld tells.
func TestVoidAtOnce(t *testing.T) {
	for _, down := range []bool{false, true} {
		for _, never := range []bool{false, true} {
			s := newSite(t)
			s.promise(1, 2, 3)
			s.queue = []slurm.QueueEntry{job(2, func(j *slurm.QueueEntry) {
				if never {
					j.Reason, j.Dependency = slurm.NeverSatisfied, "afterok:1(failed)"
				}
			}), job(3)}
			cancelled := map[int64][]workload.Job{1: run(1, 5, func(j *workload.Job) { j.Start, j.State = 0, workload.Cancelled })}
			if s.runs = cancelled; down {
				s.runs, s.gone, s.down = nil, cancelled, true
			}
			if p := s.look(10); p.State != api.StateCancelled || p.Note != "job 1 was cancelled before the deadline" || p.Ended != 0 {
				t.Errorf("down %v, never %v: %+v", down, never, p)
			}
		}
	}
}

// Requeues and failures are lines of the story.
func TestStory(t *testing.T) {
	s := newSite(t)
	s.promise(1, 2)
	s.queue = []slurm.QueueEntry{job(1), job(2)}
	s.look(10)
	s.queue = []slurm.QueueEntry{job(1, func(j *slurm.QueueEntry) { j.RestartCount = 1 }), job(2)}
	s.look(20)
	s.queue, s.runs = s.queue[1:], map[int64][]workload.Job{1: run(1, 25, func(j *workload.Job) { j.State = workload.Failed })}
	s.look(30)
	var told []string
	for _, e := range s.look(40).Events {
		told = append(told, e.Text)
	}
	if want := []string{"promised, with an estimate of 0.95", "job 1 was requeued: it waits, and runs once more", "job 1 has failed"}; !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
}

// While accounting fails, flows are followed, and none is settled by what is not known.
func TestAccountingFails(t *testing.T) {
	s := newSite(t)
	s.promise(1, 2)
	s.queue, s.down = []slurm.QueueEntry{job(2)}, true
	for _, after := range []int64{10, 10 + accounted, 20 + accounted} {
		s.clock = epoch + after
		if err := s.Look(t.Context(), look.New(s.queue, s.clock)); !errors.Is(err, slurm.ErrUnavailable) {
			t.Error(err)
		}
		s.queue = nil
	}
	s.down, s.runs = false, map[int64][]workload.Job{1: run(1, 5), 2: run(2, 900)}
	if p := s.look(30 + accounted); p.State != api.StateKept {
		t.Errorf("%+v", p)
	}
}

// Changes of the forecast are told, as far as they are large.
func TestForecast(t *testing.T) {
	s := newSite(t)
	s.promise(1, 2)
	s.queue = []slurm.QueueEntry{job(1), job(2)}
	for _, c := range []struct {
		after  int64
		now    float64
		event  string // of the newest
		notice string
	}{
		{10, .93, "promised, with an estimate of 0.95", ""},
		{20, .5, "promised, with an estimate of 0.95", ""}, // it was forecast a moment ago
		{80, .5, "it ends in time with probability 0.50 by the present forecast, and most of all waits for job 2", api.NoticeEndangered},
		{150, .55, "it ends in time with probability 0.50 by the present forecast, and most of all waits for job 2", api.NoticeEndangered},
		{220, .94, "it ends in time with probability 0.94 by the present forecast, and most of all waits for job 2", api.NoticeSafe},
	} {
		s.now = &c.now
		p := s.look(c.after)
		if got := p.Events[len(p.Events)-1].Text; got != c.event {
			t.Errorf("after %d s: %q", c.after, got)
		}
		last := api.Notice{}
		if n := len(s.notices); n > 0 {
			last = s.notices[n-1]
		}
		if last.Event != c.notice {
			t.Errorf("after %d s: %+v", c.after, last)
		}
	}
	if len(s.slots) != 1 || len(s.notices) != 2 {
		t.Errorf("%+v, %+v", s.slots, s.notices)
	}
}

// A user sees her own flows, and operators all. Nobody has very many.
func TestFlows(t *testing.T) {
	s := newSite(t)
	for range MaxOpen {
		s.promise(1)
	}
	if _, err := s.PromiseFlow(t.Context(), "alice", api.FlowRequest{Jobs: []int64{1}, FinishBy: epoch + 60, Prob: .9}); !errors.Is(err, api.ErrConflict) {
		t.Errorf("%v", err)
	}
	if a, err := s.PromiseFlow(t.Context(), "bob", api.FlowRequest{Jobs: []int64{1}, FinishBy: epoch + 60, Prob: .9, Quote: true}); err != nil || a.Promised.ID != "" {
		t.Errorf("%+v, %v", a, err)
	}
	for user, want := range map[string]int{"alice": MaxOpen, "bob": 0, "root": 0} {
		if list, err := s.Flows(t.Context(), user, api.FlowsQuery{}); err != nil || len(list.Flows) != want {
			t.Errorf("%s: %d, %v", user, len(list.Flows), err)
		}
	}
	if list, err := s.Flows(t.Context(), "root", api.FlowsQuery{All: true}); err != nil || len(list.Flows) != MaxOpen {
		t.Errorf("%d, %v", len(list.Flows), err)
	}
	if _, err := s.Flows(t.Context(), "alice", api.FlowsQuery{All: true}); !errors.Is(err, api.ErrForbidden) {
		t.Errorf("%v", err)
	}
}

// A promise of a run of an engine says that jobs which come later are not promised.
func TestEngines(t *testing.T) {
	s := newSite(t)
	s.engines = "Snakemake"
	if p := s.promise(1, 2); len(p.Events) != 1 || p.Events[0].Text != "promised, with an estimate of 0.95: the jobs of a run of Snakemake that were in the queue, and none that came later" {
		t.Errorf("%+v", p.Events)
	}
}
