package limits

import (
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// Shortage says that too few nodes can start jobs now (Unix seconds) for the request, and why the
// others cannot: part of a sentence. It is "" if there are enough, or if not all nodes of the
// partition are known. The request is complete.
func (c *Cluster) Shortage(r workload.Request, now int64) string { return c.ShortageBy(r, now, now) }

// ShortageBy is Shortage for a job that is to start by a deadline: the nodes of reservations that
// are over by then do not count as such that cannot start jobs.
func (c *Cluster) ShortageBy(r workload.Request, now, deadline int64) string {
	return c.shortage(r, c.reserving(r.Partition, now, deadline))
}

// Missing is Shortage for nodes of which nobody knows when they come back: those that are down or
// drained.
func (c *Cluster) Missing(r workload.Request) string { return c.shortage(r, nil) }

// Unusable says how many nodes of a partition can start no jobs now (Unix seconds), and why: "7 of
// the 8 nodes of partition main could start no jobs (7 drained: node[2-8])". It is "" if all can,
// or if not all nodes of the partition are known.
func (c *Cluster) Unusable(partition string, now int64) string {
	reserving := c.reserving(partition, now, now)
	v, known := c.divide(partition, reserving)
	if of := len(c.Partitions[partition].Nodes); known && len(v.usable) < of {
		return fmt.Sprintf("%d of the %s of partition %s could start no jobs (%s)", of-len(v.usable), count(of, "node"), partition, c.others(&v, c.until(reserving)))
	}
	return ""
}

// divided is the nodes of a partition by whether they can start jobs.
type divided struct {
	usable        []Node
	drained, down []string // their names
	reserved      int
}

// divide divides the nodes of a partition while these reservations have theirs. It reports false if
// not all nodes are known.
func (c *Cluster) divide(partition string, reserving []*Reservation) (v divided, known bool) {
	reserved := c.reserved(reserving)
	for _, name := range c.Partitions[partition].Nodes {
		n, known := c.Nodes[name]
		if of := reserved[name]; of != nil {
			n.CPUs = of.free()
		}
		switch {
		case !known:
			return divided{}, false
		case reserved[name] != nil && n.CPUs == 0:
			v.reserved++
		case n.Usable:
			v.usable = append(v.usable, n)
		case n.Drained:
			v.drained = append(v.drained, name)
		default:
			v.down = append(v.down, name)
		}
	}
	return v, true
}

// others says why the nodes that are not usable are not, "2 drained: n[3-4], 1 reserved", with what
// until says of reservations. It names no nodes that only operators may see.
func (c *Cluster) others(v *divided, until string) string {
	of := func(names []string, state string) string {
		said := fmt.Sprintf("%d %s", len(names), state)
		if !c.PrivateNodes {
			said += ": " + fold(names)
		}
		return said
	}
	list := []string{of(v.drained, "drained"), of(v.down, "down"), fmt.Sprintf("%d reserved%s", v.reserved, until)}
	return strings.Join(slices.DeleteFunc(list, func(s string) bool { return strings.HasPrefix(s, "0 ") }), ", ")
}

// shortage is Shortage while these reservations have their nodes.
func (c *Cluster) shortage(r workload.Request, reserving []*Reservation) string {
	v, known := c.divide(r.Partition, reserving)
	if !known {
		return ""
	}
	usable, all := v.usable, len(c.Partitions[r.Partition].Nodes)
	total := func(of func(*Node) int64) (sum int64) {
		for i := range usable {
			sum += of(&usable[i])
		}
		return sum
	}
	enough := len(usable) >= int(r.Nodes) && total(func(n *Node) int64 { return n.CPUs }) >= int64(r.CPUs) &&
		total(func(n *Node) int64 { return n.Gres["gpu"] }) >= int64(r.GPUs) && total(func(n *Node) int64 { return n.Memory }) >= r.Memory
	if enough || len(usable) == all {
		return ""
	}
	until, consequence := c.until(reserving), "too few for the job, and when the others come back cannot be forecast"
	if v.reserved > 0 && until != "" {
		consequence = "too few for the job until then"
		if len(v.drained)+len(v.down) > 0 {
			consequence = "too few for the job, and when those that are drained or down come back cannot be forecast"
		}
	}
	return fmt.Sprintf("only %d of the %s of partition %s can start jobs now (%s), %s",
		len(usable), count(all, "node"), r.Partition, c.others(&v, until), consequence)
}

// until names reservations, and when the last of them ends: the end of "8 reserved". It is "" where
// the zone is not known.
func (c *Cluster) until(reserving []*Reservation) string {
	if c.Zone == nil {
		return ""
	}
	var names []string
	end := int64(0)
	for _, v := range reserving {
		names, end = append(names, v.Name), max(end, v.End)
	}
	return " by " + and(names) + " until " + slurmtime.Stamp(end, c.Zone)
}

// reserving returns Slurm's own reservations that have nodes of a partition now, and are not over
// by a deadline.
func (c *Cluster) reserving(partition string, now, deadline int64) (list []*Reservation) {
	nodes := c.index(partition, func(string) bool { return true })
	for i := range c.Reservations {
		v := &c.Reservations[i]
		if span, begun := v.Begun(now); begun && deadline < span.End && len(c.places(v, nodes)) > 0 {
			list = append(list, v)
		}
	}
	return list
}

// reserved returns the nodes of which some reservations have a part.
func (c *Cluster) reserved(by []*Reservation) map[string]*split {
	names := map[string]*split{}
	for _, v := range by {
		for _, name := range v.Nodes {
			if names[name] == nil {
				names[name] = &split{cpus: c.Nodes[name].CPUs}
			}
			cpus, part := c.part(v, name)
			names[name].change(&place{whole: !part, cpus: cpus}, true)
		}
	}
	return names
}
