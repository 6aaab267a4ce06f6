package forest

// ensemble is trees. Once it is complete, a new tree takes the place of the oldest.
type ensemble struct {
	trees  []tree
	oldest int // index in trees, once complete
}

// put adds a tree; most is the number of trees of a complete ensemble.
func (e *ensemble) put(t tree, most int) {
	if len(e.trees) < most {
		e.trees = append(e.trees, t)
		return
	}
	e.trees[e.oldest] = t
	e.oldest = (e.oldest + 1) % most
}
