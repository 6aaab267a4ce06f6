package forest

// boost is an ensemble of small trees. Each is fitted to the residuals that the trees
// before it leave. When the oldest tree goes, its predictions are added back to the
// residuals, and the next trees learn what is still true of them. Cuts are judged by
// squared errors. A leaf predicts the median of its residuals, so that a few long delays
// do not move it.
type boost struct {
	ensemble
	base     float32
	residual []float32 // by row: the target less the prediction
	known    []uint64  // by row: the number, from 1, of the case that residual is for
}

// falls are the leaves that cases fell into when a boosted tree was new, so that nobody has to find
// them when it is to go.
type falls struct {
	into   []uint8 // by age then: the node
	pushed uint64  // the value of cases.pushed then
}

// predict predicts the logarithm of the shifted delay.
func (b *boost) predict(x []float32) float32 {
	y := b.base
	for t, leaf := range leaves(b.trees, x) {
		y += boostRate * t.nodes[leaf].cut
	}
	return y
}

// begin sets up b for c, before the first trees grow.
func (b *boost) begin(c *cases) {
	sum := float32(0)
	for _, y := range c.target {
		sum += y
	}
	b.base = sum / float32(c.n)
	b.residual, b.known = make([]float32, window), make([]uint64, window)
}

// grow grows the trees that are to take the place of the oldest. It fits them to the
// newest of the cases. It changes nothing that predict reads.
func (b *boost) grow(g *growers, e *Effort) []*tree {
	c := g.random.cases
	n := min(c.n, e.recent)
	b.catchUp(c, n)
	fitted := make([]*tree, 0, e.perPeriod)
	for range e.perPeriod {
		if gone := len(b.trees) + len(fitted) - e.boosted; gone >= 0 {
			b.remove(c, n, b.trees[(b.oldest+gone)%e.boosted])
		}
		rows := g.random.rows[:0]
		for range min(e.boost.sample, n) {
			rows = append(rows, int32(c.at(g.random.rng.IntN(n))))
		}
		g.random.rows = rows
		t := g.tree(e.boost, c.width-1, b.residual)
		b.add(c, n, &t, &g.binned)
		fitted = append(fitted, &t.tree)
	}
	return fitted
}

// catchUp computes the residuals of the cases, among the newest n, that have none yet.
func (b *boost) catchUp(c *cases, n int) {
	for age := range n {
		i, id := c.at(age), c.pushed-uint64(age)
		if b.known[i] == id {
			return
		}
		b.known[i] = id
		b.residual[i] = c.target[i] - b.predict(c.row(i))
	}
}

// add takes a new tree's predictions from the residuals of the newest n cases, and notes them in
// the tree.
func (b *boost) add(c *cases, n int, t *grown, binned *binned) {
	t.fell = falls{into: make([]uint8, n), pushed: c.pushed}
	var walk walk
	walk.load(t, binned)
	for age := range n {
		i := c.at(age)
		into := walk.leaf(int32(i))
		t.fell.into[age] = into
		b.residual[i] -= boostRate * t.nodes[into].cut
	}
}

// remove adds a tree's predictions to the residuals of the newest n cases.
func (b *boost) remove(c *cases, n int, t *tree) {
	newer := int(min(c.pushed-t.fell.pushed, uint64(n)))
	for age := range newer {
		i := c.at(age)
		b.residual[i] += boostRate * t.value(c.row(i))
	}
	for age, into := range t.fell.into[:min(n-newer, len(t.fell.into))] {
		b.residual[c.at(newer+age)] += boostRate * t.nodes[into].cut
	}
}
