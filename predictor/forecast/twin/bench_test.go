package twin

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/workload"
)

// busy returns a twin that has observed four weeks of jobs, and has a queue at the time
// now.
func busy(waiting, running int) (w *Twin, now int64) {
	const start, procs = 1_000_000_000, 4096
	r := rand.New(rand.NewPCG(1, 1))
	q := new(queue.Queue)
	w = New(q, nil)
	now, id := int64(start), int64(0)
	next := func() workload.Job {
		id++
		j := workload.Job{ID: id, Submit: now, Eligible: now}
		j.User, j.Partition = fmt.Sprint("user", r.IntN(60)), "batch"
		j.CPUs = 1 << r.IntN(8)
		j.Limit = 1800 << r.IntN(6)
		return j
	}
	submit := func(j workload.Job) { q.Submit(j); w.Submitted(&j) }
	run := func(j workload.Job) workload.Job {
		j.Start = now
		q.Start(j)
		w.Started(&j)
		return j
	}
	for now < start+28*24*3600 {
		j := next()
		submit(j)
		j = run(j)
		now += 900
		j.End = j.Start + 60 + r.Int64N(j.Limit-60)
		q.Remove(j.ID)
		j.End = min(j.End, now)
		w.Ended(&j)
	}
	for range running {
		j := next()
		submit(j)
		run(j)
		now += 5
	}
	for range waiting {
		submit(next())
		now += 5
	}
	return w, now
}

// BenchmarkPoint measures a Point by the number of waiting jobs. Where 20,000 wait, 5,000 run, and
// otherwise 200.
func BenchmarkPoint(b *testing.B) {
	for _, n := range []int{30, 100, 300, 1000, 20_000} {
		running := 200
		if n == 20_000 {
			running = 5000
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w, now := busy(n, running)
			request := workload.Request{User: "user1", Partition: "batch", Size: workload.Size{CPUs: 64}, Limit: 3600}
			b.ReportAllocs()
			for b.Loop() {
				w.Point(&request, now, 0)
			}
		})
	}
}

// BenchmarkEvents measures a submission, a start and an end together.
func BenchmarkEvents(b *testing.B) {
	for _, n := range []int{0, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w, now := busy(n, 200)
			j := workload.Job{ID: 1 << 40}
			j.User, j.Partition, j.CPUs, j.Limit = "user1", "batch", 16, 3600
			b.ReportAllocs()
			for b.Loop() {
				now += 60
				j.ID++
				j.Submit, j.Start, j.End = now, 0, 0
				w.queue.Submit(j)
				w.Submitted(&j)
				j.Start = now + 10
				w.queue.Start(j)
				w.Started(&j)
				j.End = now + 20
				w.queue.Remove(j.ID)
				w.Ended(&j)
			}
		})
	}
}

// BenchmarkGather measures the Points of jobs that wait, by their number: those of all when they
// are asked about together, and that of one.
func BenchmarkGather(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		w, now := busy(n, 200)
		var jobs []workload.Job
		for j := range w.queue.Pending() {
			jobs = append(jobs, j.Job)
		}
		ask := func(j *workload.Job) { w.PointAt(&j.Request, now, j.Since(), j.ID) }
		b.Run(fmt.Sprintf("all/%d", n), func(b *testing.B) {
			for b.Loop() {
				w.Gather(now)
				for i := range jobs {
					ask(&jobs[i])
				}
			}
		})
		b.Run(fmt.Sprintf("one/%d", n), func(b *testing.B) {
			w.Gather(0)
			for b.Loop() {
				ask(&jobs[n/2])
			}
		})
	}
}
