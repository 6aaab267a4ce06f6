package backtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
	"github.com/varq-project/varq/predictor/workload"
)

// crowded returns n jobs of a large machine of 8192 processors, started first come, first served, with EASY backfilling. Most have one
// processor, and users submit hundreds at once: up to some 2200 wait and 8000 run.
func crowded(n int, seed uint64) []workload.Job {
	random := rand.New(rand.NewPCG(seed, 0))
	ended := &finished{jobs: make([]workload.Job, n)}
	s := sim.New(sched.Config{Procs: 8192, Backfill: sched.EASY}, ended)
	at := 1_000_000_000.
	for i := 0; i < n; {
		user, limit := int32(random.IntN(300)), int64(3600)<<random.IntN(6)
		procs := int32(1)
		if random.IntN(10) == 0 {
			procs = 1 << random.IntN(8)
		}
		many := min(n-i, 1+int(math.Exp(random.Float64()*math.Log(1500)))/int(procs))
		typical, work := random.Float64(), 0.
		for range many {
			run := max(1, int64(float64(limit)*min(1, typical*math.Exp(random.NormFloat64()/3))))
			work += float64(run) * float64(procs)
			at += random.ExpFloat64() * 2
			j := sched.Job{ID: int64(i), Submit: int64(at), Run: run, Limit: limit, Procs: procs, User: user}
			s.Advance(j.Submit)
			s.Submit(&j)
			i++
		}
		if i > 14_000 { // the machine is full
			at += .74 * work / 8192 * random.ExpFloat64()
		}
	}
	s.Drain()
	return ended.jobs
}

// finished collects the jobs that have ended, by ID.
type finished struct{ jobs []workload.Job }

func (f *finished) Ended(_ int64, j *sched.Job) {
	done := workload.Job{ID: j.ID + 1, Submit: j.Submit, Eligible: j.Submit, Start: j.Start, End: j.End, State: workload.Completed}
	done.User, done.Account, done.Partition = fmt.Sprint("user", j.User), fmt.Sprint("group", j.User%40), "batch"
	done.CPUs, done.Limit = j.Procs, j.Limit
	f.jobs[j.ID] = done
}
func (*finished) Started(int64, *sched.Job)                {}
func (*finished) Reserved(int64, *sched.Job, int64, int64) {}
func (*finished) Stopped(int64, *sched.Job)                {}

// BenchmarkCrowded scores the blend on a crowded log, in jobs per second, on as many processors as there are.
func BenchmarkCrowded(b *testing.B) {
	jobs := crowded(20_000, 1)
	for b.Loop() {
		var q queue.Queue
		blend := Methods[0].New(Cluster{Queue: &q, Background: func(task func()) { go task() }})
		if _, err := Run(jobs, &q, []Method{blend}, Options{Quantiles: someQuantiles}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(jobs)*b.N)/b.Elapsed().Seconds(), "jobs/s")
}
