package esr

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// NewLoad returns what keeps a partition busy, in processors: the jobs of all partitions that share
// nodes with it, and Slurm's own reservations that begin before until. A job that runs has a Start;
// of the others those without an Eligible time, which are held or depend on other jobs, do not
// count.
func NewLoad(c *limits.Cluster, partition string, jobs iter.Seq[*workload.Job], now, until int64) Load {
	sharing, nodes := sharing(c, partition)
	l := Load{Now: now, RunningShare: PaperShare, WaitingShare: PaperShare}
	cpus := int64(0)
	for name := range nodes {
		if n := c.Nodes[name]; n.Usable {
			cpus += n.CPUs
		}
	}
	l.Nodes = clamp(cpus)
	takes := c.Takes()
	for j := range jobs {
		r := j.Request
		r.Partition, _, _ = strings.Cut(r.Partition, ",")
		if !sharing[r.Partition] {
			continue
		}
		p := c.Partitions[r.Partition]
		limit := max(0, cmp.Or(r.Limit, p.DefaultTime))
		procs := clamp(int64(max(takes.CPUs(r), j.Given, r.Procs())) * int64(j.Count()))
		switch {
		case j.Start != 0:
			l.Running = append(l.Running, Job{Nodes: procs, Seconds: float64(max(0, j.Start+limit-now))})
		case j.Eligible != 0:
			l.Waiting = append(l.Waiting, Job{Nodes: procs, Seconds: float64(limit)})
		}
	}
	for _, claim := range c.Job(workload.Request{Partition: partition}, nil).Claims(workload.Pieces{}, now, until) {
		l.Reservations = append(l.Reservations, Reservation{Start: claim.Start, End: claim.Start + claim.Limit, Nodes: claim.CPUs})
	}
	return l
}

func clamp(n int64) int32 { return int32(min(n, math.MaxInt32)) }

// sharing returns the partitions that have nodes of a partition's, itself included, and the nodes
// of all of them.
func sharing(c *limits.Cluster, partition string) (partitions, nodes map[string]bool) {
	own := map[string]bool{}
	for _, name := range c.Partitions[partition].Nodes {
		own[name] = true
	}
	partitions, nodes = map[string]bool{}, map[string]bool{}
	for name := range c.Partitions {
		p := c.Partitions[name]
		if name == partition || slices.ContainsFunc(p.Nodes, func(n string) bool { return own[n] }) {
			partitions[name] = true
			for _, n := range p.Nodes {
				nodes[n] = true
			}
		}
	}
	return partitions, nodes
}
