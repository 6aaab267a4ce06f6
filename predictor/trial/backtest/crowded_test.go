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
	"github.com/varq-project/varq/test/synthetic"
)

// crowded returns n jobs of a large machine of 8192 processors, started first come, first served,
// with EASY backfilling. Most have one processor, and users submit hundreds at once: up to some
// 2200 wait and 8000 run.
func crowded(n int, seed uint64) []workload.Job {
	random := rand.New(rand.NewPCG(seed, 0))
	ended, group := new(synthetic.Ended), make([]string, n)
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
			j := sched.Job{ID: int64(i) + 1, Submit: int64(at), Run: run, Limit: limit, Procs: procs, User: user}
			s.Advance(j.Submit)
			s.Submit(&j)
			group[i] = fmt.Sprint("group", user%40)
			i++
		}
		if i > 14_000 { // the machine is full
			at += .74 * work / 8192 * random.ExpFloat64()
		}
	}
	s.Drain()
	jobs := ended.Jobs()
	for i := range jobs {
		jobs[i].Account, jobs[i].Partition = group[i], "batch"
	}
	return jobs
}

// BenchmarkCrowded scores the blend on a crowded log, in jobs per second, on as many processors as
// there are.
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
