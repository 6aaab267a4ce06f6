package twin

import (
	"cmp"
	"slices"
)

// runners are the jobs that run on the pool of a partition, as its Occupants, until one starts or
// ends, Changed tells of another time limit or other nodes, or Resize of another pool. How long
// they run is left open.
type runners struct {
	*Occupants
	jobs  []*job // of Occupants.list
	moves int    // queue.Queue.Moves
}

// running returns the runners of a partition whose pool is configured.
func (t *Twin) running(in *partition) *runners {
	if r := in.runners; r != nil && r.moves == t.queue.Moves() {
		return r
	}
	g := gathering{Occupants: &Occupants{pool: &in.configured.size, ground: in.ground}, in: in}
	r := &runners{Occupants: g.Occupants, moves: t.queue.Moves()}
	for j := range t.queue.Running() {
		if k := t.job(j); k.in.configured == in.configured {
			c := occupant{user: k.User, size: j.Size, start: k.Start, from: k.Start, until: k.Start + k.Limit, limit: k.Limit, alone: k.in.ofNode > 0}
			c.size.CPUs = k.takes
			g.put(&c, k.in, j.On)
			g.list, r.jobs = append(g.list, c), append(r.jobs, k)
		}
	}
	g.indexBeside(&Occupants{onNode: make([][]int32, len(in.nodes))})
	in.runners = r
	return r
}

// gatherAnew lets the runners of all partitions be gathered when they are asked for next.
func (p *partitions) gatherAnew() {
	for _, in := range p.byPlace {
		in.runners = nil
	}
}

// indexBeside fills in onNode and changes, given those of the first of the occupants.
func (o *Occupants) indexBeside(first *Occupants) {
	o.onNode = slices.Clone(first.onNode)
	var more []change
	for i := len(first.list); i < len(o.list); i++ {
		c := &o.list[i]
		for _, node := range c.on {
			o.onNode[node] = append(slices.Clip(o.onNode[node]), int32(i))
		}
		if c.start < c.until {
			more = append(more, change{c.start, int32(i), true}, change{c.until, int32(i), false})
		}
	}
	slices.SortFunc(more, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	o.changes = make([]change, 0, len(first.changes)+len(more))
	for _, c := range first.changes {
		for len(more) > 0 && more[0].at < c.at {
			o.changes, more = append(o.changes, more[0]), more[1:]
		}
		if is := &o.list[c.by]; is.start < is.until { // it has not left
			o.changes = append(o.changes, c)
		}
	}
	o.changes = append(o.changes, more...)
}
