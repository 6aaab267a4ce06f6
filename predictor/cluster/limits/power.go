package limits

import (
	"fmt"

	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// Resume returns how long, in seconds, the nodes of a request may take to be up once Slurm gives
// them to the job, because it powers down nodes that nobody needs, and the rule that says so. It is
// 0 where Slurm powers down none.
func (c *Cluster) Resume(r workload.Request) (seconds int64, by Rule) {
	p := c.Partitions[r.Partition]
	if p.Resume <= 0 {
		return 0, Rule{}
	}
	return p.Resume, Rule{
		Name: "partition " + r.Partition + " ResumeTimeout",
		Says: fmt.Sprintf("nodes of partition %s that nobody needs are powered down, and may take %s to be up again (ResumeTimeout)",
			r.Partition, slurmtime.FormatDuration(p.Resume)),
	}
}

// Waking is Resume for a request that is eligible now: it is 0, too, if the request needs no more
// nodes of its partition than are up and idle.
func (c *Cluster) Waking(r workload.Request) (seconds int64, by Rule) {
	if seconds, by = c.Resume(r); seconds == 0 || c.awake(r) {
		return 0, Rule{}
	}
	return seconds, by
}

// awake reports whether a request needs no more nodes of its partition than are up and idle now, so
// that none must be powered up for it.
func (c *Cluster) awake(r workload.Request) bool {
	nodes, cpus := int64(0), int64(0)
	for _, name := range c.Partitions[r.Partition].Nodes {
		if n := c.Nodes[name]; n.Usable && n.Awake {
			nodes++
			cpus += n.CPUs
		}
	}
	return nodes >= max(1, int64(r.Nodes)) && cpus >= int64(r.CPUs)
}
