// Package forest learns on line how a delay depends on what was known when it
// began: many numbers, of which most say little and a few together say much. It
// answers with a whole distribution, and it forgets.
//
// Two ensembles of small regression trees share the work. A boosted one (Friedman
// 2001) says where the delay is likely to lie, in logarithms. What it says is one
// more number for the other, a forest whose leaves keep past delays, so that the
// leaves that a question falls into hold the delays of similar cases: a quantile
// regression forest (Meinshausen 2006) of extremely randomised trees (Geurts,
// Ernst and Wehenkel 2006). Both roll: every so many cases a tree is grown from
// recent ones and takes the place of the oldest, so that the ensembles follow a
// world that changes, at a small and even cost.
package forest

import (
	"math"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/delay"
)

const (
	window = 20_000 // cases remembered
	memory = 10_000 // mean age, in cases, of those that a tree is grown from, if all were remembered
	warmUp = 200    // cases before the first

	forestTrees = 50
	boostTrees  = 100
	boostDepth  = 4
	boostRate   = .1
)

// Effort is how much a Model makes of its cases. Results on real logs hardly depend
// on any one of its numbers within a factor of two.
type Effort struct {
	period        int // cases between a tree of each ensemble and the next
	forest, boost growth
}

// growth is how a tree of an ensemble grows.
type growth struct {
	sample int // cases to grow from
	least  int // of them in a leaf
	tries  int // random cuts at each fork
}

var (
	// Light spends some 20 microseconds on each case.
	Light = Effort{period: 100, forest: growth{2000, 8, 28}, boost: growth{1500, 20, 20}}
	// Thorough spends some 10 times as much, for errors that are some percent less.
	Thorough = Effort{period: 50, forest: growth{8000, 5, 60}, boost: growth{5000, 20, 80}}
)

// shift is added to a delay before its logarithm is taken, in seconds: what
// matters less is told apart less.
const shift = 3600

// Model learns delays from cases of a fixed number of features. Learn and Grow
// must not run at the same time as any other method; the others change nothing.
type Model struct {
	features int // without the boosted ensemble's answer
	effort   Effort
	rng      *rand.Rand
	cases    cases
	learnt   int
	due      int // when the next trees are grown
	boost    boost
	trees    []tree
	oldest   int // index in trees, once there are forestTrees
	grow     grower
}

// New returns a Model of cases that have a number of features, with which effort it
// learns and of what chance the randomness is.
func New(features int, e Effort, rng *rand.Rand) *Model {
	return &Model{
		features: features,
		effort:   e,
		rng:      rng,
		cases:    newCases(features + 1),
		due:      warmUp,
		grow:     grower{rng: rng},
	}
}

// Case is what was known when a question was asked: its features and, at the end,
// what the Model itself thought of them then. That it is kept, and not thought of
// again when the answer is known, makes it as good or bad a sign in the past as it
// is now.
type Case []float32

// Case completes the features of a question, in the order that all have.
func (m *Model) Case(features []float32) Case {
	c := make(Case, m.features+1)
	copy(c, features)
	c[m.features] = m.boost.predict(c[:m.features])
	return c
}

// Learn takes in the delay, in seconds, that a case came to.
func (m *Model) Learn(c Case, seconds float64) {
	m.cases.push(c, float32(math.Log(shift+seconds)), uint8(min(delay.Index(seconds), delay.Points-1)))
	m.learnt++
}

// Grow grows a tree of each ensemble if, since the last, enough was learnt. That takes
// milliseconds; it is apart from Learn so that it can be done when there is time.
func (m *Model) Grow() {
	if m.learnt < m.due {
		return
	}
	// The first trees, which know little, are soon replaced.
	m.due = m.learnt + min(m.effort.period, m.learnt/20)
	m.boost.roll(&m.cases, &m.grow, m.effort.boost)
	m.roll()
}

// roll grows a tree of the forest.
func (m *Model) roll() {
	how := m.effort.forest
	m.cases.sample(how.sample, m.rng, &m.grow.rows)
	t := m.grow.tree(&m.cases, limits{how, math.MaxInt}, m.features+1, m.cases.target)
	t.keep(&m.grow, m.cases.point)
	if len(m.trees) < forestTrees {
		m.trees = append(m.trees, t)
		return
	}
	m.trees[m.oldest] = t
	m.oldest = (m.oldest + 1) % forestTrees
}

// Predict sets d to the distribution of the delays of similar cases, and reports
// whether enough was learnt. Each tree has one voice, which the delays in the leaf
// share.
func (m *Model) Predict(c Case, d *delay.Distribution) bool {
	if len(m.trees) == 0 {
		return false
	}
	*d = delay.Distribution{}
	for i := range m.trees {
		points := m.trees[i].points(c)
		share := 1 / float64(len(points)*len(m.trees))
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
