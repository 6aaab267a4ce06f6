package limits

import (
	"fmt"

	"github.com/varq-project/varq/predictor/slurmtime"
)

// Resume returns how long, in seconds, the nodes of the job may take to be up once Slurm gives
// them to it, because it powers down nodes that nobody needs, and the rule that says so. It is
// 0 where Slurm powers down none.
func (j *Job) Resume() (seconds int64, by Rule) {
	p := &j.partition
	if p.Resume <= 0 {
		return 0, Rule{}
	}
	return p.Resume, Rule{
		Name: "partition " + j.Partition + " ResumeTimeout",
		Says: fmt.Sprintf("nodes of partition %s that nobody needs are powered down, and may take %s to be up again (ResumeTimeout)",
			j.Partition, slurmtime.FormatDuration(p.Resume)),
	}
}

// Waking is Resume for a job that is eligible now: it is 0, too, if the job needs no more
// nodes of its partition than are up and idle.
func (j *Job) Waking() (seconds int64, by Rule) {
	if seconds, by = j.Resume(); seconds == 0 || j.awake() {
		return 0, Rule{}
	}
	return seconds, by
}

// awake reports whether the job needs no more nodes of its partition than are up and idle now, so
// that none must be powered up for it.
func (j *Job) awake() bool {
	nodes, cpus := int64(0), int64(0)
	for _, name := range j.partition.Nodes {
		if n := j.cluster.Nodes[name]; n.Usable && n.Awake {
			nodes++
			cpus += n.CPUs
		}
	}
	return nodes >= max(1, int64(j.Nodes)) && cpus >= int64(j.CPUs)
}
