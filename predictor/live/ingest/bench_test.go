package ingest

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// bigSite is the queue of a big site: some wait, one of them an array of 50,000 tasks, and others
// run on 2,000 nodes. A turn later the oldest of both have gone on, and as many have come.
type bigSite struct {
	random           *rand.Rand
	waiting, running []slurm.QueueEntry
	id               int64
}

func (s *bigSite) submit(at int64) {
	s.id++
	j := workload.Job{ID: s.id, Submit: at, Eligible: at, State: workload.Pending}
	j.User, j.Account = fmt.Sprint("user", s.random.IntN(300)), fmt.Sprint("group", s.random.IntN(40))
	j.Partition, j.QOS, j.Limit = "batch", "normal", 1800<<s.random.IntN(6)
	j.Nodes, j.CPUs = 1, 1<<s.random.IntN(8)
	s.waiting = append(s.waiting, slurm.QueueEntry{Job: j})
}

// turn has n jobs end, start and come, and returns the queue.
func (s *bigSite) turn(n int, at int64) []slurm.QueueEntry {
	s.running = s.running[min(n, len(s.running)):]
	for _, e := range s.waiting[:n] {
		s.running = append(s.running, s.started(e, at))
	}
	s.waiting = s.waiting[n:]
	for range n {
		s.submit(at)
	}
	return append(append([]slurm.QueueEntry(nil), s.waiting...), s.running...)
}

// started returns a job as it is from its start on.
func (s *bigSite) started(e slurm.QueueEntry, at int64) slurm.QueueEntry {
	e.Start, e.State, e.On = at, workload.Running, []string{fmt.Sprintf("n%04d", s.random.IntN(2000))}
	return e
}

// BenchmarkLook takes in a look at a big site's queue, of which 100 jobs have ended, 100 have
// started and 100 have come since the last one. heap-MiB is what is in memory at the end.
func BenchmarkLook(b *testing.B) {
	s := &bigSite{random: rand.New(rand.NewPCG(1, 1))}
	f := start(b, filepath.Join(b.TempDir(), "history"), &source{jobs: past(now-2*day, now)})
	f.Ingest.NewModel = func(twin.Pools) Model {
		return f.NewModel(func(workload.Place) twin.Pool {
			return twin.Pool{Name: "all", Size: workload.Size{Nodes: 2000, CPUs: 128 * 2000}}
		})
	}
	for i := range int64(25_000) {
		s.submit(now - 25_000 + i)
	}
	array := s.waiting[24_999].Job
	array.ID, array.Tasks, array.CPUs = 1<<40, 50_000, 1
	s.waiting[24_999].Job = array
	if err := f.Load(b.Context()); err != nil {
		b.Fatal(err)
	}
	look := func(n int) {
		f.clock += 30
		if err := f.ObserveQueue(b.Context(), s.turn(n, f.clock), f.clock); err != nil {
			b.Fatal(err)
		}
	}
	for len(s.running) < 5000 {
		s.running = append(s.running, s.started(s.waiting[0], f.clock))
		s.waiting = s.waiting[1:]
	}
	look(100)
	for b.Loop() {
		look(100)
	}
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(memory.HeapInuse)/(1<<20), "heap-MiB")
}

// BenchmarkObserveQueue measures a snapshot of a queue of 5,000 jobs that wait, in which nothing
// has changed, or every priority.
func BenchmarkObserveQueue(b *testing.B) {
	const waiting = 5000
	for _, changes := range []bool{false, true} {
		b.Run(fmt.Sprintf("priorities-change=%v", changes), func(b *testing.B) {
			a := accounts(past(now-day, now-2*3600))
			g := start(b, filepath.Join(b.TempDir(), "history.db"), &a)
			if err := g.Load(b.Context()); err != nil {
				b.Fatal(err)
			}
			queue := make([]slurm.QueueEntry, waiting)
			for i := range queue {
				queue[i].Job = job(int64(1+i), 5, 0, 0)
				queue[i].User = fmt.Sprint("user", i%100)
				queue[i].Priority = 1000
			}
			at := now + int64(20)
			look := func() {
				at++
				if err := g.ObserveQueue(b.Context(), queue, at); err != nil {
					b.Fatal(err)
				}
			}
			look()
			for b.Loop() {
				if changes {
					for i := range queue {
						queue[i].Priority++
					}
				}
				look()
			}
		})
	}
}
