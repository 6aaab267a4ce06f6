package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Load describes a stream of small jobs.
type Load struct {
	// Utilisation is the share of the cluster's CPUs that the jobs keep busy. It is greater
	// than 0 and at most 1.
	Utilisation float64
	// Shortest and Longest bound the run times. The defaults for 0 are 5 s and 60 s.
	Shortest, Longest time.Duration
	Seed              uint64
}

func (l Load) withDefaults() (Load, error) {
	if l.Shortest == 0 {
		l.Shortest = 5 * time.Second
	}
	if l.Longest == 0 {
		l.Longest = time.Minute
	}
	switch {
	case l.Utilisation <= 0 || l.Utilisation > 1:
		return l, fmt.Errorf("load: Utilisation %g is not in (0,1]", l.Utilisation)
	case l.Shortest < time.Second || l.Longest < l.Shortest:
		return l, fmt.Errorf("load: run times from %s to %s", l.Shortest, l.Longest)
	}
	return l, nil
}

// loadName is the name of the load's jobs. cancelLoad cancels the jobs of this name.
const loadName = "load"

// Load submits jobs as the ordinary users until the context ends. Each job uses at most one
// node. When the context ends, Load cancels the remaining jobs and returns nil, or an error if
// that fails. Load tolerates up to 10 failed submissions in succession, because slurmctld may
// be restarted meanwhile.
func (c *Cluster) Load(ctx context.Context, l Load) error {
	l, err := l.withDefaults()
	if err != nil {
		return err
	}
	const bearable = 10
	rng := rand.New(rand.NewPCG(l.Seed, 0x6c6f6164))
	interval := c.interval(l)
	failed := 0
	for next := time.Now(); ; next = next.Add(time.Duration(rng.ExpFloat64() * float64(interval))) {
		if Sleep(ctx, time.Until(next)) != nil {
			return c.cancelLoad(context.WithoutCancel(ctx))
		}
		err := c.submit(ctx, rng, l)
		switch {
		case err == nil || ctx.Err() != nil:
			failed = 0
		case failed == bearable:
			return fmt.Errorf("load: %w", err)
		default:
			failed++
		}
	}
}

// interval returns the mean time between submissions. The jobs' CPUs are uniform between 1 and
// those of a node, and their run times are log-uniform. With this interval the jobs use the
// share l.Utilisation of all CPUs.
func (s state) interval(l Load) time.Duration {
	meanCPUs := float64(1+s.CPUs) / 2
	meanRun := float64(l.Shortest)
	if l.Longest > l.Shortest {
		meanRun = float64(l.Longest-l.Shortest) / math.Log(float64(l.Longest)/float64(l.Shortest))
	}
	return time.Duration(meanCPUs * meanRun / (l.Utilisation * float64(s.Nodes*s.CPUs)))
}

// submit submits one job.
func (c *Cluster) submit(ctx context.Context, rng *rand.Rand, l Load) error {
	ratio := float64(l.Longest) / float64(l.Shortest)
	run := l.Shortest.Seconds() * math.Pow(ratio, rng.Float64())
	minutes := 1 + int(run/60)
	ordinary := ordinaryUsers()
	_, err := output(c.Command(ctx, ordinary[rng.IntN(len(ordinary))], "sbatch", "--quiet",
		"--job-name="+loadName, "--output=/dev/null", "--nodes=1", "--ntasks=1",
		fmt.Sprintf("--cpus-per-task=%d", 1+rng.IntN(c.CPUs)), fmt.Sprintf("--time=%d", minutes),
		fmt.Sprintf("--wrap=exec sleep %.1f", run)))
	return err
}

func (c *Cluster) cancelLoad(ctx context.Context) error {
	_, err := c.output(ctx, "scancel", "--quiet", "--name="+loadName)
	return err
}
