package twin

// blockedNodes counts the nodes on which jobs that have not started will leave no place for a
// piece, where a node has one place at most. Nobody knows which nodes these are. Jobs that take
// whole nodes are on different nodes, so that their numbers add up. All other jobs may be on the
// same nodes, so that only the largest of their numbers counts.
type blockedNodes struct {
	whole int64
	by    []int64 // by number of nodes: how many of the other jobs are on so many
}

// add counts a waiting occupant so many times more: once if it begins, and -1 times if it ends.
func (b *blockedNodes) add(p *pieces, c *occupant, times int64) {
	n := int64(1)
	if c.pieces.Count == c.size.Nodes || c.pieces.Exclusive {
		n = max(1, int64(c.pieces.Count))
	}
	switch n = min(int64(c.share*float64(n)), int64(len(p.nodes))); {
	case p.most > 1 || len(c.on) > 0 || n == 0:
	case c.pieces.Exclusive:
		b.whole += times * n
	case !p.fitsBeside(c):
		for int64(len(b.by)) <= n {
			b.by = append(b.by, 0)
		}
		b.by[n] += times
		for len(b.by) > 0 && b.by[len(b.by)-1] == 0 {
			b.by = b.by[:len(b.by)-1]
		}
	}
}

// fitsBeside reports whether a piece and an occupant's piece fit on an empty node together.
func (p *pieces) fitsBeside(c *occupant) bool {
	if p.Exclusive {
		return false
	}
	for _, of := range resources {
		if of(&p.Each) > 0 && of(&p.Each)+of(&c.pieces.Each) > of(&p.largest) {
			return false
		}
	}
	return true
}

// nodes returns the number of nodes at least on which there is no place for a piece.
func (b *blockedNodes) nodes() int64 { return b.whole + max(0, int64(len(b.by))-1) }
