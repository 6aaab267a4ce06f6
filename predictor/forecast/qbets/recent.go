package qbets

// recent is the newest of a series, in its order. The zero recent is empty.
type recent[T any] struct {
	ring    []T
	head, n int // index of the oldest; how many there are
}

// at returns the i-th, 0 being the oldest.
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

// drop forgets the oldest and returns it.
func (r *recent[T]) drop() T {
	v := *r.at(0)
	r.n--
	r.head++
	if r.head == len(r.ring) {
		r.head = 0
	}
	return v
}
