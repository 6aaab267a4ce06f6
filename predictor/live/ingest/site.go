package ingest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/slurm"
)

// site is what Slurm says of the cluster's partitions and nodes.
type site struct {
	machines map[string]machine // by partition; nil: not known
	outages  []qbets.Outage     // in the order in which they were seen
}

// mostOutages is how many outages are kept, besides those that are not over.
const mostOutages = 64

// machine is the nodes of partitions that share any.
type machine struct {
	name  string // the first of the partitions, by name
	procs int32  // of the nodes that can run jobs
}

// Cluster takes in what Slurm says of partitions and nodes. It tells of outages:
// partitions that are down, or all of whose nodes are. What it says of processors
// counts when the past is next lived through.
func (g *Ingest) Cluster(c *limits.Cluster, nodes []slurm.Node) {
	g.storing.Lock()
	defer g.storing.Unlock()
	g.site.machines = machinesOf(nodes)
	changed := g.site.see(c, nodes, g.Now())
	for _, o := range changed {
		g.Log.Warn("outage", "partition", o.Partition, "reason", o.Reason, "over", o.To != 0)
	}
	if p := g.present.Load(); p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, o := range changed {
			p.predictor.Outage(o)
		}
	}
}

// see brings the outages up to date, and returns those that have begun or are over.
func (s *site) see(c *limits.Cluster, nodes []slurm.Node, now int64) (changed []qbets.Outage) {
	down := map[string]string{}
	for name, p := range c.Partitions {
		if reason := downReason(&p, nodes); reason != "" {
			down[name] = reason
		}
	}
	for i := range s.outages {
		o := &s.outages[i]
		if o.To != 0 {
			continue
		}
		if _, still := down[o.Partition]; still {
			delete(down, o.Partition)
			continue
		}
		o.To = max(now, o.From+1)
		changed = append(changed, *o)
	}
	for _, name := range slices.Sorted(maps.Keys(down)) {
		o := qbets.Outage{Partition: name, From: now, Reason: down[name]}
		s.outages = append(s.outages, o)
		changed = append(changed, o)
	}
	surplus := len(s.outages) - mostOutages
	s.outages = slices.DeleteFunc(s.outages, func(o qbets.Outage) bool {
		surplus--
		return surplus >= 0 && o.To != 0 // of the others it is still to be told that they are over
	})
	return changed
}

// tell tells of all outages.
func (s *site) tell(p *present) {
	for _, o := range s.outages {
		p.predictor.Outage(o)
	}
}

// downReason says why no job of a partition can start, or nothing.
func downReason(p *limits.Partition, nodes []slurm.Node) string {
	if !p.Up {
		return fmt.Sprintf("partition %s is down", p.Name)
	}
	all, drained := 0, 0
	for i := range nodes {
		n := &nodes[i]
		if !slices.Contains(n.Partitions, p.Name) {
			continue
		}
		all++
		switch {
		case n.Up && !n.Drained:
			return ""
		case n.Up:
			drained++
		}
	}
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("no node of partition %s can start jobs: of %d, %d are down and %d drained", p.Name, all, all-drained, drained)
}

// machinesOf returns the machine of each partition.
func machinesOf(nodes []slurm.Node) map[string]machine {
	with := map[string]string{} // a partition of the same machine, or itself
	first := func(name string) string {
		for with[name] != name {
			name = with[name]
		}
		return name
	}
	for i := range nodes {
		for _, name := range nodes[i].Partitions {
			if with[name] == "" {
				with[name] = name
			}
			a, b := first(nodes[i].Partitions[0]), first(name)
			with[max(a, b)] = min(a, b)
		}
	}
	procs := map[string]int32{}
	for i := range nodes {
		if n := &nodes[i]; n.Up && !n.Drained && len(n.Partitions) > 0 {
			procs[first(n.Partitions[0])] += n.CPUs
		}
	}
	machines := map[string]machine{}
	for name := range with {
		machines[name] = machine{first(name), procs[first(name)]}
	}
	return machines
}

// machine returns what twin.Options.Machine is to be: nil where nothing is known.
// Of several partitions in which a job may run, the first that is known counts.
func (s *site) machine() func(partition string) (name string, procs int32) {
	machines := s.machines
	if len(machines) == 0 {
		return nil
	}
	return func(partition string) (string, int32) {
		for name := range strings.SplitSeq(partition, ",") {
			if m, ok := machines[name]; ok {
				return m.name, m.procs
			}
		}
		return "", 0
	}
}
