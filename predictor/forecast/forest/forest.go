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
	window = 60_000 // cases remembered
	memory = 20_000 // mean age, in cases, of those that a tree is grown from, if all were remembered
	warmUp = 200    // cases before the first
	// reserve is how many cases may be learnt while trees grow, which leave out as many of
	// the oldest.
	reserve = 2048

	boostRate = .1
)

// Effort is how much a Model makes of its cases. Results on real logs hardly depend
// on any one of its numbers within a factor of two.
type Effort struct {
	period        int     // cases between new trees and the next
	trees         int     // of the forest, one of them new
	boosted       int     // trees of the boosted ensemble
	perPeriod     int     // of them, new ones
	recent        int     // cases that those are fitted to
	fresh         float64 // share of the new cases that a tree's leaves take in
	forest, boost growth
}

// growth is how a tree of an ensemble grows.
type growth struct {
	sample int // cases to grow from
	least  int // of them in a leaf
	tries  int // features looked at for each fork
	glance int // cases by which a fork is judged, about
	depth  int
}

var (
	// Light spends some 20 microseconds on each case.
	Light = Effort{
		period: 100, trees: 50, boosted: 100, perPeriod: 1, recent: 5000, fresh: .1,
		forest: growth{2000, 8, 12, 128, math.MaxInt}, boost: growth{1500, 20, 20, 256, 4},
	}
	// Thorough spends some 20 times as much, for errors that are some percent less.
	Thorough = Effort{
		period: 50, trees: 150, boosted: 100, perPeriod: 2, recent: 50_000, fresh: .5,
		forest: growth{10_000, 5, 20, math.MaxInt, math.MaxInt},
		boost:  growth{20_000, 30, math.MaxInt, math.MaxInt, 6},
	}
)

// shift is added to a delay before its logarithm is taken, in seconds: what
// matters less is told apart less.
const shift = 1800

// Model learns delays from cases of a fixed number of features. Learn and Grow
// must not run at the same time as any other method; the others change nothing. Trees
// grow in the background, and come into use when the next begin to grow, after the
// same case wherever it runs.
type Model struct {
	features int // without the boosted ensemble's answer
	effort   Effort
	rng      *rand.Rand
	cases    cases
	learnt   int
	due      int    // when the next trees are grown
	haste    int    // how many times as seldom
	fresh    uint64 // cases ever that the leaves have seen
	boost    boost
	forest   ensemble
	grower   grower
	growing  *growing // or nil
}

// growing is trees that are being grown.
type growing struct {
	born    uint64 // cases ever, when that began
	done    chan struct{}
	boosted []tree
	tree    tree // of the forest
}

// New returns a Model of cases that have a number of features, with which effort it
// learns and of what chance the randomness is.
func New(features int, e Effort, rng *rand.Rand) *Model {
	return &Model{
		features: features,
		effort:   e,
		rng:      rng,
		cases:    cases{width: features + 1},
		due:      warmUp,
		haste:    1,
		grower:   grower{rng: rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))},
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
	if g := m.growing; g != nil && m.cases.born-g.born >= reserve {
		<-g.done // before what it looks at is overwritten
	}
	m.cases.push(c, float32(math.Log(shift+seconds)), uint8(min(delay.Index(seconds), delay.Points-1)))
	m.learnt++
}

// Hurry has Grow grow trees so many times as seldom as it otherwise would, at least
// once: to live through a past of which only the end matters.
func (m *Model) Hurry(times int) { m.haste = max(1, times) }

// Grow takes what was learnt into the leaves of the forest and, if enough was learnt
// since the last time, lets trees of each ensemble grow, and those that did so since
// then come into use. For those it waits, if it must.
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
	g := &growing{born: m.cases.born, done: make(chan struct{})}
	m.growing = g
	seen := m.cases.seen()
	go func() {
		defer close(g.done)
		m.grower.look(&seen)
		g.boosted = m.boost.grow(&m.grower, &m.effort)
		seen.sample(m.effort.forest.sample, m.grower.rng, &m.grower.rows)
		g.tree = m.grower.tree(m.effort.forest, m.features+1, seen.target)
		g.tree.keep(&m.grower)
	}()
}

// use brings the trees that have grown into use.
func (m *Model) use() {
	g := m.growing
	if g == nil {
		return
	}
	<-g.done
	m.growing = nil
	for _, t := range g.boosted {
		m.boost.put(t, m.effort.boosted)
	}
	m.forest.put(g.tree, m.effort.trees)
}

// refresh has the forest's leaves take in some of the new cases. As trees outlive
// their cases, what they keep is young, and most of it had no say in where they fork.
// Not all, as then a leaf would know no more than the last burst of jobs.
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

// Predict sets d to the distribution of the delays of similar cases, and reports
// whether enough was learnt. Each tree has one voice, which the delays in the leaf
// share.
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
