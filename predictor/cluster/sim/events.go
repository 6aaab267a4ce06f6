package sim

import "github.com/varq-project/varq/predictor/cluster/sched"

// kind is what happens at an event. At one moment ends come first, because they make room,
// then calls, and then submissions and reservations.
type kind uint8

const (
	end kind = iota
	call
	submission
	reservation
)

// event is something that will happen.
type event struct {
	at    int64
	kind  kind
	seq   uint64 // counts announcements, and orders equal events
	job   *sched.Job
	asked int64       // of a reservation: the start asked for
	do    func(int64) // of a call
}

func (e *event) before(o *event) bool {
	if e.at != o.at {
		return e.at < o.at
	}
	// Submissions and reservations are equal: they keep the order of their announcement.
	if a, b := min(e.kind, submission), min(o.kind, submission); a != b {
		return a < b
	}
	return e.seq < o.seq
}

// events is a binary heap: the next one is at index 0.
type events []event

func (h *events) push(e event) {
	*h = append(*h, e)
	h.up(len(*h) - 1)
}

func (h *events) pop() event {
	e := (*h)[0]
	h.delete(0)
	return e
}

// removeEnd removes the end of j, and reports whether there was one. It takes O(n).
func (h *events) removeEnd(j *sched.Job) bool {
	for i := range *h {
		if (*h)[i].job == j && (*h)[i].kind == end {
			h.delete(i)
			return true
		}
	}
	return false
}

func (h *events) delete(i int) {
	last := len(*h) - 1
	(*h)[i] = (*h)[last]
	(*h)[last] = event{}
	*h = (*h)[:last]
	if i < last {
		h.down(i)
		h.up(i)
	}
}

func (h events) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h[i].before(&h[parent]) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

func (h events) down(i int) {
	for {
		least := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < len(h) && h[child].before(&h[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
