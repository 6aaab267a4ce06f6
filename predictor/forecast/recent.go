package forecast

import "sync"

// Recent has what was worked out about the newest questions, until an event changes what that rests
// on. Plans that are made at the same time ask in turn, each about many submissions: one must not
// forget what another has just worked out. Any number of goroutines may use a Recent at a time. The
// zero Recent is empty.
type Recent[V any] struct {
	mu    sync.Mutex
	about map[Question]V
}

// mostRecent is about how many questions a Recent knows something. Before it learns of more, it
// forgets all.
const mostRecent = 1024

// Get returns what Put has noted about a question, and false if that is nothing, or forgotten.
func (r *Recent[V]) Get(q *Question) (v V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok = r.about[*q]
	return v, ok
}

// Put notes something about a question.
func (r *Recent[V]) Put(q *Question, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.about) >= mostRecent || r.about == nil {
		r.about = make(map[Question]V)
	}
	r.about[*q] = v
}

// Forget forgets all.
func (r *Recent[V]) Forget() {
	const few = 8 // a map that has had many is slow to clear
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.about) > few {
		r.about = nil
	}
	clear(r.about)
}
