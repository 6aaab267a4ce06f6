package doctor

import (
	"context"
	"errors"
	"testing"

	clusters "github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
)

// bareSlurm is a slurmrestd of which one part may not answer.
type bareSlurm struct{ layout, nodes, jobs error }

func (b bareSlurm) Layout(context.Context) (clusters.Cluster, error) {
	return clusters.Cluster{Partitions: map[string]clusters.Partition{"main": {}}}, b.layout
}

func (b bareSlurm) Nodes(context.Context) ([]slurm.Node, error) {
	return make([]slurm.Node, 3), b.nodes
}

func (b bareSlurm) EachJob(_ context.Context, use func(*slurm.QueueEntry) error) error {
	return errors.Join(use(nil), b.jobs)
}

func TestBare(t *testing.T) {
	if f := Bare(t.Context(), "beta", bareSlurm{}); f.Verdict != OK || f.Found != "1 partitions, 3 nodes, 1 jobs" || f.Of != "site beta" {
		t.Errorf("%+v", f)
	}
	failed := errors.New("no route")
	for _, bad := range []bareSlurm{{layout: failed}, {nodes: failed}, {jobs: failed}} {
		if f := Bare(t.Context(), "beta", bad); f.Verdict != Warning || f.Found != "no route" || f.Remedy == "" {
			t.Errorf("%+v", f)
		}
	}
}
