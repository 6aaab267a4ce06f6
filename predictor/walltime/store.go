package walltime

import "container/list"

// store holds the categories that were used last. The zero store is empty.
type store struct {
	of     map[key]*list.Element
	recent list.List // of *entry, the last used first
}

type entry struct {
	key      key
	category category
}

// get returns a category, or nil.
func (s *store) get(k key) *category {
	e, ok := s.of[k]
	if !ok {
		return nil
	}
	return &e.Value.(*entry).category
}

// obtain returns a category to be added to; the one that was not added to for
// the longest time makes room.
func (s *store) obtain(k key) *category {
	if s.of == nil {
		s.of = make(map[key]*list.Element)
	}
	e, ok := s.of[k]
	switch {
	case ok:
		s.recent.MoveToFront(e)
	case len(s.of) < most:
		e = s.recent.PushFront(&entry{key: k})
		s.of[k] = e
	default:
		e = s.recent.Back()
		delete(s.of, e.Value.(*entry).key)
		e.Value = &entry{key: k}
		s.recent.MoveToFront(e)
		s.of[k] = e
	}
	return &e.Value.(*entry).category
}
