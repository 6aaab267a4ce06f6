package qbets

import (
	"math"

	"github.com/varq-project/varq/predictor/stats"
)

// history is the past waits of one class, back to the last change point.
type history struct {
	class   Class
	ring    []uint32 // waits in seconds, in the order of job starts
	head    int      // index in ring of the oldest
	sorted  stats.Multiset
	log     stats.Lag1 // of the logarithms of the waits
	runs    runs
	stale   int   // how many of the oldest waits are from before the last change
	changed int64 // Unix seconds of the last change point, or 0
}

func (h *history) len() int { return h.sorted.Len() }

// at returns the i-th wait, 0 being the oldest.
func (h *history) at(i int) uint32 {
	i += h.head
	if i >= len(h.ring) {
		i -= len(h.ring)
	}
	return h.ring[i]
}

// push appends a wait.
func (h *history) push(w uint32) {
	n := h.len()
	if n == len(h.ring) {
		h.grow()
	}
	i := h.head + n
	if i >= len(h.ring) {
		i -= len(h.ring)
	}
	h.ring[i] = w
	h.sorted.Insert(w)
	h.log.Push(logWait(w))
}

// drop forgets the oldest wait. There must be two or more.
func (h *history) drop() {
	h.stale = max(0, h.stale-1)
	h.sorted.Delete(h.at(0))
	h.log.Drop(logWait(h.at(1)))
	h.head++
	if h.head == len(h.ring) {
		h.head = 0
	}
}

// cut forgets all but the newest n waits, if there are more.
func (h *history) cut(n int) {
	if n >= h.len() {
		return
	}
	kept := make([]uint32, n)
	for i := range kept {
		kept[i] = h.at(h.len() - n + i)
	}
	h.ring, h.head = kept, 0
	h.sorted, h.log = stats.Multiset{}, stats.Lag1{}
	for _, w := range kept {
		h.sorted.Insert(w)
		h.log.Push(logWait(w))
	}
}

// grow makes room for half as many waits again.
func (h *history) grow() {
	n := h.len()
	bigger := make([]uint32, n+n/2+4)
	k := copy(bigger, h.ring[h.head:])
	copy(bigger[k:], h.ring[:h.head])
	h.ring, h.head = bigger, 0
}

// logWait is the logarithm of a wait, shifted by a second because many waits
// are 0.
func logWait(w uint32) float64 { return math.Log1p(float64(w)) }
