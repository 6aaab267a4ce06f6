package premises

import (
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/promise/placement"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/hostlist"
)

// MarkPinned sets Pinned of those jobs of a queue whose users have asked for some nodes of their
// partition only: by name, or by features that the others lack. Before the first Refresh, any
// features count as such. Whoever leaves out a few nodes of many waits like the others.
func (p *Premises) MarkPinned(queue []slurm.QueueEntry) {
	rules := p.Limits()
	for i := range queue {
		j := &queue[i]
		narrowed := j.Features != "" && (rules == nil || rules.Narrows(j.Partition, j.Features))
		j.Pinned = j.NodeList != "" || j.Excluded != "" && !leavesOutFew(rules, j) || narrowed
	}
}

// leavesOutFew reports whether a job leaves out no more of its partition's nodes than varq would
// have it leave out.
func leavesOutFew(rules *limits.Cluster, j *slurm.QueueEntry) bool {
	if rules == nil {
		return false
	}
	out, err := hostlist.Expand(j.Excluded)
	return err == nil && float64(len(out)) <= placement.MostShare*float64(len(rules.Partitions[j.Partition].Nodes))
}
