package qos

// kind is what happens at an event. At one moment kinds happen in this order: a job that ends when
// its node fails is complete, and none starts on a node that fails.
type kind uint8

const (
	end kind = iota
	checkpointed
	failure
	arrival
	start
	request
)

// event is something that will happen.
type event struct {
	at   int64
	kind kind
	seq  uint64 // counts announcements from 1 on, and orders equal events
	job  *job   // nil for a failure
	plan int    // of the job, for which the event was announced
	node int    // that fails
}

func (e *event) before(o *event) bool {
	switch {
	case e.at != o.at:
		return e.at < o.at
	case e.kind != o.kind:
		return e.kind < o.kind
	}
	return e.seq < o.seq
}

// events is a queue of events: the next one is heap[0].
type events struct {
	heap      []event
	announced uint64
	failures  int // events that are failures
}

func (q *events) push(e event) {
	q.announced++
	e.seq = q.announced
	if e.kind == failure {
		q.failures++
	}
	q.heap = append(q.heap, e)
	h := q.heap
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].before(&h[parent]) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

func (q *events) pop() event {
	h := q.heap
	next, last := h[0], len(h)-1
	h[0], h[last] = h[last], event{}
	q.heap = h[:last]
	h = q.heap
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if h[child].before(&h[least]) {
				least = child
			}
		}
		if least == i {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	if next.kind == failure {
		q.failures--
	}
	return next
}
