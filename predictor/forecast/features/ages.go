package features

import (
	"math"
	"slices"
)

// ages are since when some jobs wait. An event costs O(log n) with n jobs.
type ages struct {
	heap  []int64       // of times, the first of them at its top, which is in times
	times map[int64]int // how many jobs wait since a time
}

func (a *ages) none() bool { return len(a.times) == 0 }

// first returns the first of the times, of which there is one.
func (a *ages) first() int64 { return a.heap[0] }

// firstBut returns the first of the times without one of them, or the latest time of all if there
// is no other.
func (a *ages) firstBut(time int64) int64 {
	if a.times[time] > 1 || a.heap[0] != time {
		return a.heap[0]
	}
	first := int64(math.MaxInt64)
	for _, other := range a.heap {
		if other < first && other != time && a.times[other] > 0 {
			first = other
		}
	}
	return first
}

// snapshot returns a copy of which only first may be asked.
func (a *ages) snapshot() ages { return ages{heap: []int64{a.heap[0]}} }

func (a *ages) add(time int64) {
	if a.times == nil {
		a.times = map[int64]int{}
	}
	if a.times[time]++; a.times[time] > 1 {
		return
	}
	if len(a.heap) > 2*len(a.times)+16 {
		a.heap = slices.DeleteFunc(a.heap, func(t int64) bool { return a.times[t] == 0 })
		slices.Sort(a.heap) // which makes it a heap
	}
	a.heap = append(a.heap, time)
	for i := len(a.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if a.heap[parent] <= a.heap[i] {
			return
		}
		a.heap[parent], a.heap[i] = a.heap[i], a.heap[parent]
		i = parent
	}
}

// remove removes one of the times.
func (a *ages) remove(time int64) {
	if a.times[time]--; a.times[time] > 0 {
		return
	}
	delete(a.times, time)
	for len(a.heap) > 0 && a.times[a.heap[0]] == 0 {
		a.pop()
	}
}

// pop removes the top of the heap.
func (a *ages) pop() {
	last := len(a.heap) - 1
	a.heap[0], a.heap = a.heap[last], a.heap[:last]
	for i := 0; ; {
		least := 2*i + 1
		if least >= last {
			return
		}
		if right := least + 1; right < last && a.heap[right] < a.heap[least] {
			least = right
		}
		if a.heap[i] <= a.heap[least] {
			return
		}
		a.heap[i], a.heap[least] = a.heap[least], a.heap[i]
		i = least
	}
}
