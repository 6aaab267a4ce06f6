package forest

import (
	"iter"
	"math"
)

// together is the number of trees that leaves walks down at once. While one waits for the memory, another goes on.
const together = 4

// leaves yields trees, in their order, with the leaf of each that x falls into.
func leaves(trees []tree, x []float32) iter.Seq2[*tree, int32] {
	return func(yield func(*tree, int32) bool) {
		for len(trees) > 0 {
			group := trees[:min(together, len(trees))]
			for i, leaf := range leavesOf(group, x) {
				if i < len(group) && !yield(&group[i], leaf) {
					return
				}
			}
			trees = trees[len(group):]
		}
	}
}

// leavesOf returns the leaves that x falls into, of together trees or fewer. It has no branches that no processor could predict, but for the
// last.
func leavesOf(group []tree, x []float32) [together]int32 {
	last := len(group) - 1
	as, bs, cs, ds := group[0].nodes, group[min(1, last)].nodes, group[min(2, last)].nodes, group[last].nodes
	var a, b, c, d int32
	for as[a].feature&bs[b].feature&cs[c].feature&ds[d].feature >= 0 { // one of them is a fork
		a, b, c, d = as[a].next(x, a), bs[b].next(x, b), cs[c].next(x, c), ds[d].next(x, d)
	}
	return [together]int32{a, b, c, d}
}

// next returns the node that follows this one, which is at a place, on the way of x down a tree: a child or, if it is a leaf, itself. Signs
// become masks instead of branches.
func (n *node) next(x []float32, place int32) int32 {
	isLeaf := n.feature >> 31
	isAbove := int32(math.Float32bits(n.cut-x[n.feature&^isLeaf])) >> 31
	child := n.left ^ (n.left^n.right)&isAbove
	return child ^ (child^place)&isLeaf
}
