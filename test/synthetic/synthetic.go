// Package synthetic generates histories of clusters for tests. The jobs are of users with
// habits, who submit more by day than at night. A simulated queue on the cluster's nodes
// determines their waits. The same seed gives the same history.
package synthetic

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// Config describes a history.
type Config struct {
	Seed  uint64
	Nodes int // of the cluster
	CPUs  int // of a node
	// ShortNodes is the number of nodes of the partition "short", which has the first nodes.
	// The partition "main" has all nodes.
	ShortNodes int
	Jobs       int   // about; usually some more
	Days       int   // days of submissions
	End        int64 // Unix seconds: when the history ends
	// Utilisation is the share of the CPUs' time that jobs use, between 0 and 1.
	Utilisation float64
}

func (c Config) check() error {
	switch {
	case c.Nodes < 1 || c.CPUs < 1:
		return fmt.Errorf("a cluster of %d nodes with %d CPUs", c.Nodes, c.CPUs)
	case c.ShortNodes < 1 || c.ShortNodes > c.Nodes:
		return fmt.Errorf("ShortNodes: %d is not in 1..%d", c.ShortNodes, c.Nodes)
	case c.Jobs < 1 || c.Days < 1:
		return fmt.Errorf("%d jobs in %d days", c.Jobs, c.Days)
	case c.Utilisation <= 0 || c.Utilisation >= 1:
		return fmt.Errorf("utilisation: %g is not between 0 and 1", c.Utilisation)
	case c.End < int64(c.Days)*day:
		return errors.New("the past would begin before 1970")
	}
	return nil
}

const (
	minute int64 = 60
	hour         = 60 * minute
	day          = 24 * hour
)

// History yields the jobs in the order of their submission. Their IDs start at 1 or a little
// above, and increase. All jobs have ended by End: jobs that still ran then are cancelled,
// and jobs that still waited are omitted.
func History(c Config) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		if err := c.check(); err != nil {
			yield(workload.Job{}, fmt.Errorf("synthetic history: %w", err))
			return
		}
		rng := rand.New(rand.NewPCG(c.Seed, 0x76617271))
		tasks := c.submissions(rng)
		newQueue(c).run(tasks)
		for i := range tasks {
			t := &tasks[i]
			if t.Start == 0 || t.Start >= c.End-1 {
				continue
			}
			if t.End >= c.End {
				t.End, t.State = c.End-1, workload.Cancelled
			}
			if !yield(t.Job, nil) {
				return
			}
		}
	}
}

// task is a job and its run time in seconds, which the scheduler does not know.
type task struct {
	workload.Job
	runTime int64
}

// submissions draws the jobs, in the order of their submission.
func (c Config) submissions(rng *rand.Rand) []task {
	// Some more than asked for, because some will still be waiting at the end.
	want := c.Jobs + c.Jobs/20 + 100
	people := c.people(rng)
	tasks := make([]task, 0, want)
	for len(tasks) < want {
		p := &people[rng.IntN(len(people))]
		tasks = p.campaign(rng, c.arrival(rng), c.End, tasks)
	}
	slices.SortStableFunc(tasks, func(a, b task) int { return cmp.Compare(a.Submit, b.Submit) })
	c.stretch(tasks)
	for i := range tasks {
		tasks[i].ID = int64(i) + 1
		tasks[i].finish(rng)
	}
	return tasks
}

// stretch scales the run times until the tasks use the share Utilisation of the machine. One
// round does not suffice, because run times are bounded.
func (c Config) stretch(tasks []task) {
	const rounds = 5
	want := c.Utilisation * float64(c.Nodes*c.CPUs) * float64(int64(c.Days)*day)
	for range rounds {
		var work float64
		for i := range tasks {
			work += float64(tasks[i].runTime) * float64(tasks[i].CPUs)
		}
		for i := range tasks {
			t := &tasks[i]
			t.runTime = min(max(shortestRun, int64(math.Round(float64(t.runTime)*want/work))), longestRun)
		}
	}
}
