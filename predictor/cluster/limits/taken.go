package limits

// taken is what reservations have of each node.
type taken []split

// split is a node of which reservations have a part.
type split struct {
	cpus  int64 // that it has
	whole int   // by how many reservations it is taken whole
	part  int64 // CPUs that the others have of it, together
}

// free returns the CPUs that the reservations leave.
func (n *split) free() int64 {
	if n.whole > 0 {
		return 0
	}
	return max(0, n.cpus-n.part)
}

// change counts a reservation that begins to have a part of the node, or no longer has it.
func (n *split) change(has *place, opens bool) {
	sign := 1
	if !opens {
		sign = -1
	}
	if has.whole {
		n.whole += sign
	} else {
		n.part += int64(sign) * has.cpus
	}
}

// place is what a reservation has of a node: all of it, or some CPUs.
type place struct {
	node  int // its place in the index
	whole bool
	cpus  int64 // unless whole
}
