package outlook

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// BenchmarkLearn learns 10,000 past jobs of a cluster with so many jobs waiting at any time.
func BenchmarkLearn(b *testing.B) {
	for _, waiting := range []int{100, 5000} {
		b.Run("waiting="+strconv.Itoa(waiting), func(b *testing.B) {
			jobs := crowded(10_000, waiting)
			for b.Loop() {
				if err := newOutlook().NewModel(nil).Learn(b.Context(), jobs, func(int64) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// crowded makes n jobs, of which one is submitted each second, and starts once about so many that
// came before it have started.
func crowded(n, waiting int) []workload.Job {
	random := rand.New(rand.NewPCG(1, 1))
	jobs := make([]workload.Job, n)
	for i := range jobs {
		j := &jobs[i]
		*j = workload.Job{ID: int64(i + 1), State: workload.Completed, Submit: int64(1_700_000_000 + i)}
		j.User, j.Account, j.Partition, j.QOS = strconv.Itoa(random.IntN(50)), "phys", "batch", "normal"
		j.Nodes, j.CPUs, j.Limit = 1, 1+random.Int32N(8), 3600*(2+2*random.Int64N(3))
		j.Eligible = j.Submit
		j.Start = j.Submit + int64(float64(waiting)*math.Exp(.1*random.NormFloat64()))
		j.End = j.Start + int64(3600*(.2+1.6*random.Float64()))
	}
	return jobs
}
