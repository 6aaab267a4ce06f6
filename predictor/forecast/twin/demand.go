package twin

import "github.com/varq-project/varq/predictor/workload"

// demand is what a job needs, and others may have.
type demand interface {
	// change counts an occupant that begins to have processors, or no longer has them.
	change(c *occupant, begins bool)
	// missing returns how much is missing beside the occupants counted that wait, and beside all
	// that are counted. Negative numbers are what is left over.
	missing() (sure, all int64)
	// room returns an upper bound on the probability that the first of the occupants leave room at
	// a time.
	room(first []occupant, at int64) float64
}

// resources are what jobs take of nodes.
var resources = [...]func(*workload.Size) int64{
	func(s *workload.Size) int64 { return int64(s.CPUs) },
	func(s *workload.Size) int64 { return int64(s.GPUs) },
	func(s *workload.Size) int64 { return s.Memory },
}

// amount is a demand for so much of a resource, on whichever nodes of the pool or of a partition.
type amount struct {
	of             func(*workload.Size) int64
	partition      bool
	left           int64 // that others may have
	claimed, taken int64 // by the occupants counted that wait, and by all
}

// demands returns those of a claim.
func (o *Occupants) demands(c *workload.Claim) []demand {
	var list []demand
	needed := c.Size
	needed.CPUs = o.takes(&c.Request)
	add := func(size *workload.Size, partition bool) {
		for _, of := range resources {
			// of nodes without CPUs all are down or drained
			if need, total := of(&needed), of(size); need > 0 && (total > 0 || partition && c.NodeSet != "" && size.CPUs == 0) {
				list = append(list, &amount{of: of, partition: partition, left: total - need})
			}
		}
	}
	add(o.pool, false)
	if o.part != *o.pool {
		add(&o.part, true)
	}
	if p := o.pieces(c); p != nil {
		list = append(list, p)
		for _, larger := range p.larger(c) {
			list = append(list, o.pieces(&larger))
		}
	}
	return list
}

// by returns how much an occupant has.
func (d *amount) by(c *occupant) int64 {
	if d.partition {
		return int64(c.share * float64(d.of(&c.size)))
	}
	return d.of(&c.size)
}

func (d *amount) change(c *occupant, begins bool) {
	by := d.by(c)
	if !begins {
		by = -by
	}
	d.taken += by
	if c.waits {
		d.claimed += by
	}
}

func (d *amount) missing() (sure, all int64) { return d.claimed - d.left, d.taken - d.left }

func (d *amount) room(first []occupant, at int64) float64 {
	most := int64(0)
	for i := range first {
		if c := &first[i]; c.has(at) {
			most += d.by(c)
		}
	}
	if most <= d.left {
		return 1
	}
	var parts groups
	for i := range first {
		if c := &first[i]; c.has(at) {
			parts.add(c, d.by(c), c.stillThere(at))
		}
	}
	return parts.atMost(d.left)
}
