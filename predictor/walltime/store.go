package walltime

// store holds the categories that were added to last: all of the last half of
// most, up to most. The zero store is empty.
type store struct {
	young, old map[key]*category
}

// get returns a category, or nil.
func (s *store) get(k key) *category {
	if c, ok := s.young[k]; ok {
		return c
	}
	return s.old[k]
}

// obtain returns a category to be added to. Once there are too many, those are
// forgotten that have not been added to since as many as half of them were.
func (s *store) obtain(k key) *category {
	if c, ok := s.young[k]; ok {
		return c
	}
	c, ok := s.old[k]
	if ok {
		delete(s.old, k)
	} else {
		c = new(category)
	}
	if s.young == nil || len(s.young) == most/2 {
		s.young, s.old = make(map[key]*category), s.young
	}
	s.young[k] = c
	return c
}
