package stats

import (
	"slices"
	"sort"
)

// blockCap is the number of values at which a block is split. Insertion moves at most this
// many values and adjusts the totals of all blocks. Both cost the same when the Multiset has
// about blockCap squared values.
const blockCap = 512

// Multiset is an ordered collection of whole numbers, repetitions allowed, with ranks and
// partial sums. It takes four bytes a value and some slack. The zero Multiset is empty and
// ready to use. Insert and Delete cost O(sqrt n) with small constants, the other methods
// O(log n).
type Multiset struct {
	blocks [][]uint32 // each is sorted and not empty; the values ascend from block to block
	// counts[i] and sums[i] are the totals of the blocks before block i. Their last
	// elements, at len(blocks), are the totals of all blocks.
	counts []int
	sums   []int64
}

// Len returns the number of values.
func (m *Multiset) Len() int {
	if len(m.blocks) == 0 {
		return 0
	}
	return m.counts[len(m.blocks)]
}

// Insert adds v.
func (m *Multiset) Insert(v uint32) {
	if len(m.blocks) == 0 {
		m.blocks = [][]uint32{{v}}
		m.counts = []int{0, 1}
		m.sums = []int64{0, int64(v)}
		return
	}
	b := min(m.find(v), len(m.blocks)-1)
	block := m.blocks[b]
	i, _ := slices.BinarySearch(block, v)
	m.blocks[b] = slices.Insert(block, i, v)
	m.adjust(b, 1, int64(v))
	if len(m.blocks[b]) >= blockCap {
		m.split(b)
	}
}

// Delete removes v once, and reports whether there was one.
func (m *Multiset) Delete(v uint32) bool {
	b := m.find(v)
	if b == len(m.blocks) {
		return false
	}
	i, found := slices.BinarySearch(m.blocks[b], v)
	if !found {
		return false
	}
	m.blocks[b] = slices.Delete(m.blocks[b], i, i+1)
	m.adjust(b, -1, -int64(v))
	m.merge(b)
	return true
}

// Select returns the value with i values before it in increasing order, so the
// smallest is Select(0). It panics when i is out of range.
func (m *Multiset) Select(i int) uint32 {
	b := sort.Search(len(m.blocks), func(b int) bool { return m.counts[b+1] > i })
	return m.blocks[b][i-m.counts[b]]
}

// Rank returns how many values are <= v.
func (m *Multiset) Rank(v uint32) int {
	if len(m.blocks) == 0 {
		return 0
	}
	b := sort.Search(len(m.blocks), func(b int) bool { return last(m.blocks[b]) > v })
	if b == len(m.blocks) {
		return m.counts[b]
	}
	block := m.blocks[b]
	return m.counts[b] + sort.Search(len(block), func(i int) bool { return block[i] > v })
}

// Through returns how many values are <= v, and their sum.
func (m *Multiset) Through(v uint32) (count int, sum int64) {
	if len(m.blocks) == 0 {
		return 0, 0
	}
	// The first block that ends beyond v is the only one to look into.
	b := sort.Search(len(m.blocks), func(b int) bool { return last(m.blocks[b]) > v })
	count, sum = m.counts[b], m.sums[b]
	if b == len(m.blocks) {
		return count, sum
	}
	for _, w := range m.blocks[b] {
		if w > v {
			break
		}
		count++
		sum += int64(w)
	}
	return count, sum
}

func last(block []uint32) uint32 { return block[len(block)-1] }

// find returns the first block that may have v: the first whose last value is at least v.
func (m *Multiset) find(v uint32) int {
	return sort.Search(len(m.blocks), func(b int) bool { return last(m.blocks[b]) >= v })
}

// adjust adds to the totals of the blocks after b.
func (m *Multiset) adjust(b, count int, sum int64) {
	for i := b + 1; i < len(m.counts); i++ {
		m.counts[i] += count
		m.sums[i] += sum
	}
}

// split halves block b.
func (m *Multiset) split(b int) {
	block := m.blocks[b]
	half := len(block) / 2
	lower, upper := block[:half], append(make([]uint32, 0, blockCap), block[half:]...)
	var sum int64
	for _, v := range lower {
		sum += int64(v)
	}
	m.blocks[b] = lower
	m.blocks = slices.Insert(m.blocks, b+1, upper)
	m.counts = slices.Insert(m.counts, b+1, m.counts[b]+half)
	m.sums = slices.Insert(m.sums, b+1, m.sums[b]+sum)
}

// merge joins block b with a neighbour if one of the two is empty, or if both together fill
// at most half a block.
func (m *Multiset) merge(b int) {
	if len(m.blocks) == 1 {
		if len(m.blocks[0]) == 0 {
			*m = Multiset{}
		}
		return
	}
	if b+1 == len(m.blocks) {
		b--
	}
	lower, upper := m.blocks[b], m.blocks[b+1]
	if len(lower) > 0 && len(upper) > 0 && len(lower)+len(upper) > blockCap/2 {
		return
	}
	m.blocks[b] = append(lower, upper...)
	m.blocks = slices.Delete(m.blocks, b+1, b+2)
	m.counts = slices.Delete(m.counts, b+1, b+2)
	m.sums = slices.Delete(m.sums, b+1, b+2)
}
