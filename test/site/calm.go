package site

import (
	"iter"
	"math"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/workload"
)

// Calm returns a made-up history of a cluster. Small, short jobs start within seconds; the
// others wait for hours. The 3,000 jobs are submitted evenly over ten days, which end one day
// before now (Unix seconds). The history for a given now is always the same, so that tests can
// predict what varqd promises.
func Calm(now int64) iter.Seq2[workload.Job, error] {
	const (
		jobs = 3000
		days = 10
	)
	return func(yield func(workload.Job, error) bool) {
		random := rand.New(rand.NewPCG(2007, 9))
		for i := range int64(jobs) {
			j := workload.Job{
				ID:      1_000_000 + i,
				Request: workload.Request{User: "alice", Account: "phys", Partition: "main", Limit: 60 * (1 + random.Int64N(90))},
				State:   workload.Completed,
			}
			if i%2 == 1 {
				j.User, j.Account = "bob", "chem"
			}
			j.Nodes = 1 << random.IntN(3)
			j.CPUs = j.Nodes
			mean := 4.0 // seconds
			if i%10 == 0 {
				j.Nodes, j.CPUs, j.Limit, mean = 8, 32, 24*3600, 4*3600
			}
			j.Submit = now - days*86400 - 86400 + i*days*86400/jobs
			j.Eligible = j.Submit
			j.Start = j.Eligible + int64(-mean*math.Log(1-random.Float64()))
			j.End = j.Start + min(j.Limit, 600)
			if !yield(j, nil) {
				return
			}
		}
	}
}
