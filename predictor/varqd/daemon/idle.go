package daemon

import (
	"context"
	"time"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/idle"
	"github.com/varq-project/varq/predictor/promise/esr"
	"github.com/varq-project/varq/predictor/slurm"
)

// observeCluster takes in the cluster's limits and nodes, and how many licences are free.
func (d *Daemon) observeCluster(c *limits.Cluster, nodes []slurm.Node) {
	d.ingest.ObserveCluster(c, nodes)
	if err := d.licences.Record(context.Background(), c.Licenses, d.clock.now()); err != nil {
		d.log.Warn("how many licences are free is not recorded", "error", err)
	}
}

// idleHere tells how many nodes of this cluster were idle. It implements desk.Idle.
type idleHere struct{ store *idle.Store }

// History implements desk.Idle.
func (i idleHere) History(ctx context.Context, partition string) (*esr.History, error) {
	return i.store.History(ctx, "", partition, time.Local)
}
