// Package works has code that looks as if it may hang, but does not.
package works

import "sync"

type model struct {
	mu sync.RWMutex
	n  int
}

func (m *model) get() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.n
}

// After locks when it holds nothing any more.
func (m *model) After() int {
	m.mu.Lock()
	m.n++
	if m.n > 7 {
		m.mu.Unlock()
		return m.get()
	}
	m.mu.Unlock()
	return m.get()
}

// Elsewhere has another goroutine lock.
func (m *model) Elsewhere() {
	m.mu.Lock()
	defer m.mu.Unlock()
	go m.get()
}

// Before has a loop lock that has got all it needs.
func (m *model) Before(yield func(int) bool) {
	for i := range m.get() {
		if !yield(i) {
			return
		}
	}
}

// Loop locks within it.
func (m *model) Loop() (sum int) {
	for range m.Before {
		sum += m.get()
	}
	return sum
}

func with(f func()) { f() }

// Other calls, by the same function, what locks, and holds nothing.
func (m *model) Other() { with(func() { m.get() }) }

// Harmless holds a lock while that function calls what locks nothing.
func (m *model) Harmless() {
	m.mu.Lock()
	defer m.mu.Unlock()
	with(func() { m.n++ })
}
