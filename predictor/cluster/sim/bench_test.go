package sim

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// steady returns n jobs that load procs processors to the given degree. Sizes and run times
// are log-uniform, arrivals are Poisson, and limits are up to five times the run times.
func steady(n int, procs int32, load float64) []sched.Job {
	random := rand.New(rand.NewPCG(1, 2))
	logUniform := func(low, high float64) float64 {
		return low * math.Pow(high/low, random.Float64())
	}
	jobs := make([]sched.Job, n)
	work := 0.
	for i := range jobs {
		run := int64(logUniform(10, 40_000))
		jobs[i] = sched.Job{
			ID: int64(i + 1), Procs: int32(logUniform(1, float64(procs)+.99)),
			Run: run, Limit: (int64(float64(run)*(1+4*random.Float64()))/300 + 1) * 300,
		}
		work += float64(jobs[i].Procs) * float64(run)
	}
	gap := work / load / float64(procs) / float64(n)
	t := 0.
	for i := range jobs {
		t += random.ExpFloat64() * gap
		jobs[i].Submit = int64(t)
	}
	return jobs
}

// watch counts what a benchmark reports.
type watch struct{ wait, ended int64 }

func (w *watch) Reserved(int64, *sched.Job, int64, int64) {}
func (w *watch) Started(now int64, j *sched.Job)          { w.wait += now - j.Submit }
func (w *watch) Stopped(int64, *sched.Job)                {}
func (w *watch) Ended(int64, *sched.Job)                  { w.ended++ }

func BenchmarkSimulate(b *testing.B) {
	const procs = 256
	jobs := steady(100_000, procs, .8)
	for _, order := range []sched.Order{sched.FCFS(), sched.LWF()} {
		for _, backfill := range []sched.Backfill{sched.NoBackfill, sched.EASY, sched.Conservative, sched.Timeline} {
			b.Run(order.Name+"/"+backfill.String(), func(b *testing.B) {
				b.ReportAllocs()
				var w watch
				queued, most := 0., 0
				for b.Loop() {
					trace := append([]sched.Job(nil), jobs...)
					w = watch{}
					queued, most = 0, 0
					s := New(sched.Config{Procs: procs, Order: order, Backfill: backfill}, &w)
					for i := range trace {
						s.Advance(trace[i].Submit)
						queued += float64(s.Scheduler().Queued())
						most = max(most, s.Scheduler().Queued())
						s.Submit(&trace[i])
					}
					s.Drain()
				}
				if w.ended != int64(len(jobs)) {
					b.Fatalf("%d jobs ended", w.ended)
				}
				b.ReportMetric(float64(len(jobs)*b.N)/b.Elapsed().Seconds(), "jobs/s")
				b.ReportMetric(float64(w.wait)/float64(len(jobs)), "wait-s")
				b.ReportMetric(queued/float64(len(jobs)), "queued")
				b.ReportMetric(float64(most), "queued-max")
			})
		}
	}
}
