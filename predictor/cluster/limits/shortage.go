package limits

import (
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/workload"
)

// Shortage says that too few nodes can start jobs now (Unix seconds) for the request, and why the others
// cannot: part of a sentence. It is "" if there are enough, or if not all nodes of the partition are
// known. The request is complete.
func (c *Cluster) Shortage(r workload.Request, now int64) string {
	return c.shortage(r, c.reserved(now))
}

// Missing is Shortage for nodes of which nobody knows when they come back: those that are down or drained.
func (c *Cluster) Missing(r workload.Request) string { return c.shortage(r, nil) }

// shortage is Shortage with these nodes reserved.
func (c *Cluster) shortage(r workload.Request, reserved map[string]*split) string {
	p := c.Partitions[r.Partition]
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
	others = slices.DeleteFunc(others, func(s string) bool { return strings.HasPrefix(s, "0 ") })
	return fmt.Sprintf("only %d of the %s of partition %s can start jobs now (%s), too few for the job, and when the others come back cannot be forecast",
		len(usable), count(len(p.Nodes), "node"), r.Partition, strings.Join(others, ", "))
}

// reserved returns the nodes of which Slurm's own reservations have a part at a time.
func (c *Cluster) reserved(now int64) map[string]*split {
	names := map[string]*split{}
	for i := range c.Reservations {
		if v := &c.Reservations[i]; v.Start <= now && now < v.End {
			for _, name := range v.Nodes {
				if names[name] == nil {
					names[name] = &split{cpus: c.Nodes[name].CPUs}
				}
				cpus, part := c.part(v, name)
				names[name].change(&place{whole: !part, cpus: cpus}, true)
			}
		}
	}
	return names
}
