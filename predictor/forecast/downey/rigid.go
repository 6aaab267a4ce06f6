package downey

import (
	"iter"
	"math"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/forecast/speedup"
)

// What users add to the model, which knows none.
const (
	users = 100
	// overestimate is the f of Mu'alem and Feitelson ("Utilization,
	// Predictability, Workloads, and User Runtime Estimates", 2001), whose users
	// request a time that is uniform between r and (f+1) r, r the run time.
	overestimate = 4
)

// usualLimits are the times that users write, in seconds. Beyond the last, they
// write whole days.
var usualLimits = []int64{
	60, 120, 300, 600, 900, 1200, 1800, 2700, 3600, 2 * 3600, 3 * 3600, 4 * 3600, 6 * 3600,
	8 * 3600, 10 * 3600, 12 * 3600, 18 * 3600, day,
}

const day = 24 * 3600

// Jobs draws n jobs whose users have chosen their sizes: a job of average
// parallelism A, a whole number here, asks for A processors and runs there for
// L/S(A) seconds. The requested time is up to five times as long and then rounded up
// to a usual one; users are numbered from 1, the k-th being about 1/k times as
// busy as the first. Jobs arrive from second 0 on at a steady rate, by day and by
// night alike, such that processors times run time, the work that arrives, is on
// average Load times what Procs processors do.
//
// Jobs are made one at a time, as they are asked for.
func (m Model) Jobs(random *rand.Rand, n int) iter.Seq[sched.Job] {
	gap := work.Mean() * m.overhead() / (m.Load * float64(m.Procs))
	return func(yield func(sched.Job) bool) {
		arrival := 0.
		for id := range int64(n) {
			arrival += gap * random.ExpFloat64()
			size := math.Round(m.parallelism(random))
			curve := speedup.Downey{A: size, Sigma: maxSigma * random.Float64()}
			run := max(1, math.Round(work.Rand(random)/curve.Of(size)))
			job := sched.Job{
				ID: id + 1, Submit: int64(arrival), Procs: int32(size), Run: int64(run),
				Limit: usualLimit(run * (1 + overestimate*random.Float64())),
				User:  int32(math.Exp(random.Float64() * math.Log(users+1))),
				Group: -1, App: -1, Queue: -1, Partition: -1,
			}
			if !yield(job) {
				return
			}
		}
	}
}

// usualLimit rounds a time up to one that users write.
func usualLimit(seconds float64) int64 {
	for _, limit := range usualLimits {
		if seconds <= float64(limit) {
			return limit
		}
	}
	return day * int64(math.Ceil(seconds/day))
}

// overhead is by how much a job of n = A processors takes more of them than one of
// one processor does, n/S(n), on average over all jobs.
//
// With A = n, equations 1 and 2 give n/S = 1 + sigma c/2 for sigma <= 1 and
// 1 + sigma c/(1+sigma) above, c = 1-1/n; the mean over sigma from 0 to 2 is
// 1 + c (5 - 4 ln(3/2))/8. What remains is the mean of 1/n, n = A rounded.
func (m Model) overhead() float64 {
	if m.Procs == 1 {
		return 1
	}
	procs := float64(m.Procs)
	inverse := 0.
	for n := 1.; n <= procs; n++ {
		inverse += math.Log(min(n+.5, procs)/max(n-.5, 1)) / n
	}
	inverse /= math.Log(procs)
	return 1 + (1-inverse)*(5-4*math.Log(1.5))/8
}
