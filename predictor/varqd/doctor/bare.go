package doctor

import (
	"context"

	clusters "github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
)

// Reader reads a cluster by its slurmrestd.
type Reader interface {
	Layout(ctx context.Context) (clusters.Cluster, error)
	Nodes(ctx context.Context) ([]slurm.Node, error)
	EachJob(ctx context.Context, use func(*slurm.QueueEntry) error) error
}

// Bare examines what varqd needs of the slurmrestd of a site without varqd.
func Bare(ctx context.Context, site string, r Reader) Finding {
	of := "site " + site
	bad := func(err error) Finding {
		return warning(of, err, "check the site's slurmrestd.url, user and token in varq.yaml; until it answers, varq reserve has no slots there")
	}
	layout, err := r.Layout(ctx)
	if err != nil {
		return bad(err)
	}
	nodes, err := r.Nodes(ctx)
	if err != nil {
		return bad(err)
	}
	jobs := 0
	if err := r.EachJob(ctx, func(*slurm.QueueEntry) error {
		jobs++
		return nil
	}); err != nil {
		return bad(err)
	}
	return ok(of, "%d partitions, %d nodes, %d jobs", len(layout.Partitions), len(nodes), jobs)
}
