package forest

import (
	"iter"
	"math"
)

// together is the number of trees that leaves walks down at once. While one waits for the memory,
// another goes on.
const together = 8

// leaves yields trees, in their order, with the leaf of each that x falls into.
func leaves(trees []*tree, x []float32) iter.Seq2[*tree, int32] {
	return func(yield func(*tree, int32) bool) {
		for len(trees) > 0 {
			group := trees[:min(together, len(trees))]
			for i, leaf := range leavesOf(group, x) {
				if i < len(group) && !yield(group[i], leaf) {
					return
				}
			}
			trees = trees[len(group):]
		}
	}
}

// leavesOf returns the leaves that x falls into, of together trees or fewer. It has no branches
// that no processor could predict, but for the last.
func leavesOf(group []*tree, x []float32) (at [together]int32) {
	for {
		leaf := int32(-1)
		for i, t := range group {
			n := &t.nodes[at[i]]
			leaf &= n.feature
			at[i] = n.next(x, at[i])
		}
		if leaf < 0 { // all of them are
			return at
		}
	}
}

// next returns the node that follows this one, which is at a place, on the way of x, all finite,
// down a tree: a child or, if it is a leaf, itself. Signs become masks instead of branches.
func (n *node) next(x []float32, place int32) int32 {
	isLeaf := n.feature >> 31
	isAbove := int32(math.Float32bits(n.cut-x[n.feature&^isLeaf])) >> 31
	child := n.left ^ (n.left^n.right)&isAbove
	return child ^ (child^place)&isLeaf
}
