package twin

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/workload"
)

// bench is a queue and its twin.
type bench struct {
	q  queue.Queue
	w  *Twin
	id int64
}

func sit(o Options) *bench {
	b := new(bench)
	b.w = New(&b.q, o)
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

func (b *bench) end(now int64, j workload.Job) {
	b.q.Remove(j.ID)
	j.End = now
	b.w.Ended(&j)
}

func machineOf(procs int32) func(string) (string, int32) {
	return func(string) (string, int32) { return "all", procs }
}

func request(procs int32, limit int64) *workload.Request {
	return &workload.Request{Size: workload.Size{CPUs: procs}, Limit: limit}
}

// TestPoint asks about a machine of 10 processors on which one job runs on 8.
func TestPoint(t *testing.T) {
	policy := Policy{FCFS, sched.EASY}
	b := sit(Options{Machine: machineOf(10), Policy: &policy})
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
		p, e := b.w.Point(c.r, 1020)
		if p.Limits != c.want {
			t.Errorf("%d processors for %d s: %d s, want %d", c.r.CPUs, c.r.Limit, p.Limits, c.want)
		}
		if p.Expected > p.Limits || e.Waiting != 1 || e.Running != 1 || e.Procs != 10 {
			t.Errorf("%+v by %v", p, e)
		}
	}
	if p, e := b.w.Point(request(20, 100), 1020); p.Limits != 580 || e.Procs != 20 {
		t.Errorf("more than there is: %+v by %+v", p, e)
	}
	want := "5 simulations of the queue: 1 jobs waiting, 1 running, FCFS with EASY backfilling"
	if _, e := b.w.Point(request(1, 1), 1020); e.String() != want {
		t.Errorf("%q, want %q", e, want)
	}
}

// TestMoreWorkIsNoSooner: without backfilling in the order of arrival, no job more
// that waits or runs lets another start earlier.
func TestMoreWorkIsNoSooner(t *testing.T) {
	policy := Policy{FCFS, sched.NoBackfill}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		b := sit(Options{Machine: machineOf(16), Policy: &policy})
		free, now, last := int32(16), int64(1000), Point{}
		asked := request(1+r.Int32N(16), 60)
		for range 40 {
			j := b.submit(now, 1+r.Int32N(8), 60+r.Int64N(1000))
			if j.CPUs <= free {
				free -= j.CPUs
				b.start(now, j)
			}
			p, _ := b.w.Point(asked, now)
			if p.Limits < last.Limits || p.Expected < last.Expected {
				t.Fatalf("seed %d: from %+v down to %+v", seed, last, p)
			}
			last = p
		}
	}
}

// TestWaits: the same random numbers give the same answers, within the time there is.
func TestWaits(t *testing.T) {
	w, now := busy(200, 100)
	asked := &workload.Request{User: "user1", Partition: "batch", Size: workload.Size{CPUs: 32}, Limit: 3600}
	ask := func(seed uint64) (d delay.Distribution) {
		w.Look(now, rand.New(rand.NewPCG(seed, 1)))
		e := w.Wait(asked, now, &d)
		if e.Runs == 0 || e.Waiting != 200 || e.Running != 100 {
			t.Errorf("%+v", e)
		}
		return d
	}
	first, second, third := ask(1), ask(1), ask(2)
	if first != second {
		t.Error("the same random numbers give different answers")
	}
	if first == third {
		t.Error("different random numbers give the same answer")
	}
	if first[0] < 0 || !slices.IsSorted(first[:]) || first[delay.Points-1] > 1 {
		t.Errorf("no distribution: %v", first)
	}
	runs := 0
	w.options.Expired = func() bool { runs++; return runs == 5 }
	w.Look(now, rand.New(rand.NewPCG(1, 1)))
	if e := w.Wait(asked, now, &first); e.Runs != 5 {
		t.Errorf("%d simulations until time was up, want 5", e.Runs)
	}
}

// TestFiller holds the search for gaps against looking at all.
func TestFiller(t *testing.T) {
	var f filler
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		var gaps []gap
		now := int64(0)
		for range r.IntN(20) {
			now += r.Int64N(3)
			g := gap{from: now, to: now + 1 + r.Int64N(5)}
			g.until = now + r.Int64N(12)
			gaps = append(gaps, g)
			now = g.to
		}
		f.reset(gaps)
		for submit := now + 2; submit >= 0; submit-- {
			limit := 1 + r.Int64N(8)
			want := int64(sched.Never)
			for _, g := range gaps {
				if at := max(submit, g.from); at < g.to && at+limit <= g.until {
					want = at
					break
				}
			}
			if got := f.start(submit, limit); got != want {
				t.Fatalf("seed %d: %v at %d for %d: %d, want %d", seed, gaps, submit, limit, got, want)
			}
		}
	}
}

func TestPartitions(t *testing.T) {
	for _, shared := range []bool{true, false} {
		r := rand.New(rand.NewPCG(1, 5))
		var p partitions
		a, b := p.of("a"), p.of("b")
		type use struct {
			in    *partition
			procs int32
		}
		var running []use
		for now := int64(0); now < 4*week; now += 600 {
			for len(running) > 0 && r.IntN(3) == 0 {
				i := r.IntN(len(running))
				p.take(now, running[i].in, -running[i].procs)
				running = slices.Delete(running, i, i+1)
			}
			for range 20 {
				u := use{[]*partition{a, b}[r.IntN(2)], 1 + r.Int32N(8)}
				fits := u.in.usage.used+u.procs <= 40 && u.in == a || u.in.usage.used+u.procs <= 100 && u.in == b
				if shared {
					fits = p.usage.used+u.procs <= 100
				}
				if fits {
					p.take(now, u.in, u.procs)
					running = append(running, u)
				}
			}
		}
		p.workOut()
		if separate := p.machine(a) != p.machine(b); separate == shared {
			t.Errorf("shared %v, but separate %v: %v", shared, separate, p.machine(a).procs)
		}
		if got := p.machine(b).procs[0]; got < 97 || got > 100 {
			t.Errorf("shared %v: %d processors, want about 100", shared, got)
		}
		if got := p.machine(a).procs[0]; !shared && (got < 38 || got > 40) {
			t.Errorf("%d processors, want about 40", got)
		}
	}
}

// TestLatePartition: of one that is met when others are in use it is known what they
// use.
func TestLatePartition(t *testing.T) {
	var p partitions
	a := p.of("a")
	p.take(0, a, 100)
	late := p.of("late")
	p.take(10, a, 30)
	p.take(20, a, -100)
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

// TestArrivals lets jobs come that came every hour, on Mondays on two processors.
func TestArrivals(t *testing.T) {
	var a arrivals
	class := new(class)
	monday := func(now int64) bool { return (now/day+4)%7 == 1 }
	now := int64(1000 * week)
	add := func() {
		came := arrival{submit: now, limit: 60, procs: 1, class: class}
		if monday(now) {
			came.procs = 2
		}
		a.add(came)
		now += hour
	}
	r := rand.New(rand.NewPCG(1, 6))
	here := func(*partition) bool { return true }
	if tasks := a.draw(now, now+day, r, here, nil); len(tasks) > 0 {
		t.Errorf("%d jobs will come, though none ever did", len(tasks))
	}
	for range 5 * 7 * 24 {
		add()
	}
	last := now - hour // a moment at which everything has been told
	tasks := a.draw(last, last+2*week, r, here, nil)
	if len(tasks) != 2*7*24 {
		t.Errorf("%d jobs come in two weeks, want %d", len(tasks), 2*7*24)
	}
	for _, task := range tasks {
		sure := monday(task.submit-about) == monday(task.submit+about)
		if sure && monday(task.submit) != (task.procs == 2) || task.submit <= last {
			t.Fatalf("%+v does not come as others came", task)
		}
	}
	for range remembered {
		add()
	}
	if len(a.list) > remembered || a.get(0) != nil || a.get(a.first) != &a.list[0] {
		t.Errorf("%d are remembered, from %d on", len(a.list), a.first)
	}
}

// TestForgets tells a twin of jobs that never end.
func TestForgets(t *testing.T) {
	b := sit(Options{})
	for i := range int64(3 * forgetful) {
		j := b.start(i, b.submit(i, 1, 60))
		b.q.Remove(j.ID)
	}
	if n := len(b.w.jobs); n > forgetful+2 {
		t.Errorf("%d jobs are known that are not there", n)
	}
	if used := b.w.machines.usage.used; used != int32(len(b.w.jobs)) {
		t.Errorf("%d processors are in use by %d jobs", used, len(b.w.jobs))
	}
	j := b.start(1e6, b.submit(1e6, 5, 60))
	used := b.w.machines.usage.used
	b.submit(1e6+10, 5, 60)
	b.q.Submit(j)
	b.w.Submitted(&j) // put back
	if got := b.w.machines.usage.used; got != used-5 {
		t.Errorf("%d processors are in use, want %d", got, used-5)
	}
	b.end(1e6+20, j)
}
