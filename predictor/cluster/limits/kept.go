package limits

// Kept is a stretch of time in which Slurm's reservations have so many CPUs.
type Kept struct {
	Span
	CPUs int64
}

// Kept returns when Slurm's reservations have any CPUs of the nodes whose CPUs are given by name:
// the first most of the stretches that are not over at a time, in order. With e starts and ends of
// reservations it takes O(e log e), and O(1) for each node of theirs.
func (c *Cluster) Kept(cpus map[string]int64, at int64, most int) []Kept {
	if len(c.Reservations) == 0 {
		return nil
	}
	kept, taken, index := int64(0), make(taken, 0, len(cpus)), make(map[string]int, len(cpus))
	for name, n := range cpus {
		index[name] = len(taken)
		taken = append(taken, split{cpus: n})
	}
	edges := c.Reservations.edges(index, c.Nodes)
	var spans []Kept
	for i, e := range edges {
		for _, has := range e.nodes {
			n := &taken[has.node]
			kept += n.free()
			n.change(&has, e.opens)
			kept -= n.free()
		}
		if i+1 == len(edges) || edges[i+1].at == e.at || kept == 0 {
			continue
		}
		last := len(spans) - 1
		switch {
		case last >= 0 && spans[last].End == e.at && spans[last].CPUs == kept:
			spans[last].End = edges[i+1].at
			continue
		case last >= 0 && spans[last].End <= at:
			spans = spans[:last]
		case len(spans) == most:
			return spans
		}
		spans = append(spans, Kept{Span{e.at, edges[i+1].at}, kept})
	}
	if last := len(spans) - 1; last >= 0 && spans[last].End <= at {
		spans = spans[:last]
	}
	return spans
}

// Apart returns the nodes that Slurm's own reservations have whole at a time, by name, and until
// when the last of them has each.
func (c *Cluster) Apart(at int64) map[string]int64 {
	until := map[string]int64{}
	for i := range c.Reservations {
		v := &c.Reservations[i]
		span, begun := v.Begun(at)
		if !begun {
			continue
		}
		for _, name := range v.Nodes {
			if _, part := v.part(name, c.Nodes); !part {
				until[name] = max(until[name], span.End)
			}
		}
	}
	return until
}
