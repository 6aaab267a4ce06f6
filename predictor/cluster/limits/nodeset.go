package limits

import (
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/hostlist"
	"github.com/varq-project/varq/predictor/workload"
)

// Few is the largest share of the nodes that a job may leave out and still wait like those that may
// run on any of them.
const Few = 1. / 8

// few reports whether so many nodes are all of some but Few.
func few(are, of int) bool { return float64(of-are) <= Few*float64(of) }

// NodeSet returns the nodes on which alone the job may run, as workload.Request has them: those
// that have what it needs, whether they are up or not, and also those that it excludes if they are
// Few. It is empty if these are all nodes of the partition but Few and the job does not run inside
// of a reservation, or if no job of these needs can run.
func (j *Job) NodeSet() string {
	if !j.needy && j.inside == nil || j.cluster.Nodes == nil {
		return ""
	}
	nodes, rule := j.selected()
	if rule != nil {
		return ""
	}
	if len(j.needs.Exclude.Names) > 0 {
		others := *j.needs
		others.Exclude = workload.NamedNodes{}
		if others.PerCore > 0 {
			others.NodeCPUs.Amount = j.nodeUses
		}
		if all, _ := j.cluster.Job(j.Request, &others).selected(); few(len(nodes), len(all)) {
			nodes = all
		}
	}
	if j.anywhere(nodes) {
		return ""
	}
	if set := listed(nodes); len(set) <= mostListed {
		return set
	}
	return ""
}

// anywhere reports whether a job that may run on these nodes counts as one that may run on any of
// its partition.
func (j *Job) anywhere(nodes []Node) bool {
	return j.inside == nil && few(len(nodes), len(j.known()))
}

// mostListed is how long a NodeSet may be, in bytes. Users may have as many jobs, each with another
// one, as they may have jobs.
const mostListed = 8192

// listed returns the list of some nodes.
func listed(nodes []Node) string { return hostlist.Compress(namesOf(nodes)) }

// namesOf returns the names of nodes.
func namesOf(nodes []Node) []string {
	names := make([]string, len(nodes))
	for i := range nodes {
		names[i] = nodes[i].Name
	}
	return names
}

// setOf returns names as a set.
func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// nodesAt returns the names of the nodes of a place: those of the partition if the place's NodeSet
// has none of them any more.
func (c *Cluster) nodesAt(p workload.Place) []string {
	all := c.Partitions[p.Partition].Nodes
	names, err := hostlist.Expand(p.NodeSet)
	if err != nil || len(names) == 0 {
		return all
	}
	in := setOf(names)
	some := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !in[name] })
	if len(some) == 0 {
		return all
	}
	return some
}

// NodeSets tells Job.NodeSet and Cluster.Licences of many jobs. It looks for those of like jobs
// once, and so serves only one goroutine, and only as long as the Cluster does not change.
type NodeSets struct {
	cluster  *Cluster
	least    map[string]Node // by partition: what each node has at least
	known    map[string]string
	licences map[string]workload.Licences // by list
	cpus     int64                        // of all nodes
}

// NodeSets returns a new NodeSets.
func (c *Cluster) NodeSets() *NodeSets {
	return &NodeSets{cluster: c, least: map[string]Node{}, known: map[string]string{}, licences: map[string]workload.Licences{}, cpus: c.cpus()}
}

// mostKnown is how many kinds of jobs, and how many lists of licences, a NodeSets remembers. It
// forgets them all when there are more.
const mostKnown = 10_000

// Of returns the NodeSet of a job as Slurm has it: with each of its needs that Slurm tells, and
// perhaps several partitions, of which the first one that exists counts. Constraints that Slurm has
// accepted may be of any kind. It takes O(n) for n nodes if no such job was asked about before.
func (s *NodeSets) Of(r workload.Request, n *workload.Needs) string {
	for partition := range strings.SplitSeq(r.Partition, ",") {
		if _, ok := s.cluster.Partitions[partition]; ok {
			r.Partition = partition
			break
		}
	}
	if !s.cluster.Reservations.Encloses(r.Reservation) && (n == nil || s.fitAnywhere(r.Partition, n)) {
		return ""
	}
	if n == nil {
		n = &workload.Needs{}
	}
	key := fmt.Sprint(r.Partition, r.Reservation, r.Nodes, r.CPUs, r.Memory, *n)
	set, ok := s.known[key]
	if !ok {
		if len(s.known) == mostKnown {
			clear(s.known)
		}
		r.NodeSet = ""
		set = s.cluster.Job(r, n).NodeSet()
		s.known[key] = set
	}
	return set
}

// Licences is Cluster.Licences.
func (s *NodeSets) Licences(list string) workload.Licences {
	if list == "" {
		return ""
	}
	scarce, ok := s.licences[list]
	if !ok {
		if len(s.licences) == mostKnown {
			clear(s.licences)
		}
		scarce = s.cluster.scarce(list, s.cpus)
		s.licences[list] = scarce
	}
	return scarce
}

// fitAnywhere reports whether it is plain that each node of a partition has what a job needs.
func (s *NodeSets) fitAnywhere(partition string, n *workload.Needs) bool {
	if n.Constraint != "" || len(n.NodeList.Names)+len(n.Exclude.Names)+len(n.Gres) > 0 {
		return false
	}
	least, ok := s.least[partition]
	if !ok {
		for i, name := range s.cluster.Partitions[partition].Nodes {
			node := s.cluster.Nodes[name]
			if i == 0 {
				least = node
			}
			least.CPUs, least.Memory, least.Tmp = min(least.CPUs, node.CPUs), min(least.Memory, node.Memory), min(least.Tmp, node.Tmp)
		}
		s.least[partition] = least
	}
	return n.NodeCPUs.Amount <= least.CPUs && n.NodeMemory.Amount <= least.Memory && n.NodeTmp.Amount <= least.Tmp
}
