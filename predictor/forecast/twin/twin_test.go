package twin

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
)

// bench is a queue and its twin.
type bench struct {
	q  queue.Queue
	w  *Twin
	id int64
}

func sit(pools Pools) *bench {
	b := new(bench)
	b.w = New(&b.q, pools)
	return b
}

func (b *bench) submit(now int64, procs int32, limit int64) workload.Job {
	b.id++
	j := workload.Job{ID: b.id, Submit: now}
	j.CPUs, j.Limit = procs, limit
	b.q.Submit(j)
	b.w.Submitted(&j)
	return j
}

func (b *bench) start(now int64, j workload.Job) workload.Job {
	j.Start = now
	b.q.Start(j)
	b.w.Started(&j)
	return j
}

// place tells on which nodes a job runs.
func (b *bench) place(j workload.Job, nodes ...string) {
	j.On = nodes
	b.q.Change(&j)
	b.w.Changed(&j)
}

func (b *bench) end(now int64, j workload.Job) {
	b.q.Remove(j.ID)
	j.End = now
	b.w.Ended(&j)
}

func poolOf(procs int32) Pools {
	return func(workload.Place) Pool { return Pool{Name: "all", Size: workload.Size{CPUs: procs}} }
}

func request(procs int32, limit int64) *workload.Request {
	return &workload.Request{Size: workload.Size{CPUs: procs}, Limit: limit}
}

// TestPoint asks about a pool of 10 processors, 8 of which a job uses.
func TestPoint(t *testing.T) {
	b := sit(poolOf(10))
	b.start(1000, b.submit(1000, 8, 600))
	b.submit(1010, 10, 300)
	for _, c := range []struct {
		r    *workload.Request
		want int64
	}{
		{request(2, 500), 0},   // ends before the first of the queue may start
		{request(2, 700), 880}, // would delay it
		{request(4, 100), 880}, // behind both
	} {
		p, s := b.w.Point(c.r, 1020, 0), b.w.Snapshot(c.r, 1020, 0)
		if p.Limits != c.want {
			t.Errorf("%d processors for %d s: %d s, want %d", c.r.CPUs, c.r.Limit, p.Limits, c.want)
		}
		if p.Expected > p.Limits || len(s.Pending) != 1 || len(s.Running) != 1 || s.Procs != 10 {
			t.Errorf("%+v by %+v", p, s)
		}
	}
	more := request(20, 100)
	if p, s := b.w.Point(more, 1020, 0), b.w.Snapshot(more, 1020, 0); p.Limits != 580 || s.Procs != 20 {
		t.Errorf("more than there is: %+v by %+v", p, s)
	}
	if got, want := b.w.Point(request(1, 1), 1020, 0).Policy.String(), "FCFS with EASY backfilling"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestMoreWorkIsNoSooner: with FCFS without backfilling, a further job makes no other job
// start earlier.
func TestMoreWorkIsNoSooner(t *testing.T) {
	fcfs := slices.Index(hypotheses[:], hypothesis{Policy: rollout.Policy{Order: rollout.FCFS, Backfill: sched.NoBackfill}})
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		b := sit(poolOf(16))
		b.w.partitions.pool(b.w.partitions.at(workload.Place{})).best = fcfs
		free, now, last := int32(16), int64(1000), Point{}
		asked := request(1+r.Int32N(16), 60)
		for range 40 {
			j := b.submit(now, 1+r.Int32N(8), 60+r.Int64N(1000))
			if j.CPUs <= free {
				free -= j.CPUs
				b.start(now, j)
			}
			p := b.w.Point(asked, now, 0)
			if p.Limits < last.Limits || p.Expected < last.Expected {
				t.Fatalf("seed %d: from %+v down to %+v", seed, last, p)
			}
			last = p
		}
	}
}

func TestPartitions(t *testing.T) {
	for _, shared := range []bool{true, false} {
		r := rand.New(rand.NewPCG(1, 5))
		var p partitions
		a, b := p.at(workload.Place{Partition: "a"}), p.at(workload.Place{Partition: "b"})
		type use struct {
			in    *partition
			procs int32
		}
		var running []use
		for now := int64(0); now < 28*24*3600; now += 600 {
			for len(running) > 0 && r.IntN(3) == 0 {
				i := r.IntN(len(running))
				p.change(now, running[i].in, -running[i].procs)
				running = slices.Delete(running, i, i+1)
			}
			for range 20 {
				u := use{[]*partition{a, b}[r.IntN(2)], 1 + r.Int32N(8)}
				fits := u.in.usage.used+u.procs <= 40 && u.in == a || u.in.usage.used+u.procs <= 100 && u.in == b
				if shared {
					fits = p.usage.used+u.procs <= 100
				}
				if fits {
					p.change(now, u.in, u.procs)
					running = append(running, u)
				}
			}
		}
		p.estimate()
		if separate := p.pool(a) != p.pool(b); separate == shared {
			t.Errorf("shared %v, but separate %v: %v", shared, separate, p.pool(a).procs)
		}
		if got := p.pool(b).procs[0]; got < 97 || got > 100 {
			t.Errorf("shared %v: %d processors, want about 100", shared, got)
		}
		if got := p.pool(a).procs[0]; !shared && (got < 38 || got > 40) {
			t.Errorf("%d processors, want about 40", got)
		}
	}
}

// TestLatePartition: if a partition is first seen while others are in use, the number of
// processors that they use is known for it.
func TestLatePartition(t *testing.T) {
	var p partitions
	a := p.at(workload.Place{Partition: "a"})
	p.change(0, a, 100)
	late := p.at(workload.Place{Partition: "late"})
	p.change(10, a, 30)
	p.change(20, a, -100)
	if late.rest.used != 30 {
		t.Errorf("others use %d processors, want 30", late.rest.used)
	}
}

func TestSlots(t *testing.T) {
	last := -1
	for procs := range int32(100_000) {
		i := slot(procs)
		if i != last && i != last+1 || slotMost(i) < procs || slot(slotMost(i)) != i {
			t.Fatalf("%d processors are in slot %d after %d, up to %d", procs, i, last, slotMost(i))
		}
		last = i
	}
}

// TestForgets: a twin forgets jobs whose ends it does not observe.
func TestForgets(t *testing.T) {
	b := sit(nil)
	for i := range int64(3 * mostAbsent) {
		j := b.start(i, b.submit(i, 1, 60))
		b.q.Remove(j.ID)
	}
	if n := len(b.w.jobs); n > mostAbsent+2 {
		t.Errorf("%d jobs are known that are not there", n)
	}
	if used := b.w.partitions.usage.used; used != int32(len(b.w.jobs)) {
		t.Errorf("%d processors are in use by %d jobs", used, len(b.w.jobs))
	}
	j := b.start(1e6, b.submit(1e6, 5, 60))
	used := b.w.partitions.usage.used
	b.submit(1e6+10, 5, 60)
	b.q.Submit(j)
	b.w.Submitted(&j) // put back
	if got := b.w.partitions.usage.used; got != used-5 {
		t.Errorf("%d processors are in use, want %d", got, used-5)
	}
	b.end(1e6+20, j)
}

// TestResize: nodes that are drained take processors away from their pool, and bring them back.
func TestResize(t *testing.T) {
	b := sit(poolOf(10))
	b.start(1000, b.submit(1000, 4, 600))
	ask := func(procs int32) int64 {
		p := b.w.Point(request(procs, 300), 1020, 0)
		if p.TooLarge {
			return p.Longest()
		}
		return p.Limits
	}
	for _, c := range []struct {
		size       int32
		small, big int64
	}{{10, 0, 0}, {4, 580, Endless}, {8, 0, Endless}, {9, 0, 580}, {10, 0, 0}} {
		b.w.Resize(poolOf(c.size))
		if small, big := ask(4), ask(9); small != c.small || c.big != 0 && big != c.big {
			t.Errorf("%d processors: waits of %d and %d s, want %d and %d", c.size, small, big, c.small, c.big)
		}
	}
	whole := sit(poolOf(10))
	whole.start(1000, whole.submit(1000, 10, 600))
	waits := whole.submit(1010, 2, 3000)
	waits.Nodes = 1
	whole.q.Change(&waits)
	whole.w.Changed(&waits)
	ahead := func() int64 { return whole.w.Point(request(8, 300), 1020, 0).Limits }
	shared := ahead()
	whole.w.Resize(func(workload.Place) Pool {
		return Pool{Name: "all", Size: workload.Size{Nodes: 2, CPUs: 10}, WholeNodes: true}
	})
	// The one that waits takes one of two nodes now.
	if alone := ahead(); shared != 580 || alone != 580+3000 {
		t.Errorf("behind a job of 2 CPUs the wait is %d s, and %d s where nodes are not shared", shared, alone)
	}
	learns := sit(nil)
	learns.w.Resize(poolOf(4))
	if p := learns.w.Point(request(9, 300), 1020, 0); p.TooLarge {
		t.Error("a pool that is learnt has a configured size")
	}
}

// TestReserved: on what one of Slurm's own reservations has now no other job starts until it is
// over. A job that runs on its nodes takes nothing of what it leaves.
func TestReserved(t *testing.T) {
	nodes := []Node{{Name: "a", Size: workload.Size{CPUs: 4}}, {Name: "b", Size: workload.Size{CPUs: 6}}}
	for name, c := range map[string]struct {
		left  int32
		apart map[string]int64
		want  int64
	}{
		"nothing is reserved":         {10, nil, 0},
		"less than is left over":      {8, nil, 580},
		"more than is left over":      {4, nil, 3980},
		"the nodes of the job":        {6, map[string]int64{"a": 5000}, 0},
		"but not for as long":         {6, map[string]int64{"a": 1599}, 580},
		"other nodes":                 {4, map[string]int64{"b": 5000}, 3980},
		"the job's and another's, so": {8, map[string]int64{"a": 5000, "b": 5000}, 0},
	} {
		on := rollout.Windows{{From: 500, To: 5000, Left: c.left, Of: 10}}
		b := sit(func(workload.Place) Pool {
			return Pool{Name: "all", Size: workload.Size{CPUs: 10}, Own: workload.Size{CPUs: 10}, Nodes: nodes, Windows: on, Apart: c.apart}
		})
		j := b.start(1000, b.submit(1000, 4, 600))
		b.place(j, "a")
		if got := b.w.Point(request(6, 300), 1020, 0).Limits; got != c.want {
			t.Errorf("%s: %d s, want %d", name, got, c.want)
		}
	}
}

// TestWindows: no job starts that would run into a window. What waits for its end starts then, one
// after the other.
func TestWindows(t *testing.T) {
	closed := rollout.Windows{{From: 500, To: 900}, {From: 2000, To: 3000}}
	b := sit(func(workload.Place) Pool { return Pool{Name: "all", Size: workload.Size{CPUs: 10}, Windows: closed} })
	for range 3 {
		b.submit(1000, 10, 1500)
	}
	for _, c := range []struct {
		procs       int32
		limit, want int64
	}{{1, 600, 0}, {10, 1000, 0}, {1, 1001, 6500}, {1, 1500, 6500}} {
		if got := b.w.Point(request(c.procs, c.limit), 1000, 0).Limits; got != c.want {
			t.Errorf("%d processors for %d s: %d s, want %d", c.procs, c.limit, got, c.want)
		}
	}
	// when all others have come
	if got := b.w.PointAt(request(1, 600), 1000, 2500, 0).Limits; got != 5000 {
		t.Errorf("submitted during a window: %d s", got)
	}
	b.start(1000, b.submit(1000, 4, 600))
	// though a job has outlived its limit
	if got := b.w.Point(request(6, 1500), 2500, 0).Limits; got != 5000 {
		t.Errorf("during a window: %d s", got)
	}
	if got := b.w.Point(request(6, 300), 3000, 0).Limits; got != 60+4500 {
		t.Errorf("after it: %d s", got)
	}
	if got := b.w.Windows(workload.Place{Partition: "any"}); !slices.Equal(got, closed) {
		t.Errorf("%v", got)
	}
}

// TestAtLimit: while a job is at a limit, it is not ahead of others.
func TestAtLimit(t *testing.T) {
	b := sit(poolOf(10))
	b.start(1000, b.submit(1000, 8, 600))
	before := b.w.Point(request(6, 300), 1020, 0)
	j := b.submit(1010, 6, 300)
	ahead := b.w.Point(request(6, 300), 1020, 0)
	j.AtLimit = true
	b.q.Change(&j)
	if limited := b.w.Point(request(6, 300), 1020, 0); ahead == before || limited != before {
		t.Errorf("%+v, %+v behind a job, and %+v when that is at a limit", before, ahead, limited)
	}
}

// TestJobIsNotAheadOfItself: a job in the queue waits as long as it would have if it joined
// now.
func TestJobIsNotAheadOfItself(t *testing.T) {
	b := sit(poolOf(10))
	b.start(1000, b.submit(1000, 8, 600))
	before := b.w.Point(request(6, 300), 1020, 0)
	j := b.submit(1020, 6, 300)
	if got := b.w.Point(request(6, 300), 1020, j.ID); got != before || got.Limits != 580 {
		t.Errorf("%+v, and %+v before it joined", got, before)
	}
	if got := b.w.Point(request(6, 300), 1020, 0); got.Limits != 880 {
		t.Errorf("%+v of a second job like it", got)
	}
}

// TestWaitsForNodes: jobs that wait for nodes of their own are in the way of others with all of
// these, and not only with the processors that they ask for.
func TestWaitsForNodes(t *testing.T) {
	b := sit(poolOf(8))
	b.start(1000, b.submit(1000, 8, 100))
	for range 4 {
		j := b.submit(1000, 1, 100)
		j.Given = 8
		b.q.Submit(j)
		b.w.Submitted(&j)
		b.w.Changed(&j)
	}
	if p := b.w.Point(request(1, 100), 1000, 0); p.Limits != 500 {
		t.Errorf("a wait of %d s behind five jobs that run for 100 s each, one after another", p.Limits)
	}
}
