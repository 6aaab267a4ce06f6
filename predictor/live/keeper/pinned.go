package keeper

import (
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
)

// MarkPinned sets Pinned of those jobs of a queue whose users have asked for some nodes of
// their partition only: by name, or by features that the others lack. Before the first
// Refresh, any features count as such.
func (k *Keeper) MarkPinned(queue []slurm.QueueEntry) {
	var rules *limits.Cluster
	if c := k.cluster.Load(); c != nil {
		rules = &c.limits
	}
	for i := range queue {
		j := &queue[i]
		narrowed := j.Features != "" && (rules == nil || rules.Narrows(j.Partition, j.Features))
		j.Pinned = j.NodeList != "" || j.Excluded != "" || narrowed
	}
}
