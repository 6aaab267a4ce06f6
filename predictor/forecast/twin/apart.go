package twin

// apart counts the nodes on which jobs are that have not started and leave no place for a piece, if
// a node has one place at most. Nobody knows which nodes: those that are whole nodes add up, and of
// the others each may be where the others are.
type apart struct {
	whole int64
	by    []int64 // how many of the others are on how many nodes
}

// add adds an occupant that waits a number of times, which may be negative.
func (a *apart) add(p *pieces, c *occupant, times int64) {
	n := int64(1)
	if c.pieces.Count == c.size.Nodes || c.pieces.Exclusive {
		n = max(1, int64(c.pieces.Count))
	}
	switch n = min(int64(c.share*float64(n)), int64(len(p.nodes))); {
	case p.most > 1 || len(c.on) > 0 || n == 0:
	case c.pieces.Exclusive:
		a.whole += times * n
	case !p.fitsBeside(c):
		for int64(len(a.by)) <= n {
			a.by = append(a.by, 0)
		}
		a.by[n] += times
		for len(a.by) > 0 && a.by[len(a.by)-1] == 0 {
			a.by = a.by[:len(a.by)-1]
		}
	}
}

// fitsBeside reports whether a piece and one of an occupant's fit on an empty node together.
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

// nodes returns on how many nodes they are at least.
func (a *apart) nodes() int64 { return a.whole + max(0, int64(len(a.by))-1) }
