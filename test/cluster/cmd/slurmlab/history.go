package main

import (
	"context"
	"iter"
	"time"

	"github.com/spf13/pflag"

	"github.com/varq-project/varq/predictor/logs/swf"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/synthetic"
)

// history describes the past jobs to load into a new cluster.
type history struct {
	source      string // "", "synthetic" or the name of an SWF file
	jobs, days  int
	utilisation float64
	seed        uint64
}

func (h *history) addFlags(f *pflag.FlagSet) {
	f.StringVar(&h.source, "history", "", "finished jobs to load: an SWF file, or synthetic")
	f.IntVar(&h.jobs, "history-jobs", 20_000, "synthetic history: at least so many jobs")
	f.IntVar(&h.days, "days", 60, "synthetic history: so many days")
	f.Float64Var(&h.utilisation, "utilisation", .75, "synthetic history: share of the CPUs in use")
	f.Uint64Var(&h.seed, "seed", 1, "synthetic history: seed")
}

func (h *history) load(ctx context.Context, c *cluster.Cluster) error {
	if h.source == "" {
		return nil
	}
	c.Say("loading past jobs into accounting")
	_, err := c.LoadHistory(ctx, h.read(c.Nodes, c.CPUs, time.Now().Unix()))
	return err
}

// read yields the past jobs of a cluster of so many nodes, each with so many CPUs. The last of them
// ends at end, in Unix seconds, or shortly before.
func (h *history) read(nodes, cpus int, end int64) iter.Seq2[workload.Job, error] {
	if h.source == "synthetic" {
		return synthetic.History(synthetic.Config{
			Seed: h.seed, Nodes: nodes, CPUs: cpus, ShortNodes: cluster.ShortNodes(nodes),
			Jobs: h.jobs, Days: h.days, End: end, Utilisation: h.utilisation,
		})
	}
	return cluster.EndingAt(end, readLog(h.source))
}

// readLog yields the jobs of an SWF file.
func readLog(name string) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		log, err := swf.Open(name)
		if err != nil {
			yield(workload.Job{}, err)
			return
		}
		defer log.Close()
		log.Jobs()(yield)
	}
}
