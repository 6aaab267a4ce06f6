package downey

import (
	"math/rand/v2"
	"testing"
)

// paper is the machine and the load of sections 5 and 6 of Downey's report.
var paper = Model{Procs: 128, Load: .75}

// days draws n days of the paper's jobs.
func days(seed uint64, n int) [][]Job {
	random := rand.New(rand.NewPCG(seed, 0))
	drawn := make([][]Job, n)
	for i := range drawn {
		drawn[i] = paper.Day(random)
	}
	return drawn
}

// BenchmarkDays simulates 120 days of some 30,000 jobs, as in the paper.
func BenchmarkDays(b *testing.B) {
	workload := days(1, 120)
	for _, rule := range []Rule{AVG, OPT, PRED, BIAS, HEUR} {
		b.Run(string(rule), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := NewSystem(paper.Procs, Strategy{Rule: rule, Lifetimes: paper.Lifetimes()})
				for _, day := range workload {
					s.Day(day)
				}
			}
		})
	}
}
