package backtest

import (
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
)

// BenchmarkEvaluate scores the methods that need no simulation on a log of 20,000 jobs,
// with the default quantiles and budgets, on one processor. It measures each method alone,
// then all together, in jobs per second.
func BenchmarkEvaluate(b *testing.B) {
	jobs := made(20_000, 1)
	o := Options{Quantiles: someQuantiles, Budgets: []int64{300, 1800, 3600, 7200, 21_600, 43_200, 86_400}}
	run := func(name string, makers []Maker) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var q queue.Queue
				var methods []Method
				for _, m := range makers {
					methods = append(methods, m.New(Cluster{Queue: &q, Background: func(task func()) { go task() }}))
				}
				if _, err := Run(jobs, &q, methods, o); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(jobs)*b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
	quick := slices.DeleteFunc(slices.Clone(Methods), func(m Maker) bool { return m.Name == "blend" || m.Name == "twin" })
	for i, m := range quick {
		if !m.Baseline {
			run(m.Name, quick[i:i+1])
		}
	}
	run("all", quick)
}
