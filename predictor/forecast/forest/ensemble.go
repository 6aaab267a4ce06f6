package forest

// ensemble is a number of trees. Once it is complete, a new tree replaces the oldest.
type ensemble struct {
	trees  []*tree
	oldest int // the index of the oldest tree of a complete ensemble
}

// put adds a tree. A complete ensemble has most trees.
func (e *ensemble) put(t *tree, most int) {
	if len(e.trees) < most {
		e.trees = append(e.trees, t)
		return
	}
	e.trees[e.oldest] = t
	e.oldest = (e.oldest + 1) % most
}
