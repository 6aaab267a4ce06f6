package ingest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/slurm"
)

// mostOutages is how many of the newest outages are kept. Older ones are kept until they
// are over, as the model has yet to observe their end.
const mostOutages = 64

// outages are the times in which no job of a partition could start.
type outages struct {
	list []qbets.Outage // in the order of their beginnings
}

// ObserveCluster finds the outages in the state of partitions and nodes, and feeds them to the
// model. A partition has an outage while it is down, or while none of its nodes can start jobs. The
// outage is planned if Slurm's reservations tell until when. ObserveCluster also finds the pools
// and the order of the queue, and tells the model of their sizes, of what Slurm's reservations
// leave of them, and of how priorities grow.
func (g *Ingest) ObserveCluster(c *limits.Cluster, nodes []slurm.Node) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.Now()
	pools, order := poolsOf(c, nodes, now), orderOf(c)
	pools.remember(g.pools, now)
	news := expert.News{Outages: g.outages.update(c, nodes, now)}
	for _, o := range news.Outages {
		g.Log.Warn("outage", "partition", o.Partition, "reason", o.Reason, "over", o.To != 0)
	}
	if order.aging != g.order.aging {
		news.Aging = &order.aging
	}
	if !reflect.DeepEqual(pools.by, g.pools.by) {
		news.Pools = pools.lookup()
	}
	g.pools, g.order = pools, order
	if t := g.tracker.Load(); t != nil && !news.None() {
		t.Hear(news)
	}
}

// update brings the list up to date, and returns the outages that have begun or are over.
func (s *outages) update(c *limits.Cluster, nodes []slurm.Node, now int64) (changed []qbets.Outage) {
	down := map[string]qbets.Outage{}
	serving, apart := servingOf(c, now), c.Apart(now)
	for name, p := range c.Partitions {
		if reason := downReason(&p, nodes, serving); reason != "" {
			down[name] = qbets.Outage{Partition: name, From: now, Reason: reason}
		} else if reserved(name, nodes, apart) {
			down[name] = qbets.Outage{Partition: name, From: now, Reason: "reservations have all nodes of partition " + name, Planned: true}
		}
	}
	for i := range s.list {
		o := &s.list[i]
		if o.To != 0 {
			continue
		}
		if still, ok := down[o.Partition]; ok && still.Planned == o.Planned {
			delete(down, o.Partition)
			continue
		}
		o.To = max(now, o.From+1)
		changed = append(changed, *o)
	}
	for _, name := range slices.Sorted(maps.Keys(down)) {
		s.list = append(s.list, down[name])
		changed = append(changed, down[name])
	}
	surplus := len(s.list) - mostOutages
	s.list = slices.DeleteFunc(s.list, func(o qbets.Outage) bool {
		surplus--
		return surplus >= 0 && o.To != 0
	})
	return changed
}

// servingOf returns the nodes in maintenance of which it is known when jobs start: now if it is
// always ahead, or when their reservation is over.
func servingOf(c *limits.Cluster, now int64) map[string]bool {
	serving := map[string]bool{}
	for i := range c.Reservations {
		v := &c.Reservations[i]
		if _, begun := v.Begun(now); begun || v.Floats {
			for _, name := range v.Nodes {
				serving[name] = true
			}
		}
	}
	return serving
}

// reserved reports whether reservations have all nodes of a partition that could start jobs, of
// which there are some.
func reserved(partition string, nodes []slurm.Node, apart map[string]int64) bool {
	some := false
	for i := range nodes {
		if n := &nodes[i]; n.Up && !n.Drained && slices.Contains(n.Partitions, partition) {
			if apart[n.Name] == 0 {
				return false
			}
			some = true
		}
	}
	return some
}

// downReason returns why no job of a partition can start, or "" if a job can, or can when a
// reservation is over. serving has the nodes of which that is known though they are in maintenance;
// see servingOf.
func downReason(p *limits.Partition, nodes []slurm.Node, serving map[string]bool) string {
	if !p.Up {
		return p.Closed()
	}
	all, drained := 0, 0
	for i := range nodes {
		n := &nodes[i]
		if !slices.Contains(n.Partitions, p.Name) {
			continue
		}
		all++
		switch {
		case n.Up && !n.Drained && (!n.Maintenance || serving[n.Name]):
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
