// Package hangs has code that may hang. Each method that the test names may hang by a mutex of its
// own.
package hangs

import (
	"slices"
	"sync"
)

type model struct {
	again, callback, face, iterator, both, first, second, stored, sorted sync.RWMutex

	n     int
	later func()
}

func (m *model) lockAgain() {
	m.again.RLock()
	defer m.again.RUnlock()
}

// Again locks what it holds.
func (m *model) Again() {
	m.again.RLock()
	defer m.again.RUnlock()
	m.lockAgain()
}

type question struct{ delay func() }

func answer(q question) {
	if q.delay != nil {
		q.delay()
	}
}

// ByCallback holds a lock while a function that it was given runs.
func (m *model) ByCallback(q question) {
	m.callback.RLock()
	defer m.callback.RUnlock()
	answer(q)
}

// Ask gives it one that locks.
func (m *model) Ask() {
	m.ByCallback(question{func() {
		m.callback.RLock()
		defer m.callback.RUnlock()
	}})
}

type getter interface{ get() int }

func (m *model) get() int {
	m.face.Lock()
	defer m.face.Unlock()
	return m.n
}

// ByInterface holds a lock while an interface is called.
func (m *model) ByInterface(g getter) int {
	m.face.Lock()
	n := g.get()
	m.face.Unlock()
	return n
}

// AskItself gives it one that locks.
func (m *model) AskItself() int { return m.ByInterface(m) }

// each holds a lock while a loop runs.
func (m *model) each(yield func(int) bool) {
	m.iterator.RLock()
	defer m.iterator.RUnlock()
	for i := range m.n {
		if !yield(i) {
			return
		}
	}
}

// ByIterator locks within the loop.
func (m *model) ByIterator() {
	for range m.each {
		m.iterator.RLock()
		m.iterator.RUnlock()
	}
}

func with(f func()) { func() { f() }() }

// Passed locks what its caller holds, by way of a function that calls what it is given.
func (m *model) Passed() {
	m.both.Lock()
	defer m.both.Unlock()
	with(func() { with(m.lockBoth) })
}

func (m *model) lockBoth() {
	m.both.RLock()
	defer m.both.RUnlock()
}

// OneWay and OtherWay lock the same two.
func (m *model) OneWay() {
	m.first.Lock()
	defer m.first.Unlock()
	m.second.Lock()
	defer m.second.Unlock()
	m.n++
}

// OtherWay is the other way round.
func (m *model) OtherWay() {
	m.second.Lock()
	defer m.second.Unlock()
	m.first.Lock()
	defer m.first.Unlock()
	m.n++
}

// Stored calls what Keep has kept.
func (m *model) Stored() {
	m.stored.Lock()
	defer m.stored.Unlock()
	m.later()
}

// Keep keeps what locks.
func (m *model) Keep() {
	m.later = func() {
		m.stored.Lock()
		defer m.stored.Unlock()
	}
}

// Sorted locks in what package slices calls.
func (m *model) Sorted(list []int) {
	m.sorted.Lock()
	defer m.sorted.Unlock()
	slices.SortFunc(list, func(a, b int) int {
		m.sorted.RLock()
		defer m.sorted.RUnlock()
		return a - b
	})
}
