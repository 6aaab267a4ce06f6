package stats

// BoundIndices stores the index of QuantileBound for one quantile and confidence by the size
// of the sample, for callers that need it for a sample that grows. It takes four bytes and
// some multiplications for each size up to the largest asked for.
type BoundIndices struct {
	q, c float64
	k    []int32 // by n; 0: no bound

	// For the largest n and its k: P[Bin(n,q) <= k-1] and P[Bin(n,q) = k-1].
	atMost, exactly float64
}

// anew is the number of sizes after which the probabilities are calculated anew, so that
// rounding errors do not add up.
const anew = 1000

// NewBoundIndices returns the indices of the level-c upper confidence bound on the
// q-quantile; 0 < c < 1.
func NewBoundIndices(q, c float64) *BoundIndices {
	return &BoundIndices{q: q, c: c, k: []int32{0}}
}

// Index returns the k and ok of QuantileBound(n, q, c); n >= 0.
func (b *BoundIndices) Index(n int) (k int, ok bool) {
	for m := len(b.k); m <= n; m++ {
		b.k = append(b.k, b.next(m, int(b.k[m-1])))
	}
	return int(b.k[n]), b.k[n] > 0
}

// next returns the index for n, given the index k for n-1. With one more observation the
// index stays or grows by one, and the probabilities follow by Pascal's rule.
func (b *BoundIndices) next(n, k int) int32 {
	if k == 0 || n%anew == 0 {
		k, _, _ = QuantileBound(n, b.q, b.c)
		b.atMost = AtMost(k-1, n, b.q)
		b.exactly = b.atMost - AtMost(k-2, n, b.q)
		return int32(k)
	}
	fewer := float64(k - 1) // successes
	before := b.exactly
	b.atMost -= b.q * before
	if b.atMost >= b.c {
		b.exactly = before * (1 - b.q) * float64(n) / (float64(n) - fewer)
		return int32(k)
	}
	b.exactly = before * b.q * float64(n) / (fewer + 1)
	b.atMost += b.exactly
	return int32(k + 1)
}
