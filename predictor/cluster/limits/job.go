package limits

import (
	"slices"

	"github.com/varq-project/varq/predictor/workload"
)

// Job is a job of a request on a cluster: how long and how large it may be, which nodes it may have
// and when, and what it is charged at most.
type Job struct {
	workload.Request
	cluster   *Cluster
	partition Partition // of the request, with those of its nodes that are in its NodeSet
	needs     *workload.Needs
	needy     bool         // whether it has needs at all
	nodeUses  int64        // of the CPUs of each node that it needs, those that it uses
	own       *Reservation // that the job asks for
	inside    *Reservation // own, if the job may not start outside of it
}

// Job returns a job of the cluster. The request is complete, see Complete. The needs are nil if the
// job has none, or they do not matter.
func (c *Cluster) Job(r workload.Request, n *workload.Needs) *Job {
	j := &Job{Request: r, cluster: c, partition: c.Partitions[r.Partition], needs: n, needy: n != nil}
	j.partition.Nodes = c.nodesAt(r.Place())
	if j.own = c.Reservations.Named(r.Reservation); j.own != nil && !j.own.Flex {
		j.inside = j.own
		in := setOf(j.inside.Nodes)
		j.partition.Nodes = slices.DeleteFunc(slices.Clone(j.partition.Nodes), func(name string) bool { return !in[name] })
	}
	switch {
	case !j.needy:
		j.needs = &workload.Needs{}
	case n.PerCore > 0:
		whole := *n
		j.nodeUses = n.NodeCPUs.Amount
		whole.NodeCPUs.Amount = onCores(j.known(), n.PerCore, j.nodeUses, 1)
		j.needs = &whole
	}
	return j
}

// others returns the reservations that keep the job from their nodes: all but its own.
func (j *Job) others() Reservations {
	if j.own == nil {
		return j.cluster.Reservations
	}
	return slices.DeleteFunc(slices.Clone(j.cluster.Reservations), func(v Reservation) bool { return v.Name == j.own.Name })
}

// overrides reports whether a QOS of the job, or of its partition, has the flag.
func (j *Job) overrides(flag func(*QOS) bool) bool {
	for _, name := range []string{j.QOS, j.partition.QOS} {
		if q := j.cluster.QOS[name]; flag(&q) {
			return true
		}
	}
	return false
}

// amount returns how much of a TRES the job has, as limits count it.
func (j *Job) amount(tres string) int64 { return j.cluster.amount(&j.Request, tres) }

// alone reports whether the job shares its nodes with no other job.
func (j *Job) alone() bool { return j.partition.alone(j.needs) }

// wholeNodes returns the CPUs of so many of the largest nodes that the job may have. A job that is
// alone on its nodes waits for that many.
func (j *Job) wholeNodes(nodes int32) int32 {
	var cpus []int64
	for _, name := range j.partition.Nodes {
		cpus = append(cpus, j.cluster.Nodes[name].CPUs)
	}
	return int32(most(cpus, int(nodes)))
}
