package premises

import (
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/hostlist"
)

// MarkPinned sets Pinned of those jobs of a queue whose users have asked for some nodes of their
// partition only: by name, or by features that more than a few others lack. Before the first
// Refresh, any features and exclusions count as such.
func (p *Premises) MarkPinned(queue []slurm.QueueEntry) {
	rules := p.Limits()
	for i := range queue {
		j := &queue[i]
		if j.Pinned = j.NodeList != ""; j.Pinned || j.Features == "" && j.Excluded == "" {
			continue
		}
		excluded, err := hostlist.Expand(j.Excluded)
		j.Pinned = err != nil || rules == nil || rules.Narrows(j.Partition, j.Features, excluded)
	}
}
