package expert

import (
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// News is what becomes known of a cluster and not of its jobs. What is nil is as it was.
type News struct {
	// Pools are the pools of processors as they are now. Whoever was not told of any at first
	// learns them, and goes on doing so.
	Pools twin.Pools
	// Aging is how Slurm's priorities grow.
	Aging *workload.Aging
	// Outages are those that have begun. One that is over is told again, with the same Partition
	// and From.
	Outages []qbets.Outage
}

// None reports whether there is nothing in n.
func (n News) None() bool { return n.Pools == nil && n.Aging == nil && len(n.Outages) == 0 }

// Hear takes in the pools, and how priorities grow.
func (f *Forest) Hear(n News) {
	f.changed()
	if f.twin == nil {
		return
	}
	if n.Aging != nil {
		f.twin.Age(*n.Aging)
	}
	if n.Pools != nil {
		f.twin.Resize(n.Pools)
	}
}

// Hear takes in outages.
func (f *QBETS) Hear(n News) {
	for _, o := range n.Outages {
		f.Outage(o)
	}
}
