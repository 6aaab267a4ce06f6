package limits

import (
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// Shortage says that too few nodes can start jobs now (Unix seconds) for the request, and why the others
// cannot: part of a sentence. It is "" if there are enough, or if not all nodes of the partition are
// known. The request is complete.
func (c *Cluster) Shortage(r workload.Request, now int64) string { return c.ShortageBy(r, now, now) }

// ShortageBy is Shortage for a job that is to start by a deadline: the nodes of reservations that are over by then do not count as
// such that cannot start jobs.
func (c *Cluster) ShortageBy(r workload.Request, now, deadline int64) string {
	return c.shortage(r, c.reserving(r.Partition, now, deadline))
}

// Missing is Shortage for nodes of which nobody knows when they come back: those that are down or drained.
func (c *Cluster) Missing(r workload.Request) string { return c.shortage(r, nil) }

// shortage is Shortage while these reservations have their nodes.
func (c *Cluster) shortage(r workload.Request, reserving []*Reservation) string {
	p, reserved := c.Partitions[r.Partition], c.reserved(reserving)
	var usable []Node
	var drained, down, kept int
	for _, name := range p.Nodes {
		n, known := c.Nodes[name]
		if of := reserved[name]; of != nil {
			n.CPUs = of.free()
		}
		switch {
		case !known:
			return ""
		case reserved[name] != nil && n.CPUs == 0:
			kept++
		case n.Usable:
			usable = append(usable, n)
		case n.Drained:
			drained++
		default:
			down++
		}
	}
	total := func(of func(*Node) int64) (sum int64) {
		for i := range usable {
			sum += of(&usable[i])
		}
		return sum
	}
	enough := len(usable) >= int(r.Nodes) && total(func(n *Node) int64 { return n.CPUs }) >= int64(r.CPUs) &&
		total(func(n *Node) int64 { return n.Gres["gpu"] }) >= int64(r.GPUs) && total(func(n *Node) int64 { return n.Memory }) >= r.Memory
	if enough || len(usable) == len(p.Nodes) {
		return ""
	}
	others := []string{fmt.Sprintf("%d drained", drained), fmt.Sprintf("%d down", down), fmt.Sprintf("%d reserved", kept)}
	consequence := "too few for the job, and when the others come back cannot be forecast"
	if until := c.until(reserving); kept > 0 && until != "" {
		others[2] += until
		consequence = "too few for the job until then"
		if drained+down > 0 {
			consequence = "too few for the job, and when those that are drained or down come back cannot be forecast"
		}
	}
	others = slices.DeleteFunc(others, func(s string) bool { return strings.HasPrefix(s, "0 ") })
	return fmt.Sprintf("only %d of the %s of partition %s can start jobs now (%s), %s",
		len(usable), count(len(p.Nodes), "node"), r.Partition, strings.Join(others, ", "), consequence)
}

// until names reservations, and when the last of them ends: the end of "8 reserved". It is "" where the zone is not known.
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

// reserving returns Slurm's own reservations that have nodes of a partition now, and are not over by a deadline.
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
