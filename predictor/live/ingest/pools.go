package ingest

import (
	"math"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/hostlist"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// pools are the pools by partition: those of partitions that share nodes, directly or through
// others. A pool has the name of the first of its partitions, by name. Its nodes are those that
// jobs can start on; the CPUs, GPUs and memory are also of those that jobs only run on still.
// There are none if nothing is known of nodes.
type pools struct {
	by     map[string]twin.Pool
	limits *limits.Cluster
	at     int64 // as of when
}

// lookup returns the pools as a twin.Pools, or nil if there are none.
func (p pools) lookup() twin.Pools {
	if len(p.by) == 0 {
		return nil
	}
	return p.of
}

// of returns the pool of a place. If a job may run in several partitions, its pool is that of the
// first that is known.
func (p pools) of(place workload.Place) twin.Pool {
	for name := range strings.SplitSeq(place.Partition, ",") {
		if found, ok := p.by[name]; ok {
			return p.narrowed(found, place.NodeSet)
		}
	}
	return twin.Pool{}
}

// narrowed returns what a node set has of the pool of a partition: what the partition has, if none
// of the set's nodes can have jobs.
func (p pools) narrowed(all twin.Pool, nodeSet string) twin.Pool {
	names, err := hostlist.Expand(nodeSet)
	if err != nil || len(names) == 0 {
		return all
	}
	in := make(map[string]bool, len(names))
	for _, name := range names {
		in[name] = true
	}
	nodes := slices.DeleteFunc(slices.Clone(all.Nodes), func(n twin.Node) bool { return !in[n.Name] })
	if len(nodes) == 0 {
		return all
	}
	own, starting := workload.Size{}, map[string]int64{}
	for i := range nodes {
		own = plus(own, nodes[i].Size)
		if nodes[i].Nodes > 0 {
			starting[nodes[i].Name] = int64(nodes[i].CPUs)
		}
	}
	if all.Own.Memory == 0 {
		own.Memory = 0
	}
	all.Own, all.Nodes = own, nodes
	over := all.OwnWindows[:len(all.OwnWindows)-len(all.OwnWindows.Since(p.at))]
	all.OwnWindows = slices.Concat(over, windowsOf(p.limits, starting, p.at))
	return all
}

// idle reports whether no job runs on a node.
func idle(n *slurm.Node) bool { return strings.HasPrefix(n.State, "IDLE") }

// poolsOf returns the pool of each partition at a time.
func poolsOf(c *limits.Cluster, nodes []slurm.Node, now int64) pools {
	// parents is a forest (union-find): the root of a partition names its pool. No
	// parent's name comes after that of its child.
	parents := map[string]string{}
	root := func(name string) string {
		for parents[name] != name {
			name = parents[name]
		}
		return name
	}
	for i := range nodes {
		for _, name := range nodes[i].Partitions {
			if parents[name] == "" {
				parents[name] = name
			}
			a, b := root(nodes[i].Partitions[0]), root(name)
			parents[max(a, b)] = min(a, b)
		}
	}
	ofPool, ofPartition := map[string]workload.Size{}, map[string]workload.Size{}
	own, starting, ownStarting := map[string][]twin.Node{}, map[string]map[string]int64{}, map[string]map[string]int64{}
	for i := range nodes {
		if n := &nodes[i]; n.Up && (!n.Drained || !idle(n)) && len(n.Partitions) > 0 {
			pool := root(n.Partitions[0])
			grow(ofPool, pool, n)
			if starting[pool] == nil {
				starting[pool] = map[string]int64{}
			}
			if !n.Drained {
				starting[pool][n.Name] = int64(n.CPUs)
			}
			for _, name := range n.Partitions {
				grow(ofPartition, name, n)
				own[name] = append(own[name], twin.Node{Name: n.Name, Size: sizeOf(n)})
				if ownStarting[name] == nil {
					ownStarting[name] = map[string]int64{}
				}
				if !n.Drained {
					ownStarting[name][n.Name] = int64(n.CPUs)
				}
			}
		}
	}
	windows := map[string]rollout.Windows{}
	for pool, cpus := range starting {
		windows[pool] = windowsOf(c, cpus, now)
	}
	apart := c.Apart(now)
	list := pools{map[string]twin.Pool{}, c, now}
	for name := range parents {
		pool := root(name)
		p := twin.Pool{
			Name: pool, Size: ofPool[pool], Windows: windows[pool], Apart: apart,
			Own: ofPartition[name], Nodes: own[name], WholeNodes: c.Partitions[name].WholeNodes || c.Partitions[name].UserNodes,
		}
		if !c.Partitions[name].ConsumableMemory {
			p.Size.Memory, p.Own.Memory = 0, 0
		}
		if p.OwnWindows = p.Windows; p.Own != p.Size {
			p.OwnWindows = windowsOf(c, ownStarting[name], now)
		}
		list.by[name] = p
	}
	return list
}

// fill gives each job that runs and shares its nodes with few all CPUs of these: one of
// --exclusive=user was given only what it asked for, and others may not have the rest. One that
// waits gets as many CPUs as so many nodes of its partition have on average.
func (p pools) fill(queue []slurm.QueueEntry) {
	cpus := map[string]map[string]int32{} // by partition and node
	for i := range queue {
		e := &queue[i]
		switch own := p.of(e.Place()).Own; {
		case e.Start == 0 && e.Exclusive && own.Nodes > 0:
			e.Given = int32(min(int64(max(1, e.Nodes))*int64(own.CPUs/own.Nodes), math.MaxInt32))
			continue
		case e.Start == 0 || !e.Exclusive:
			continue
		}
		of, known := cpus[e.Partition]
		if !known {
			of = make(map[string]int32, len(p.by[e.Partition].Nodes))
			for _, n := range p.by[e.Partition].Nodes {
				of[n.Name] = n.CPUs
			}
			cpus[e.Partition] = of
		}
		all := int32(0)
		for _, name := range e.On {
			all += of[name]
		}
		e.Given = max(e.Given, all)
	}
}

// mostWindows is how far ahead windows are followed: two months of those that come every day.
const mostWindows = 64

// windowsOf returns what Slurm's reservations leave of a pool on whose nodes jobs can start. The
// CPUs of these are given by name. Windows that are over at a time are left out.
func windowsOf(c *limits.Cluster, cpus map[string]int64, now int64) rollout.Windows {
	all := int64(0)
	for _, n := range cpus {
		all += n
	}
	var windows rollout.Windows
	for _, kept := range c.Kept(cpus, now, mostWindows) {
		windows = append(windows, rollout.Window{From: kept.Start, To: kept.End, Left: int32(all - kept.CPUs), Of: int32(all)})
	}
	return windows
}

// keptWindows is for how long, in seconds, a window that is over is remembered. Jobs that waited
// through one and start later than that seem to have waited in the queue alone.
const keptWindows = 7 * day

// remember adds the windows of earlier pools that have begun and that Slurm no longer tells of.
func (p pools) remember(earlier pools, now int64) {
	for name, pool := range p.by {
		was := earlier.by[name]
		pool.Windows = remembered(was.Windows, pool.Windows, now)
		pool.OwnWindows = remembered(was.OwnWindows, pool.OwnWindows, now)
		p.by[name] = pool
	}
}

// remembered returns the windows that are known now, after those of earlier ones that have begun
// and are not known any more. One that was to go on is over now.
func remembered(earlier, known rollout.Windows, now int64) rollout.Windows {
	past := slices.Clone(earlier.Since(now - keptWindows))
	past = slices.DeleteFunc(past, func(w rollout.Window) bool {
		return w.From >= now || slices.ContainsFunc(known, func(is rollout.Window) bool { return is.From <= w.From })
	})
	if len(past) == 0 {
		return known
	}
	last := &past[len(past)-1]
	if last.To = min(last.To, now); len(known) > 0 {
		last.To = min(last.To, known[0].From)
	}
	return append(past, known...)
}

// sizeOf returns the size of a node. Its Nodes are 0 if it is drained.
func sizeOf(n *slurm.Node) workload.Size {
	size := workload.Size{Nodes: 1, CPUs: n.CPUs, GPUs: n.GPUs, Memory: n.Memory}
	if n.Drained {
		size.Nodes = 0
	}
	return size
}

// grow adds a node to the size of a name.
func grow(sizes map[string]workload.Size, name string, n *slurm.Node) {
	sizes[name] = plus(sizes[name], sizeOf(n))
}

// plus returns the sum of two sizes.
func plus(s, by workload.Size) workload.Size {
	return workload.Size{Nodes: s.Nodes + by.Nodes, CPUs: s.CPUs + by.CPUs, GPUs: s.GPUs + by.GPUs, Memory: s.Memory + by.Memory}
}
