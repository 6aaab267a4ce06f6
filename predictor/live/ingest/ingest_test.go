package ingest

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/live/history"
	"github.com/varq-project/varq/predictor/live/outlook"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// source is an accounting with windows of an hour. Windows that end after the time fail
// return an error.
type source struct {
	jobs  []workload.Job
	fail  int64
	asked []int64 // the beginnings of the intervals asked for
}

var errAway = errors.New("accounting is away")

func (s *source) History(_ context.Context, from, to int64, progress func(slurm.Progress)) iter.Seq2[workload.Job, error] {
	s.asked = append(s.asked, from)
	return func(yield func(workload.Job, error) bool) {
		for at := from; at < to; at += 3600 {
			end := min(at+3600, to)
			if s.fail != 0 && s.fail < end {
				yield(workload.Job{}, errAway)
				return
			}
			for _, j := range s.jobs {
				if j.Start < end && (j.End == 0 || j.End >= at) && j.Start <= to && !yield(j, nil) {
					return
				}
			}
			progress(slurm.Progress{From: from, To: to, Complete: end})
		}
	}
}

// past returns one job an hour that waited ten minutes and ran for two hours.
func past(from, to int64) []workload.Job {
	var jobs []workload.Job
	for at := from; at < to; at += 3600 {
		jobs = append(jobs, workload.Job{
			ID: at, Request: workload.Request{User: "alice", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 7200},
			Submit: at, Eligible: at, Start: at + 600, End: at + 7800, State: workload.Completed,
		})
	}
	return jobs
}

const now = 1_800_000_000

// fixture is an Ingest, the Outlook whose models it keeps up to date, and their clock.
type fixture struct {
	*Ingest
	*outlook.Outlook
	clock int64
}

func start(t testing.TB, path string, s Source, own ...forecast.Forecaster) *fixture {
	t.Helper()
	cache, _, err := history.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cache.Close() })
	f := &fixture{clock: now}
	clock := func() int64 { return f.clock }
	f.Outlook = outlook.New(outlook.Options{SiteForecasters: own, Confidence: .95, Now: clock})
	f.Ingest = New(Options{
		Cache: cache, Source: s, Days: 2, Now: clock, Log: slog.New(slog.DiscardHandler),
		NewModel: func(p twin.Pools) Model { return f.NewModel(p) },
	})
	return f
}

func learnt(f *fixture) int {
	n, _ := f.StartsObserved()
	return n
}

func TestFirstLoadIsResumed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := &source{jobs: past(now-2*day+3600, now-3600), fail: now - day}
	g := start(t, path, s)
	if err := g.Load(t.Context()); !errors.Is(err, errAway) {
		t.Fatalf("Load = %v, want that accounting is away", err)
	}
	if err := g.Ready(); err == nil || !strings.Contains(err.Error(), "varqd has just started and reads its past (5") {
		t.Errorf("Ready = %v, want some fifty percent", err)
	}
	s.fail = 0
	again := start(t, path, s) // as after a crash
	if err := again.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := again.Ready(); err != nil {
		t.Error(err)
	}
	if learnt(again) != len(s.jobs) {
		t.Errorf("learnt %d of %d", learnt(again), len(s.jobs))
	}
	if resumed := s.asked[len(s.asked)-1]; resumed < now-day-2*3600 {
		t.Errorf("the second attempt began %d s ago", now-resumed)
	}
	if again.Covered() != now {
		t.Errorf("covered until %d, want now, %d", again.Covered(), now)
	}
}

func TestEachWaitIsLearntOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := &source{jobs: past(now-day, now-2*3600)}
	g := start(t, path, s)
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	base := learnt(g)

	running := past(now-3600, now-3599)[0]
	running.End, running.State = 0, workload.Running
	pending := running
	pending.ID, pending.Start, pending.State = 7, 0, workload.Pending
	queue := []slurm.QueueEntry{{Job: running}, {Job: pending}}
	for range 3 {
		if err := g.ObserveQueue(t.Context(), queue, now); err != nil {
			t.Fatal(err)
		}
	}
	if learnt(g) != base+1 {
		t.Errorf("learnt %d of the live queue, want 1", learnt(g)-base)
	}
	s.jobs = append(s.jobs, running)
	for range 2 {
		if err := g.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if learnt(g) != base+1 {
		t.Errorf("accounting taught again what the queue had: %d", learnt(g)-base)
	}
	again := start(t, path, s)
	if err := again.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := again.ObserveQueue(t.Context(), queue, now); err != nil {
		t.Fatal(err)
	}
	if learnt(again) != base+1 {
		t.Errorf("after a restart %d waits are known, before %d", learnt(again), base+1)
	}
}

func TestNothingCountsAsReadUntilTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := &source{jobs: past(now-day, now-2*3600)}
	g := start(t, path, s)
	var told []int64
	errBusy := errors.New("busy")
	g.OnAccounting = func(_ context.Context, jobs []workload.Job) error {
		if len(jobs) > 0 && told == nil {
			told = []int64{}
			return errBusy
		}
		for _, j := range jobs {
			told = append(told, j.ID)
		}
		return nil
	}
	if err := g.Load(t.Context()); !errors.Is(err, errBusy) {
		t.Fatal(err)
	}
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, j := range s.jobs {
		if !slices.Contains(told, j.ID) {
			t.Errorf("job %d was never told of", j.ID)
		}
	}
}

// TestFirstModelLearnsTheNewest: Load makes a model that serves soon, of the newest jobs, and
// CatchUp one of all, whether accounting answers or not.
func TestFirstModelLearnsTheNewest(t *testing.T) {
	s := &source{jobs: past(now-day, now-2*3600)}
	first := s.jobs[0]
	for i := range int64(soonJobs) {
		j := first
		j.ID = i + 1
		j.Submit, j.Eligible, j.Start, j.End = first.Submit+10*i, first.Submit+10*i, first.Submit+10*i+5, first.Submit+10*i+8
		s.jobs = append(s.jobs, j)
	}
	for _, soon := range []int{soonJobs, 100} {
		g := start(t, filepath.Join(t.TempDir(), "history.db"), s)
		if soon != soonJobs {
			g.Soon = soon
		}
		if g.Learning() {
			t.Error("it is learning before it has begun")
		}
		s.fail = 0
		if err := g.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		if g.Ready() != nil || !g.Learning() || learnt(g) != soon {
			t.Errorf("at first: %v, learning %v, learnt %d of %d", g.Ready(), g.Learning(), learnt(g), len(s.jobs))
		}
		s.fail = 1
		if err := g.CatchUp(t.Context()); !errors.Is(err, errAway) {
			t.Errorf("CatchUp = %v", err)
		}
		if g.Learning() || learnt(g) != len(s.jobs) {
			t.Errorf("then: learning %v, learnt %d of %d", g.Learning(), learnt(g), len(s.jobs))
		}
	}
}

// TestWhereJobsRun: a model knows the nodes of a running job, whether the queue or accounting told
// of it first. So does a new model that serves before another snapshot is taken.
func TestWhereJobsRun(t *testing.T) {
	for name, accounted := range map[string]bool{"the queue tells": false, "accounting tells": true} {
		s := &source{jobs: past(now-day, now-2*3600)}
		g := start(t, filepath.Join(t.TempDir(), "history.db"), s)
		nodes := make([]slurm.Node, 2)
		for i, name := range []string{"n1", "n2"} {
			nodes[i] = slurm.Node{Name: name, CPUs: 2, Partitions: []string{"main"}, Up: true, State: "MIXED"}
		}
		g.ObserveCluster(&limits.Cluster{}, nodes)
		if err := g.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		runs := job(1, -60, -30, 0)
		runs.Size, runs.Limit, runs.On = workload.Size{Nodes: 2, CPUs: 2}, day, []string{"n1", "n2"}
		queue := entries(runs)
		if accounted {
			queue = nil
		}
		if err := g.ObserveQueue(t.Context(), queue, now-40); err != nil {
			t.Fatal(err)
		}
		s.jobs = append(s.jobs, runs)
		if err := g.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		whole := workload.Claim{Start: now, From: now, Request: workload.Request{User: "bob", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 2}, Limit: 60}}
		whole.Pieces = workload.Pieces{Count: 1, Exclusive: true}
		free := func() float64 { return g.Room(workload.Place{Partition: "main"}, 0, now, nil)(whole, 0).Prob }
		if prob := free(); prob > .5 {
			t.Errorf("%s: a whole node is free with probability %v", name, prob)
		}
		if err := g.ObserveQueue(t.Context(), entries(runs), now); err != nil {
			t.Fatal(err)
		}
		before := free()
		if err := g.rebuild(t.Context(), maxJobs); err != nil {
			t.Fatal(err)
		}
		if after := free(); before > .5 || after != before {
			t.Errorf("%s: a whole node is free with probability %v, and when a new model serves with %v", name, before, after)
		}
	}
}

func TestOldCacheStartsAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := &source{jobs: past(now-day, now-2*3600)}
	if err := start(t, path, s).Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.fail = 1 // accounting is unavailable from now on
	g := start(t, path, s)
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if g.Ready() != nil || learnt(g) != len(s.jobs) {
		t.Errorf("%v, learnt %d", g.Ready(), learnt(g))
	}
	if err := g.CatchUp(t.Context()); !errors.Is(err, errAway) {
		t.Errorf("CatchUp = %v", err)
	}
}
