package limits

import (
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/hostlist"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Unusable says how many nodes of a partition can start no jobs now (Unix seconds), and why: "7 of
// the 8 nodes of partition main could start no jobs (7 drained: node[2-8])". It is "" if all can,
// or if not all nodes of the partition are known.
func (c *Cluster) Unusable(partition string, now int64) string {
	p := c.Partitions[partition]
	s, known := c.standing(&p, c.Reservations.holding(&p, now, now))
	if of := len(p.Nodes); known && len(s.usable) < of {
		return fmt.Sprintf("%d of the %s of partition %s could start no jobs (%s)", of-len(s.usable), count(of, "node"), partition, s.others())
	}
	return ""
}

// standing is the nodes of a partition by whether they can start jobs.
type standing struct {
	cluster       *Cluster
	partition     *Partition
	by            []*Reservation // that have nodes of it
	usable        []Node
	drained, down []string // their names
	reserved      int
}

// standing returns how the nodes of a partition stand while these reservations have theirs. It
// reports false if not all nodes are known.
func (c *Cluster) standing(p *Partition, by []*Reservation) (s standing, known bool) {
	s = standing{cluster: c, partition: p, by: by}
	reserved := s.taken()
	for _, name := range p.Nodes {
		n, known := c.Nodes[name]
		if of := reserved[name]; of != nil {
			n.CPUs = of.free()
		}
		switch {
		case !known:
			return standing{}, false
		case n.Drained:
			s.drained = append(s.drained, name)
		case reserved[name] != nil && n.CPUs == 0:
			s.reserved++
		case n.Usable:
			s.usable = append(s.usable, n)
		default:
			s.down = append(s.down, name)
		}
	}
	return s, true
}

// taken returns the nodes of which the reservations have a part.
func (s *standing) taken() map[string]*split {
	names := map[string]*split{}
	for _, v := range s.by {
		for _, name := range v.Nodes {
			if names[name] == nil {
				names[name] = &split{cpus: s.cluster.Nodes[name].CPUs}
			}
			cpus, part := v.part(name, s.cluster.Nodes)
			names[name].change(&place{whole: !part, cpus: cpus}, true)
		}
	}
	return names
}

// suffices reports whether the usable nodes have what a job needs.
func (s *standing) suffices(j *Job) bool {
	total := func(of func(*Node) int64) (sum int64) {
		for i := range s.usable {
			sum += of(&s.usable[i])
		}
		return sum
	}
	return len(s.usable) >= int(j.Nodes) && total(func(n *Node) int64 { return n.CPUs }) >= int64(j.CPUs) &&
		total(func(n *Node) int64 { return n.Gres["gpu"] }) >= int64(j.GPUs) && total(func(n *Node) int64 { return n.Memory }) >= j.Memory
}

// mostNamed is how long a list of nodes in a sentence may be, in bytes.
const mostNamed = 80

// others says why the nodes that are not usable are not, "2 drained: n[3-4], 1 reserved", with
// until when they are reserved. It names no nodes that only operators may see.
func (s *standing) others() string {
	of := func(names []string, state string) string {
		said := fmt.Sprintf("%d %s", len(names), state)
		if !s.cluster.PrivateNodes {
			said += ": " + hostlist.Brief(names, mostNamed)
		}
		return said
	}
	list := []string{of(s.drained, "drained"), of(s.down, "down"), fmt.Sprintf("%d reserved%s", s.reserved, s.until())}
	return strings.Join(slices.DeleteFunc(list, func(s string) bool { return strings.HasPrefix(s, "0 ") }), ", ")
}

// until names the reservations, and when the last of them ends this time: the end of
// "8 reserved". It is "" where the zone is not known.
func (s *standing) until() string {
	if s.cluster.Zone == nil {
		return ""
	}
	by, end := "", int64(0)
	for _, v := range s.by {
		end = max(end, v.End)
	}
	if visible := names(s.by); len(visible) > 0 {
		by = " by " + and(visible)
	}
	return by + " until " + slurmtime.Stamp(end, s.cluster.Zone)
}
