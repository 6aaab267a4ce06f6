package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/workload"
)

const (
	shortestRun = 1 // seconds
	longestRun  = day
	longestIn   = hour // the longest limit in the partition "short"
)

// person is a user with habits: most jobs of the user have the same size, and their run
// times are similar.
type person struct {
	user, account string
	shortNodes    int32
	cpusPerNode   int32
	nodes, cpus   int32   // CPUs are per node
	low, high     float64 // bounds of run times, in seconds before stretch
	patience      float64 // mean number of jobs of a campaign
}

func (c Config) people(rng *rand.Rand) []person {
	const count = 24
	accounts := [...]string{"phys", "chem", "bio", "eng"}
	people := make([]person, count)
	for i := range people {
		p := person{
			user: fmt.Sprintf("user%02d", i), account: accounts[i%len(accounts)],
			shortNodes: int32(c.ShortNodes), cpusPerNode: int32(c.CPUs),
			patience: 1 + rng.ExpFloat64()*3,
		}
		p.nodes, p.cpus = c.shape(rng)
		p.low = logUniform(rng, 30, 1800)
		p.high = p.low * logUniform(rng, 4, 16)
		people[i] = p
	}
	return people
}

// shape draws the size that a user's jobs usually have: mostly a part of one node, sometimes
// whole nodes, up to half of the machine.
func (c Config) shape(rng *rand.Rand) (nodes, cpus int32) {
	if rng.Float64() < .6 {
		return 1, 1 + rng.Int32N(int32(c.CPUs))
	}
	return int32(math.Round(logUniform(rng, 1, max(1, float64(c.Nodes)/2)))), int32(c.CPUs)
}

// campaign appends the jobs that a person submits in one go. They have the same size and
// similar run times, follow each other at short intervals, and come before end.
func (p *person) campaign(rng *rand.Rand, at, end int64, tasks []task) []task {
	nodes, cpus := p.nodes, p.cpus
	if rng.Float64() < .1 { // a campaign of small trials
		nodes, cpus = 1, 1
	}
	centre := logUniform(rng, p.low, p.high)
	for n := 1 + int(rng.ExpFloat64()*p.patience); n > 0 && at < end; n-- {
		tasks = append(tasks, task{
			Job: workload.Job{
				Request: workload.Request{
					User: p.user, Account: p.account, Partition: "main", QOS: "normal",
					Size: workload.Size{Nodes: nodes, CPUs: nodes * cpus, Memory: int64(nodes*cpus) * 1000},
				},
				Submit: at, Eligible: at,
			},
			runTime: int64(max(shortestRun, logUniform(rng, centre/2, centre*2))),
		})
		if p.shortNodes >= nodes && p.patience < 2.5 {
			tasks[len(tasks)-1].Partition = "short" // finish may change it to "main"
		}
		at += int64(rng.ExpFloat64() * 60)
	}
	return tasks
}

// finish draws the limit and the outcome, now that the run time is known.
func (t *task) finish(rng *rand.Rand) {
	t.Limit = askedFor(float64(t.runTime) * logUniform(rng, .97, 8))
	switch p := rng.Float64(); {
	case p < .03:
		t.State, t.runTime = workload.Failed, max(1, t.runTime/20)
	case p < .05:
		t.State, t.runTime = workload.Cancelled, max(1, t.runTime/2)
	case t.runTime >= t.Limit:
		t.State, t.runTime = workload.TimedOut, t.Limit
	default:
		t.State = workload.Completed
	}
	if t.Limit > longestIn {
		t.Partition = "main"
	}
}

// askedFor rounds a time up to a limit that people usually ask for.
func askedFor(seconds float64) int64 {
	for _, limit := range [...]int64{
		5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 4 * hour,
		6 * hour, 8 * hour, 12 * hour,
	} {
		if seconds <= float64(limit) {
			return limit
		}
	}
	return longestRun
}

// logUniform draws a number between low and high whose logarithm is uniform.
func logUniform(rng *rand.Rand, low, high float64) float64 {
	return low * math.Exp(rng.Float64()*math.Log(high/low))
}
