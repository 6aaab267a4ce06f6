// Package forest learns online how the distribution of a delay depends on features:
// numbers known when the delay began, of which a few together matter.
//
// Two ensembles of regression trees share the work. A boosted ensemble (Friedman 2001)
// predicts the logarithm of the delay. Its prediction is one more feature for the other
// ensemble, a quantile regression forest (Meinshausen 2006) of extremely randomised
// trees (Geurts, Ernst and Wehenkel 2006). Leaves of the forest keep past delays, and
// those in the leaves that a question falls into are its answer.
//
// Both ensembles roll. At intervals a new tree is grown from recent cases and takes the
// place of the oldest. So the ensembles follow a world that changes, at a small and even
// cost.
package forest

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/varq-project/varq/predictor/delay"
)

const (
	window = 60_000 // cases remembered
	memory = 20_000 // mean age, in cases, of what a tree is grown from, without the window
	warmUp = 200    // cases before the first trees
	// reserve is how many cases may be learnt while trees grow. They overwrite the oldest
	// ones, which trees are therefore not grown from.
	reserve = 2048

	boostRate = .1
)

// Effort is how thoroughly a Model learns. On real logs results hardly depend on any
// one of its numbers within a factor of two.
type Effort struct {
	period    int     // cases between two growths of trees
	trees     int     // of the forest; each period grows one
	boosted   int     // trees of the boosted ensemble
	perPeriod int     // of them, each period
	recent    int     // newest cases, which boosted trees are fitted to
	fresh     float64 // share of the new cases that the leaves of a forest's tree take in

	forest, boost growth
}

// growth is how a tree of an ensemble grows.
type growth struct {
	sample int // cases to grow from
	least  int // cases in a leaf, at least
	tries  int // features tried for each fork
	glance int // cases that a fork is judged by, about
	depth  int
}

var (
	// Light takes some 20 microseconds for each case.
	Light = Effort{
		period: 100, trees: 50, boosted: 100, perPeriod: 1, recent: 5000, fresh: .1,
		forest: growth{2000, 8, 12, 128, math.MaxInt}, boost: growth{1500, 20, 20, 256, 4},
	}
	// Thorough takes some 20 times as long. Its errors are some percent smaller.
	Thorough = Effort{
		period: 50, trees: 150, boosted: 100, perPeriod: 2, recent: 50_000, fresh: .5,
		forest: growth{10_000, 5, 20, math.MaxInt, math.MaxInt},
		boost:  growth{20_000, 30, math.MaxInt, math.MaxInt, 6},
	}
)

// shift is added to a delay before its logarithm is taken, in seconds. It makes the
// differences between much shorter delays count little.
const shift = 1800

// Model learns delays from cases of a fixed number of features. Learn and Grow must not
// run at the same time as any other method; the others change nothing.
//
// Trees grow in the background. Invariant: they come into use after the same case, when
// the next ones begin to grow, however long they took.
type Model struct {
	features int // without the boosted ensemble's prediction
	effort   Effort
	rng      *rand.Rand
	cases    cases
	learnt   int
	due      int    // learnt when the next trees are grown
	haste    int    // how many times as seldom trees are grown
	fresh    uint64 // cases ever that the leaves have been offered
	boost    boost
	forest   ensemble
	grower   grower
	growing  *growing // or nil

	background Background
}

// Background runs a task: at once or later, maybe concurrently. A task may also be
// dropped, as it is run once its result is needed.
type Background func(task func())

// atOnce is the Background of callers that have none.
func atOnce(task func()) { task() }

// growing is trees that are being grown.
type growing struct {
	born    uint64 // cases ever, when growth began
	finish  func() // grows the trees, or waits for them to grow
	boosted []tree
	tree    tree // of the forest
}

// New returns a Model of cases that have a number of features. With a nil Background,
// trees grow at once.
func New(features int, e Effort, rng *rand.Rand, b Background) *Model {
	if b == nil {
		b = atOnce
	}
	return &Model{
		features: features,
		effort:   e,
		rng:      rng,
		cases:    cases{width: features + 1},
		due:      warmUp,
		haste:    1,
		grower:   grower{rng: rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))},

		background: b,
	}
}

// Case is the features of a question and, at the end, what the boosted ensemble predicted
// from them when the question was asked. A prediction made later would be better, as the
// ensemble would have learnt from the case itself; so the forest would learn to trust
// predictions too much.
type Case []float32

// Case returns the Case of a question with these features.
func (m *Model) Case(features []float32) Case {
	c := make(Case, m.features+1)
	copy(c, features)
	c[m.features] = m.boost.predict(c[:m.features])
	return c
}

// Learn takes in the delay of a case, in seconds.
func (m *Model) Learn(c Case, seconds float64) {
	if g := m.growing; g != nil && m.cases.born-g.born >= reserve {
		g.finish() // before cases that it grows trees from are overwritten
	}
	m.cases.push(c, float32(math.Log(shift+seconds)), uint8(min(delay.Index(seconds), delay.Points-1)))
	m.learnt++
}

// Hurry makes Grow grow trees so many times as seldom; 1, or less, is the usual pace. It
// is for a past of which only the end matters.
func (m *Model) Hurry(times int) { m.haste = max(1, times) }

// Grow puts new cases into the leaves of the forest. If enough was learnt since trees last
// began to grow, those come into use, and the next ones begin to grow. Grow waits for
// trees that are not ready.
func (m *Model) Grow() {
	m.refresh()
	if m.learnt < m.due {
		return
	}
	m.use()
	// The first trees, which know little, are soon replaced.
	m.due = m.learnt + min(m.effort.period*m.haste, m.learnt/20)
	if len(m.boost.trees) == 0 {
		m.boost.begin(&m.cases)
	}
	g := &growing{born: m.cases.born}
	seen := m.cases.seen()
	g.finish = sync.OnceFunc(func() {
		m.grower.look(&seen)
		g.boosted = m.boost.grow(&m.grower, &m.effort)
		seen.sample(m.effort.forest.sample, m.grower.rng, &m.grower.rows)
		g.tree = m.grower.tree(m.effort.forest, m.features+1, seen.target)
		g.tree.keep(&m.grower)
	})
	m.growing = g
	m.background(g.finish)
}

// use puts the trees that have grown, if any, into their ensembles.
func (m *Model) use() {
	g := m.growing
	if g == nil {
		return
	}
	g.finish()
	m.growing = nil
	for _, t := range g.boosted {
		m.boost.put(t, m.effort.boosted)
	}
	m.forest.put(g.tree, m.effort.trees)
}

// refresh puts a share of the new cases into the leaves of the forest. So the delays in
// the leaves are recent, although trees are old, and most had no say in the forks. With
// all new cases, a leaf would hold no more than the last burst of jobs.
func (m *Model) refresh() {
	for n := min(m.cases.born-m.fresh, uint64(m.cases.n)); n > 0; n-- {
		k := m.cases.at(int(n - 1))
		for i := range m.forest.trees {
			if m.rng.Float64() < m.effort.fresh {
				m.forest.trees[i].refresh(m.cases.row(k), m.cases.point[k])
			}
		}
	}
	m.fresh = m.cases.born
}

// Predict sets d to the distribution of the delays of similar cases. Each tree has the
// same weight, which the delays in the leaf share. Predict reports false before the first
// trees have grown.
func (m *Model) Predict(c Case, d *delay.Distribution) bool {
	if len(m.forest.trees) == 0 {
		return false
	}
	*d = delay.Distribution{}
	for i := range m.forest.trees {
		points := m.forest.trees[i].points(c)
		share := 1 / float64(len(points)*len(m.forest.trees))
		for _, p := range points {
			d[p] += share
		}
	}
	sum := 0.
	for i := range d {
		sum += d[i]
		d[i] = min(sum, 1)
	}
	return true
}

// Learnt returns how many cases were learnt.
func (m *Model) Learnt() int { return m.learnt }
