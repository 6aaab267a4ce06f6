package forest

import "math"

// chance is a logistic model: an ensemble of small trees, the sum of which is the logarithm of the
// odds of a sight. Each tree is fitted to what those before it leave of the log loss, by its
// gradient; a leaf makes one step of Newton's method. The oldest goes as in boost.
type chance struct {
	ensemble
	base  float32 // the log-odds of all
	begun bool

	// Only grow reads and changes what follows. All but fell are by row.
	//
	// Invariant: between two calls of grow, a row that has log-odds has fallen into a leaf of each
	// tree, and nobody has to find these again when the tree is to go.
	fell      [][]uint8 // by tree, as in trees, and row: the node
	logOddsOf []float32
	known     []uint64  // the number, from 1, of the sight that logOddsOf is of
	gradient  []float32 // of the log likelihood
	curvature []float32
}

const (
	chanceTrees = 60
	chanceGrown = 2   // trees grown at once
	chanceRate  = .15 // share of a step that a leaf makes
	longestStep = 3.
	ridge       = 1 // added to the curvature of a leaf, so that few sights make short steps
)

// chanceGrowth is how its trees grow.
var chanceGrowth = growth{sample: 8000, least: 40, tries: math.MaxInt, glance: math.MaxInt, depth: 5}

// logOdds returns the logarithm of the odds of a sight.
func (m *chance) logOdds(x []float32) float32 {
	y := m.base
	for t, leaf := range leaves(m.trees, x) {
		y += t.nodes[leaf].cut
	}
	return y
}

// begin sets up m once there are some outcomes.
func (m *chance) begin(of []outcome) {
	if m.begun || len(of) < warmUp {
		return
	}
	happened := 0.
	for _, o := range of {
		happened += float64(o.happened)
	}
	m.begun, m.base = true, float32(math.Log((happened+.5)/(float64(len(of))-happened+.5)))
	m.logOddsOf, m.known = make([]float32, window), make([]uint64, window)
	m.gradient, m.curvature = make([]float32, window), make([]float32, window)
}

// grow grows the trees that are to take the place of the oldest. It changes nothing that logOdds
// reads.
func (m *chance) grow(g *growers, of []outcome) []*tree {
	if !m.begun {
		return nil
	}
	c := g.random.cases
	m.catchUp(c, of)
	fitted := make([]*tree, 0, chanceGrown)
	for range chanceGrown {
		place := len(m.trees) + len(fitted) // of the new tree, among trees
		if gone := place - chanceTrees; gone >= 0 {
			place = (m.oldest + gone) % chanceTrees
			m.remove(of, place)
		} else {
			m.fell = append(m.fell, make([]uint8, window))
		}
		rows := g.random.rows[:0]
		for range min(chanceGrowth.sample, len(of)) {
			o := of[g.random.rng.IntN(len(of))]
			p := 1 / (1 + float32(math.Exp(-float64(m.logOddsOf[o.row]))))
			m.gradient[o.row], m.curvature[o.row] = o.happened-p, p*(1-p)
			rows = append(rows, o.row)
		}
		g.random.rows = rows
		t := g.greedy.tree(chanceGrowth, rows, m.gradient, m.step)
		m.add(of, &t, &g.binned, m.fell[place])
		fitted = append(fitted, &t.tree)
	}
	return fitted
}

// catchUp computes the log-odds of the sights that have none yet.
func (m *chance) catchUp(c *cases, of []outcome) {
	for _, o := range of {
		row := int(o.row)
		number := c.number(row)
		if m.known[row] == number {
			continue
		}
		y, place := m.base, 0
		for t, leaf := range leaves(m.trees, c.row(row)) {
			m.fell[place][row] = uint8(leaf)
			y += t.nodes[leaf].cut
			place++
		}
		m.known[row], m.logOddsOf[row] = number, y
	}
}

// step returns the step of a leaf.
func (m *chance) step(samples []drawn) float32 {
	gradient, curvature := float32(0), float32(ridge)
	for _, s := range samples {
		gradient += m.gradient[s.row] * float32(s.times)
		curvature += m.curvature[s.row] * float32(s.times)
	}
	return chanceRate * max(-longestStep, min(gradient/curvature, longestStep))
}

// add adds a new tree to the log-odds, and notes in fell where the sights fell.
func (m *chance) add(of []outcome, t *grown, binned *binned, fell []uint8) {
	var walk walk
	walk.load(t, binned)
	for _, o := range of {
		into := walk.leaf(o.row)
		fell[o.row] = into
		m.logOddsOf[o.row] += t.nodes[into].cut
	}
}

// remove takes the tree in a place from the log-odds.
func (m *chance) remove(of []outcome, place int) {
	nodes, fell := m.trees[place].nodes, m.fell[place]
	for _, o := range of {
		m.logOddsOf[o.row] -= nodes[fell[o.row]].cut
	}
}
