package forecasttest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// Jobs returns jobs as a machine of 64 processors runs them, first come, first served,
// at a load of .5. Run times are log-uniform, as in Downey's paper. At a much higher
// load the queue would be in some unusual state for most of so few jobs.
func Jobs(n int, seed uint64) []workload.Job {
	const machine, shortest, longest, load = 64, 10, 36_000, .5
	random := rand.New(rand.NewPCG(seed, 0))
	run := func() int64 { return int64(shortest * math.Exp(random.Float64()*math.Log(longest/shortest))) }
	// 1 to 32 processors, 10.5 on average.
	apart := 10.5 * (longest - shortest) / math.Log(longest/shortest) / (load * machine)
	jobs := make([]workload.Job, n)
	free, submit, now := int32(machine), 1e9, int64(0)
	var running []*workload.Job
	for i := range jobs {
		j := &jobs[i]
		submit += apart * random.ExpFloat64()
		*j = workload.Job{ID: int64(i + 1), Submit: int64(submit), Eligible: int64(submit), State: workload.Completed}
		j.Partition, j.Limit, j.CPUs = "batch", longest, 1<<random.IntN(6)
		now = max(now, j.Submit)
		for len(running) > 0 && (free < j.CPUs || running[0].End <= now) {
			now = max(now, running[0].End)
			free += running[0].CPUs
			running = running[1:]
		}
		free -= j.CPUs
		j.Start, j.End = now, now+run()
		at, _ := slices.BinarySearchFunc(running, j, func(a, b *workload.Job) int { return cmp.Compare(a.End, b.End) })
		running = slices.Insert(running, at, j)
	}
	return jobs
}
