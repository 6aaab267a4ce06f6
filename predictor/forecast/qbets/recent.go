package qbets

// recent is a queue of values in a ring that grows. The zero recent is empty.
type recent[T any] struct {
	ring []T
	head int // the index of the oldest value
	n    int // the number of values
}

// at returns the i-th value; 0 is the oldest.
func (r *recent[T]) at(i int) *T {
	i += r.head
	if i >= len(r.ring) {
		i -= len(r.ring)
	}
	return &r.ring[i]
}

// push appends v.
func (r *recent[T]) push(v T) {
	if r.n == len(r.ring) {
		bigger := make([]T, r.n+r.n/2+4)
		k := copy(bigger, r.ring[r.head:])
		copy(bigger[k:], r.ring[:r.head])
		r.ring, r.head = bigger, 0
	}
	r.n++
	*r.at(r.n - 1) = v
}

// drop removes the oldest value and returns it.
func (r *recent[T]) drop() T {
	v := *r.at(0)
	r.n--
	r.head++
	if r.head == len(r.ring) {
		r.head = 0
	}
	return v
}
