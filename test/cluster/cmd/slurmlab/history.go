package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/spf13/pflag"

	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/synthetic"
)

// history says which past to load into a new cluster.
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

func (h *history) load(ctx context.Context, c *cluster.Cluster, progress io.Writer) error {
	if h.source == "" {
		return nil
	}
	began := time.Now()
	jobs, err := h.read(c)
	if err != nil {
		return err
	}
	n, err := c.LoadHistory(ctx, jobs)
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "%5.1fs %d past jobs\n", time.Since(began).Seconds(), n)
	return nil
}

func (h *history) read(c *cluster.Cluster) (iter.Seq2[workload.Job, error], error) {
	end := time.Now().Unix()
	if h.source == "synthetic" {
		return synthetic.History(synthetic.Config{
			Seed: h.seed, Nodes: c.Nodes, CPUs: c.CPUs, ShortNodes: c.ShortNodes(),
			Jobs: h.jobs, Days: h.days, End: end, Utilisation: h.utilisation,
		}), nil
	}
	return nil, fmt.Errorf("%s: SWF", h.source)
}
