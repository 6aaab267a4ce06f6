package forest

// walk finds the leaves of a boosted tree from the bins of cases. All paths have the same length,
// so that no processor has to predict where one ends.
type walk struct {
	codes []word       // of the cases
	steps [1 << 8]step // by node
	depth int
}

// step is a node: a case goes to the node next[0] or, if it lies in a bin above that of the cut, to
// next[1]. A leaf leads to itself.
type step struct {
	place
	bin  uint8
	next [2]uint8
}

// load makes w the walk through a tree that has at most 256 nodes.
func (w *walk) load(t *grown, b *binned) {
	w.codes, w.depth = b.codes, 0
	w.node(t, b, 0, 0)
}

func (w *walk) node(t *grown, b *binned, i int32, depth int) {
	n := &t.nodes[i]
	if n.feature < 0 {
		w.steps[i], w.depth = step{next: [2]uint8{uint8(i), uint8(i)}}, max(w.depth, depth)
		return
	}
	w.steps[i] = step{b.at(b.column[n.feature]), t.bins[i], [2]uint8{uint8(n.left), uint8(n.right)}}
	w.node(t, b, n.left, depth+1)
	w.node(t, b, n.right, depth+1)
}

// leaf returns the leaf of the case in a row.
func (w *walk) leaf(row int32) uint8 {
	i, codes := uint8(0), w.codes
	for range w.depth {
		s := &w.steps[i]
		i = s.next[(s.bin-s.code(codes, row))>>7]
	}
	return i
}
