package stats

// BoundIndices remembers the index of QuantileBound for one quantile and confidence
// by the size of the sample, for those who ask again and again as a sample grows.
// It takes four bytes for each size up to the largest asked for, and for a new one
// the time of one AtMost.
type BoundIndices struct {
	q, c float64
	k    []int32 // by n; 0: no bound
}

// NewBoundIndices returns the indices of the level-c upper confidence bound on the
// q-quantile; 0 < c < 1.
func NewBoundIndices(q, c float64) *BoundIndices {
	return &BoundIndices{q: q, c: c, k: []int32{0}}
}

// Index returns the k and ok of QuantileBound(n, q, c), n being 0 or more.
func (b *BoundIndices) Index(n int) (k int, ok bool) {
	for m := len(b.k); m <= n; m++ {
		// With one observation more the index stays or moves up by one.
		next := b.k[m-1]
		switch {
		case next == 0:
			first, _, _ := QuantileBound(m, b.q, b.c)
			next = int32(first)
		case AtMost(int(next)-1, m, b.q) < b.c:
			next++
		}
		b.k = append(b.k, next)
	}
	return int(b.k[n]), b.k[n] > 0
}
