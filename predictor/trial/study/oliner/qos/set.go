package qos

import (
	"iter"
	"math/bits"
)

// Set is a set of nodes, which have numbers from 0 on: one bit for each.
type Set []uint64

// newSet returns an empty set with room for the nodes below n.
func newSet(n int) Set { return make(Set, (n+63)/64) }

// Nodes yields the nodes of the set in increasing order.
func (s Set) Nodes() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(i*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

func (s Set) add(node int) { s[node/64] |= 1 << (node % 64) }

func (s Set) count() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

func (s Set) unite(t Set) {
	for i := range s {
		s[i] |= t[i]
	}
}

func (s Set) remove(t Set) {
	for i := range s {
		s[i] &^= t[i]
	}
}

func (s Set) intersect(t Set) {
	for i := range s {
		s[i] &= t[i]
	}
}

func (s Set) meets(t Set) bool {
	for i := range s {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}
