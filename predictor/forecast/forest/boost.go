package forest

// boost is an ensemble of small trees, each fitted to the residuals of those before it.
// When the oldest goes, its predictions become residuals again, which the next trees
// learn as far as they still hold. Cuts are judged by squared errors. A leaf predicts the
// median of its residuals, so that a few long delays do not move it.
type boost struct {
	ensemble
	base  float32
	left  []float32 // residuals by row: the target less what is predicted
	known []uint64  // by row: the number of the case, from 1, that left is the residual of
}

// predict predicts the logarithm of the shifted delay.
func (b *boost) predict(x []float32) float32 {
	y := b.base
	for i := range b.trees {
		y += boostRate * b.trees[i].value(x)
	}
	return y
}

// begin is called before the first trees grow.
func (b *boost) begin(c *cases) {
	sum := float32(0)
	for _, y := range c.target {
		sum += y
	}
	b.base = sum / float32(c.n)
	b.left, b.known = make([]float32, window), make([]uint64, window)
}

// grow grows the next trees, which are to take the place of the oldest. They are fitted
// to the newest of the grower's cases. Nothing changes that predict reads.
func (b *boost) grow(g *grower, e *Effort) []tree {
	c := g.cases
	n := min(c.n, e.recent)
	b.catchUp(c, n)
	grown := make([]tree, 0, e.perPeriod)
	for range e.perPeriod {
		if gone := len(b.trees) + len(grown) - e.boosted; gone >= 0 {
			b.add(c, n, &b.trees[(b.oldest+gone)%e.boosted], 1)
		}
		g.rows = g.rows[:0]
		for range min(e.boost.sample, n) {
			g.rows = append(g.rows, int32(c.at(g.rng.IntN(n))))
		}
		t := g.tree(e.boost, c.width-1, b.left)
		b.add(c, n, &t, -1)
		grown = append(grown, t)
	}
	return grown
}

// catchUp computes the residuals of the new cases among the newest n.
func (b *boost) catchUp(c *cases, n int) {
	for age := range n {
		i, id := c.at(age), c.born-uint64(age)
		if b.known[i] == id {
			return
		}
		b.known[i] = id
		b.left[i] = c.target[i] - b.predict(c.row(i))
	}
}

// add adds a tree's predictions, times a sign, to the residuals of the newest n cases.
func (b *boost) add(c *cases, n int, t *tree, sign float32) {
	for age := range n {
		i := c.at(age)
		b.left[i] += sign * boostRate * t.value(c.row(i))
	}
}
