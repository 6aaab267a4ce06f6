package extern

import (
	"context"
	"sync"

	"github.com/varq-project/varq/predictor/live/extern/forecasterpb"
)

// A batch has at most maxBatch events, and a backlog at most maxBacklog.
const (
	maxBatch   = 1024
	maxBacklog = 1 << 16
)

// backlog is the events that the program has not received yet. Adding to it never waits.
type backlog struct {
	more chan struct{} // holds one when there may be events to send

	mu      sync.Mutex
	open    bool
	events  []*forecasterpb.Event
	sending int           // how many of events are being sent
	empty   chan struct{} // closed when no event is left; nil while there are no events
	slow    bool          // a wait for empty has failed
}

func newBacklog() *backlog { return &backlog{more: make(chan struct{}, 1)} }

// reopen forgets all events. From now on add keeps events.
func (b *backlog) reopen() { b.reset(true) }

// close forgets all events. From now on add drops events: the next program receives them
// with the past.
func (b *backlog) close() { b.reset(false) }

func (b *backlog) reset(open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open, b.events, b.sending = open, nil, 0
	b.emptied()
}

func (b *backlog) emptied() {
	if b.empty != nil {
		close(b.empty)
		b.empty = nil
	}
	b.slow = false
}

// add keeps an event. It reports false if there are too many.
func (b *backlog) add(e *forecasterpb.Event) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.open:
		return true
	case len(b.events) >= maxBacklog:
		return false
	}
	b.events = append(b.events, e)
	if b.empty == nil {
		b.empty = make(chan struct{})
	}
	select {
	case b.more <- struct{}{}:
	default:
	}
	return true
}

// next returns the next batch to send, which may be empty. A call of sent must follow.
func (b *backlog) next() []*forecasterpb.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sending = min(len(b.events), maxBatch)
	return b.events[:b.sending:b.sending]
}

// sent removes the events that next returned.
func (b *backlog) sent() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = b.events[b.sending:]
	b.sending = 0
	if len(b.events) == 0 {
		b.events = nil
		b.emptied()
	}
}

// wait waits until all events are sent. It reports false if ctx is done first. After that
// every wait reports false at once, until all events are sent.
func (b *backlog) wait(ctx context.Context) bool {
	b.mu.Lock()
	empty, slow := b.empty, b.slow
	b.mu.Unlock()
	switch {
	case empty == nil:
		return true
	case slow:
		return false
	}
	select {
	case <-empty:
		return true
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.slow = b.empty == empty
	return false
}
