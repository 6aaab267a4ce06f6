package forest

// ensemble is trees of which the oldest makes room for a new one, once there are all.
type ensemble struct {
	trees  []tree
	oldest int // index in trees, once there are all
}

// put adds a tree to so many at most.
func (e *ensemble) put(t tree, most int) {
	if len(e.trees) < most {
		e.trees = append(e.trees, t)
		return
	}
	e.trees[e.oldest] = t
	e.oldest = (e.oldest + 1) % most
}
