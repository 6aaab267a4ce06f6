package premises

import (
	"sync"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// nodeSets are a limits.NodeSets for several goroutines.
type nodeSets struct {
	mu sync.Mutex
	of *limits.NodeSets
}

// SetNodeSet sets the NodeSet and the Licences of a job as Slurm tells of it, with its Needs, and
// then sets these to nil. Before the first Refresh all nodes of a partition are taken for alike. It
// removes a Reservation that is gone.
func (p *Premises) SetNodeSet(j *workload.Job) {
	if c := p.current.Load(); c != nil {
		if c.limits.Reservations.Named(j.Reservation) == nil {
			j.Reservation = ""
		}
		c.sets.mu.Lock()
		j.NodeSet = c.sets.of.Of(j.Request, j.Needs)
		if j.Needs != nil {
			j.Licences = c.sets.of.Licences(j.Needs.Licenses)
		}
		c.sets.mu.Unlock()
	}
	j.Needs = nil
}
