package ingest

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// diary is a site's own forecaster that records what it observes, with times since now, and
// "!" after what happens to a narrow job, and "%" after what happens to one at a limit.
type diary struct {
	observed []string
	relearnt int
}

func (*diary) Name() string                                           { return "diary" }
func (*diary) Forecast(_ *forecast.Question, _ *forecast.Answer) bool { return false }
func (d *diary) note(what string, j *workload.Job, at int64) {
	said := fmt.Sprintf("%s%d@%d", what, j.ID, at-now)
	if j.Narrow() {
		said += "!"
	}
	if j.AtLimit {
		said += "%"
	}
	d.observed = append(d.observed, said)
}
func (d *diary) Relearn()                  { d.relearnt++ }
func (d *diary) Submitted(j *workload.Job) { d.note("+", j, j.Since()) }
func (d *diary) Started(j *workload.Job)   { d.note(">", j, j.Start) }
func (d *diary) Ended(j *workload.Job)     { d.note("-", j, j.End) }

// words returns what was observed since its last call.
func (d *diary) words() string {
	text := strings.Join(d.observed, " ")
	d.observed = nil
	return text
}

// accounts is an accounting of one window, which may change.
type accounts []workload.Job

func (a *accounts) History(_ context.Context, from, to int64, progress func(slurm.Progress)) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		for _, j := range *a {
			if !yield(j, nil) {
				return
			}
		}
		progress(slurm.Progress{From: from, To: to, Complete: to})
	}
}

func job(id, eligible, start, end int64) workload.Job {
	j := workload.Job{
		ID: id, Request: workload.Request{User: "alice", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 600},
		Submit: now + eligible, Eligible: now + eligible, State: workload.Pending,
	}
	if start != 0 {
		j.Start, j.State = now+start, workload.Running
	}
	if end != 0 {
		j.End, j.State = now+end, workload.Completed
	}
	return j
}

// step is a snapshot of the queue, and what is observed.
type step struct {
	at       int64
	queue    []slurm.QueueEntry
	accounts []workload.Job // if any, accounting is read before
	want     string
}

func entries(jobs ...workload.Job) []slurm.QueueEntry {
	list := make([]slurm.QueueEntry, len(jobs))
	for i := range jobs {
		list[i].Job = jobs[i]
	}
	return list
}

func TestEvents(t *testing.T) {
	held, dependent, later := entries(job(1, 0, 0, 0)), entries(job(1, 0, 0, 0)), entries(job(1, 90, 0, 0))
	held[0].Held = true
	dependent[0].Eligible = 0
	changed := job(1, 50, 0, 0)
	changed.Submit = now
	again := job(1, 70, 0, 0)
	narrow, narrowRuns := entries(job(1, 5, 0, 0), job(2, 5, 0, 0)), entries(job(1, 5, 45, 0), job(2, 5, 45, 0))
	narrow[0].NodeSet, narrowRuns[0].NodeSet = "n1", "n[1-2]"
	limited := entries(job(1, 5, 0, 0))
	limited[0].AtLimit = true
	accounted := job(1, 12, 13, 15)
	accounted.AtLimit = true
	for name, steps := range map[string][]step{
		"a life": {
			{20, entries(job(1, 5, 0, 0)), nil, "+1@5"},
			{40, entries(job(1, 5, 0, 0)), nil, ""},
			{60, entries(job(1, 5, 45, 0)), nil, ">1@45"},
			{80, entries(job(1, 5, 45, 0)), nil, ""},
			{100, nil, nil, "-1@80"}, // just after it was last seen
			{120, nil, []workload.Job{job(1, 5, 45, 95)}, ""},
		},
		"narrow": {
			{20, narrow, nil, "+1@5! +2@5"},
			{60, narrowRuns, nil, ">1@45! >2@45"},
		},
		"narrow, and accounting is first": {
			{20, narrow, nil, "+1@5! +2@5"},
			{60, nil, []workload.Job{job(1, 5, 45, 50), job(2, 5, 45, 50)}, ">1@45! >2@45 -1@50! -2@50"},
		},
		"narrow, and gone before accounting tells": {
			{20, narrow, nil, "+1@5! +2@5"},
			{60, nil, nil, "-1@20! -2@20"},
			{80, nil, []workload.Job{job(1, 5, 45, 50), job(2, 5, 45, 50)}, "+1@60! +2@60 >1@100! >2@100 -1@105! -2@105"},
		},
		"at a limit": {
			{20, entries(job(1, 5, 0, 0)), nil, "+1@5"},
			{40, limited, nil, ""},
			{60, entries(job(1, 5, 0, 0)), nil, ""},
			{80, entries(job(1, 5, 75, 0)), nil, ">1@75%"}, // it was, for a time
			{100, nil, []workload.Job{job(1, 5, 75, 90)}, "-1@90%"},
		},
		"at a limit, and accounting is first": {
			{20, limited, nil, "+1@5%"},
			{60, nil, []workload.Job{job(1, 5, 45, 50)}, ">1@45% -1@50%"},
		},
		"at a limit, and only accounting tells": {
			{20, nil, nil, ""},
			{40, nil, []workload.Job{accounted}, "+1@20% >1@21% -1@23%"},
		},
		"ends make room": {
			{20, entries(job(1, 5, 6, 0), job(2, 7, 0, 0)), nil, "+1@5 >1@6 +2@7"},
			{40, entries(job(2, 7, 30, 0), job(3, 31, 32, 0)), nil, "-1@20 >2@30 +3@31 >3@32"},
		},
		"of jobs of one second, those came first that run": {
			{20, entries(job(1, 5, 0, 0), job(2, 5, 6, 0)), nil, "+2@5 +1@5 >2@6"},
		},
		"cancelled": {
			{20, entries(job(1, 5, 0, 0)), nil, "+1@5"},
			{40, nil, nil, "-1@20"},
		},
		"held and released": {
			{20, held, nil, ""},
			{40, entries(job(1, 30, 0, 0)), nil, "+1@30"},
			{60, held, nil, "-1@40"},
		},
		"dependent, begins later": {
			{20, dependent, nil, ""},
			{40, later, nil, ""},
			{100, later, nil, "+1@90"},
		},
		"begin time moved while it waits": {
			{40, entries(job(1, 0, 0, 0)), nil, "+1@0"},
			{60, entries(changed), nil, "-1@40 +1@50"},
		},
		"requeued": {
			{20, entries(job(1, 5, 6, 0)), nil, "+1@5 >1@6"},
			{80, entries(again), nil, "-1@20 +1@70"},
			{100, entries(job(1, 70, 90, 0)), nil, ">1@90"},
		},
		"came and went between two looks": {
			{20, nil, nil, ""},
			// observed late: as if just now
			{40, nil, []workload.Job{job(1, 12, 13, 15)}, "+1@20 >1@21 -1@23"},
			{60, nil, []workload.Job{job(1, 12, 13, 15)}, ""},
		},
		"seen to wait, then accounted": {
			{20, entries(job(1, 5, 0, 0)), nil, "+1@5"},
			{40, nil, []workload.Job{job(1, 5, 25, 35)}, ">1@25 -1@35"},
		},
		"a snapshot from before accounting was read": {
			{20, entries(job(1, 5, 6, 0)), nil, "+1@5 >1@6"},
			{40, entries(job(1, 5, 6, 0)), []workload.Job{job(1, 5, 6, 39)}, "-1@39"},
			{60, nil, nil, ""},
		},
		"tasks of an array are not seen to wait": {
			{2000, entries(job(1, 0, 0, 0)), nil, "+1@0"},
			{2020, entries(job(1, 0, 0, 0), job(2, 0, 2010, 0)), nil, ">2@2010"},
			{2040, entries(job(1, 0, 2030, 0), job(2, 0, 2010, 0)), nil, ">1@2030"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var d diary
			a := accounts(past(now-day, now-2*3600))
			g := start(t, filepath.Join(t.TempDir(), "history.db"), &a, &d)
			if err := g.ObserveQueue(t.Context(), nil, now); err != nil {
				t.Fatal(err)
			}
			if err := g.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			if said := d.words(); said != "" {
				t.Fatalf("a site's own forecaster observed the past: %s", said)
			}
			for _, s := range steps {
				if s.accounts != nil {
					a = s.accounts
					if err := g.CatchUp(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if err := g.ObserveQueue(t.Context(), s.queue, now+s.at); err != nil {
					t.Fatal(err)
				}
				if said := d.words(); said != s.want {
					t.Errorf("after the snapshot at %d observed %q, want %q", s.at, said, s.want)
				}
			}
		})
	}
}

// The model's queue has which jobs that wait are at a limit now.
func TestAtLimitNow(t *testing.T) {
	a := accounts(past(now-day, now-2*3600))
	g := start(t, filepath.Join(t.TempDir(), "history.db"), &a, &diary{})
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, limited := range []bool{false, true, true, false} {
		queue := entries(job(1, 5, 0, 0))
		queue[0].AtLimit = limited
		if err := g.ObserveQueue(t.Context(), queue, now+20*int64(i+1)); err != nil {
			t.Fatal(err)
		}
		if j := g.tracker.Load().Queue().Job(1); j == nil || j.AtLimit != limited {
			t.Errorf("snapshot %d: %+v, want at a limit %v", i, j, limited)
		}
	}
}

// The model's queue has what a job asks for now, and how long it may run.
func TestRequestNow(t *testing.T) {
	a := accounts(past(now-day, now-2*3600))
	g := start(t, filepath.Join(t.TempDir(), "history.db"), &a, &diary{})
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, limit := range []int64{600, 7200, 300} {
		queue := entries(job(1, 5, 0, 0), job(2, 5, 6, 0))
		for k := range queue {
			queue[k].Limit = limit
		}
		queue[0].Partition = fmt.Sprint("p", i)
		if err := g.ObserveQueue(t.Context(), queue, now+20*int64(i+1)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			for k := range queue {
				if j := g.tracker.Load().Queue().Job(queue[k].ID); j == nil || j.Request != queue[k].Request {
					t.Errorf("snapshot %d: %+v, want %+v", i, j, queue[k].Request)
				}
			}
			// from the accounting, which knows the first limit
			if err := g.rebuild(t.Context(), maxJobs); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The model's queue has what Slurm says of its order now, and the cache the priority that a job
// began to wait with.
func TestOrderNow(t *testing.T) {
	var a accounts
	g := start(t, filepath.Join(t.TempDir(), "history.db"), &a, &diary{})
	g.ObserveCluster(&limits.Cluster{
		Aging:      workload.Aging{Weight: 6000, Max: 600}, // 10 a second
		Partitions: map[string]limits.Partition{"main": {Name: "main", Up: true}, "first": {Name: "first", Up: true, Tier: 3, QOS: "small"}},
	}, nil)
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		priority int64
		want     int64
	}{{5150, 5000}, {5350, 5000}, {4550, 4000}, {10_000, 9250}} {
		// 15 s after it began to wait, and then each 20 s
		queue := entries(job(1, 5, 0, 0), job(2, 5, 0, 0))
		for k := range queue {
			queue[k].Priority, queue[k].QOSFull = c.priority, true
		}
		queue[1].Partition = "first,main"
		if err := g.ObserveQueue(t.Context(), queue, now+20*int64(i+1)); err != nil {
			t.Fatal(err)
		}
		one, other := g.tracker.Load().Queue().Job(1), g.tracker.Load().Queue().Job(2)
		if one == nil || other == nil || one.Priority != c.want || other.Priority != c.want+3<<32 || !one.QOSFull || other.QOSFull {
			t.Errorf("snapshot %d: %+v and %+v, want %d", i, one, other, c.want)
		}
	}
	if err := g.ObserveQueue(t.Context(), entries(job(1, 5, 90, 0)), now+100); err != nil {
		t.Fatal(err)
	}
	a = accounts{job(2, 5, 95, 96)}
	if err := g.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	kept := map[int64]int64{}
	for j, err := range g.Cache.Jobs(t.Context(), 10) {
		if err != nil {
			t.Fatal(err)
		}
		kept[j.ID] = j.Priority
	}
	if want := map[int64]int64{1: 5000, 2: 5000 + 3<<32}; !maps.Equal(kept, want) {
		t.Errorf("kept %v, want %v", kept, want)
	}
}

// Where a priority only counts submissions, all jobs of a tier have the same: who comes next is not
// ahead of those who came since the same user's last job.
func TestBasicPriorities(t *testing.T) {
	o := orderOf(&limits.Cluster{Basic: true, Partitions: map[string]limits.Partition{"main": {Name: "main"}, "first": {Name: "first", Tier: 2}}})
	for _, c := range []struct {
		partition      string
		priority, want int64
	}{{"main", 4294901759, 1}, {"main", 4294901000, 1}, {"first", 4294900000, 1 + 2<<32}, {"main", 0, 0}} {
		j := job(1, 5, 0, 0)
		j.Partition, j.Priority = c.partition, c.priority
		if o.read(&j, now+20); j.Priority != c.want {
			t.Errorf("%d in %s: %d, want %d", c.priority, c.partition, j.Priority, c.want)
		}
	}
}

// TestLater: the jobs whose begin time has not come are those of the last snapshot.
func TestLater(t *testing.T) {
	g := start(t, filepath.Join(t.TempDir(), "history.db"), &accounts{})
	queue := entries(job(1, 5, 0, 0), job(2, 500, 0, 0), job(3, 500, 0, 0), job(4, 5, 6, 0), job(5, 900, 0, 0))
	queue[2].Held = true
	for at, want := range map[int64][]int64{20: {2, 5}, 500: {5}, 1000: nil} {
		if err := g.ObserveQueue(t.Context(), queue, now+at); err != nil {
			t.Fatal(err)
		}
		var got []int64
		for j := range g.Later {
			got = append(got, j.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("at %d: %v, want %v", at, got, want)
		}
	}
}

// names describes the jobs of a queue.
func names(jobs ...workload.Job) []string {
	set := map[string]bool{}
	for i := range jobs {
		set[fmt.Sprintf("%d %d %d", jobs[i].ID, jobs[i].Submit, jobs[i].Start)] = true
	}
	return slices.Sorted(maps.Keys(set))
}

func queued(g *fixture) []string {
	var jobs []workload.Job
	q := g.tracker.Load().Queue()
	for j := range q.Pending() {
		jobs = append(jobs, j.Job)
	}
	for j := range q.Running() {
		jobs = append(jobs, j.Job)
	}
	return names(jobs...)
}

// Whatever happens between snapshots, and whenever accounting is read or a model is
// rebuilt: in the end the model's queue is that of the last snapshot, the model has
// observed every start once, and no job has ended that had not started or begun to wait.
func TestQueueIsThatOfTheLastSnapshot(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		var d diary
		var all accounts
		g := start(t, filepath.Join(t.TempDir(), "history.db"), &all, &d)
		if err := g.ObserveQueue(t.Context(), nil, g.clock); err != nil {
			t.Fatal(err)
		}
		if err := g.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		var live []workload.Job
		id := int64(0)
		for range 60 {
			from := g.clock
			g.clock += 1 + random.Int64N(40)
			if random.IntN(20) == 0 {
				g.clock += 2 * maxGap
			}
			at := func() int64 { return from + 1 + random.Int64N(g.clock-from) }
			for range random.IntN(4) {
				id++
				live = append(live, job(id, at()-now, 0, 0))
			}
			live = slices.DeleteFunc(live, func(j workload.Job) bool {
				if random.IntN(3) > 0 {
					return false
				}
				if j.Start == 0 && random.IntN(4) > 0 {
					return false
				}
				j.End, j.State = max(j.Start, at()), workload.Completed
				all = append(all, j)
				return true
			})
			for i := range live {
				j := &live[i]
				switch {
				case j.Start == 0 && random.IntN(2) == 0:
					j.Start, j.State = max(j.Eligible, at()), workload.Running
				case j.Start != 0 && random.IntN(20) == 0: // requeued
					over := *j
					over.End, over.State = max(j.Start, from), workload.Requeued
					all = append(all, over)
					*j = job(j.ID, g.clock-now, 0, 0)
				}
			}
			if random.IntN(3) == 0 {
				if err := g.CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := g.ObserveQueue(t.Context(), entries(live...), g.clock); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(names(live...), queued(g)); diff != "" {
				t.Fatalf("seed %d at %d: %s", seed, g.clock-now, diff)
			}
		}
		starts := map[string]bool{}
		known := map[string]bool{}
		for _, word := range d.observed {
			name, _, _ := strings.Cut(word[1:], "@")
			switch word[0] {
			case '+':
				known[name] = true
			case '>':
				if starts[word] {
					t.Errorf("seed %d: %s twice", seed, word)
				}
				starts[word], known[name] = true, true
			case '-':
				if !known[name] {
					t.Errorf("seed %d: %s, but it was not there", seed, word)
				}
				delete(known, name)
			}
		}
	}
}

func TestLoadKnowsTheLiveQueue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	a := accounts(append(past(now-day, now-2*3600), job(7, -900, -800, 0), job(8, -900, -700, 0)))
	g := start(t, path, &a)
	queue := entries(job(7, -900, -800, 0), job(9, -day, -day+3600, 0), job(10, -300, 0, 0))
	if err := g.ObserveQueue(t.Context(), queue, now); err != nil {
		t.Fatal(err)
	}
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := names(queue[0].Job, queue[1].Job, queue[2].Job) // 8 has ended, at an unknown time
	if diff := cmp.Diff(want, queued(g)); diff != "" {
		t.Error(diff)
	}
	if waiting, running := g.Queue(); waiting != 1 || running != 2 {
		t.Errorf("%d wait and %d run", waiting, running)
	}

	unseen := start(t, path, &a) // no snapshot yet: jobs that have not ended run
	if err := unseen.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(names(job(7, -900, -800, 0), job(8, -900, -700, 0)), queued(unseen)); diff != "" {
		t.Error(diff)
	}
	if err := unseen.ObserveQueue(t.Context(), queue, now); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, queued(unseen)); diff != "" {
		t.Error(diff)
	}
}

// A site's own forecaster learns the past by itself. It learns it again after a gap, and
// only then.
func TestOwnForecastersRelearnAfterAGap(t *testing.T) {
	var d diary
	a := accounts(past(now-day, now-2*3600))
	g := start(t, filepath.Join(t.TempDir(), "history.db"), &a, &d)
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ after, relearnt int64 }{{300, 0}, {2 * maxGap, 1}, {300, 1}} {
		g.clock += step.after
		if err := g.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d.relearnt != int(step.relearnt) {
			t.Errorf("relearnt %d times, want %d", d.relearnt, step.relearnt)
		}
	}
}

func TestReplay(t *testing.T) {
	a := accounts(past(now-3*3600, now-2*3600))
	g := start(t, filepath.Join(t.TempDir(), "history.db"), &a)
	if err := g.ObserveQueue(t.Context(), entries(job(7, -900, -800, 0), job(9, -300, 0, 0)), now); err != nil {
		t.Fatal(err)
	}
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	var d diary
	if err := g.Replay(t.Context(), &d); err != nil {
		t.Fatal(err)
	}
	first := a[0].ID
	want := fmt.Sprintf("+%d@-10800 >%[1]d@-10200 -%[1]d@-3000 +7@-900 >7@-800 +9@-300", first)
	if said := d.words(); said != want {
		t.Errorf("observed %q, want %q", said, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Replay(ctx, &d); err == nil {
		t.Error("the past is replayed to an observer that is gone")
	}
}

// TestTasksThatWaitAreCounted: the tasks of an array that wait are jobs that wait, also when
// some have started or were cancelled.
func TestTasksThatWaitAreCounted(t *testing.T) {
	a := accounts(past(now-day, now-2*3600))
	g := start(t, filepath.Join(t.TempDir(), "history.db"), &a)
	array := func(tasks int32) workload.Job {
		j := job(1, 0, 0, 0)
		j.Array, j.Tasks = 1, tasks
		return j
	}
	look := func(at int64, waiting, running int, jobs ...workload.Job) {
		t.Helper()
		if err := g.ObserveQueue(t.Context(), entries(jobs...), now+at); err != nil {
			t.Fatal(err)
		}
		if w, r := g.Queue(); w != waiting || r != running {
			t.Errorf("%d wait and %d run, want %d and %d", w, r, waiting, running)
		}
	}
	look(0, 0, 0, array(1000))
	if err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	look(10, 1000, 0, array(1000))
	look(20, 1001, 0, array(1000), job(2, 15, 0, 0))
	look(30, 998, 3, array(997), job(2, 15, 0, 0), job(3, 0, 25, 0), job(4, 0, 25, 0), job(5, 0, 26, 0))
	look(40, 501, 3, array(500), job(2, 15, 0, 0), job(3, 0, 25, 0), job(4, 0, 25, 0), job(5, 0, 26, 0))
	look(50, 1, 0, job(2, 15, 0, 0))
}
