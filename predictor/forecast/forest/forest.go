// Package forest learns online how the distribution of a delay depends on features.
// Features are numbers that are known when the delay begins. They may matter only in
// combination.
//
// Two ensembles of regression trees share the work. A boosted ensemble (Friedman 2001)
// predicts the logarithm of the delay. Its prediction is one more feature for the other
// ensemble, a quantile regression forest (Meinshausen 2006) of extremely randomised
// trees (Geurts, Ernst and Wehenkel 2006). Leaves of the forest store past delays. The
// answer to a question is the distribution of the delays in the leaves that it falls into.
//
// Both ensembles are renewed all the time: at intervals a new tree is grown from recent
// cases and takes the place of the oldest. So the ensembles follow a world that changes,
// at a small and even cost.
package forest

import (
	"math"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/delay"
)

const (
	window = 60_000 // the number of cases stored
	memory = 20_000 // the mean age of a tree's cases, in newer cases, if the window had no end
	warmUp = 200    // cases before the first trees
	// reserve is how many cases may be learnt while trees grow. These cases overwrite the
	// oldest ones, so trees are not grown from the oldest.
	reserve = 2048

	boostRate = .1
)

// Effort is how thoroughly a Model learns. On real logs, changing one of its numbers by a
// factor of two hardly changes the results.
type Effort struct {
	period       int     // cases between two growths of trees
	trees        int     // trees of the forest; each period grows one
	boosted      int     // trees of the boosted ensemble
	perPeriod    int     // boosted trees grown each period
	recent       int     // boosted trees are fitted to this many newest cases
	refreshShare float64 // share of the new cases that each tree of the forest stores

	forest, boost growth
}

// growth is how a tree of an ensemble grows.
type growth struct {
	sample int // cases to grow from, fewer than 1<<counting
	least  int // the least number of cases in a leaf
	tries  int // features tried for each fork
	glance int // about how many cases a fork is judged by
	depth  int // the most forks from the root to a leaf
}

var (
	// Light takes some 20 microseconds for each case.
	Light = Effort{
		period: 100, trees: 50, boosted: 100, perPeriod: 1, recent: 5000, refreshShare: .1,
		forest: growth{2000, 8, 12, 128, math.MaxInt}, boost: growth{1500, 20, 20, 256, 4},
	}
	// Thorough takes some 20 times as long. Its errors are some percent smaller.
	Thorough = Effort{
		period: 50, trees: 150, boosted: 100, perPeriod: 2, recent: 50_000, refreshShare: .5,
		forest: growth{10_000, 5, 20, math.MaxInt, math.MaxInt},
		boost:  growth{20_000, 30, math.MaxInt, math.MaxInt, 6},
	}
)

// shift, in seconds, is added to a delay before its logarithm is taken. So differences
// between delays that are much shorter than shift count little.
const shift = 1800

// Model learns delays from cases of a fixed number of features. Learn, Grow and SlowDown
// change the Model, and must not run at the same time as any other method. The other
// methods change nothing, and may run at the same time as one another. Trees grow in the
// background.
type Model struct {
	features  int // without the boosted ensemble's prediction
	effort    Effort
	rng       *rand.Rand
	cases     cases
	refreshed uint64 // the value of cases.pushed at the last refresh
	boost     boost
	forest    ensemble
	growers   growers
	nursery
	refreshing []*tree // scratch
}

// New returns a Model of cases that have a number of features. With a nil Background,
// trees grow at once.
func New(features int, e Effort, rng *rand.Rand, b Background) *Model {
	return &Model{
		features: features,
		effort:   e,
		rng:      rng,
		cases:    cases{width: features + 1},
		growers:  newGrowers(rng),
		nursery:  newNursery(b),
	}
}

// Late says that the last n features may be 0 in all cases for long. Until they differ in some, the
// Model is as if it did not have them.
func (m *Model) Late(n int) { m.growers.binned.late = n }

// Case is the features of a question and, at the end, the boosted ensemble's prediction
// from them when the question was asked. A prediction made later would be better, as the
// ensemble would have learnt from the case itself. The forest would then learn to trust
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
	m.protect(m.cases.pushed)
	m.cases.push(c, float32(math.Log(shift+seconds)), uint8(min(delay.Index(seconds), delay.Points-1)))
}

// SlowDown makes Grow grow trees less often, by a factor; 1 or less is the usual pace. It
// saves time while a Model learns a long past of which only the end matters.
func (m *Model) SlowDown(factor int) { m.slowDown(factor) }

// Grow stores the new cases in the leaves of the forest. If enough was learnt since trees
// last began to grow, those trees come into use and the next ones begin to grow. Grow waits
// for trees that are not ready.
func (m *Model) Grow() {
	m.refresh()
	if !m.renew(m.cases.pushed, m.effort.period) {
		return
	}
	if len(m.boost.trees) == 0 {
		m.boost.begin(&m.cases)
	}
	stable := m.cases.stable()
	var boosted []*tree
	var grown tree // of the forest
	m.begin(m.cases.pushed, func() {
		m.growers.use(&stable)
		boosted = m.boost.grow(&m.growers, &m.effort)
		random := &m.growers.random
		stable.drawRows(m.effort.forest.sample, random.rng, &random.rows)
		grown = random.tree(m.effort.forest, m.features+1, stable.target).tree
		grown.storeDelays(random)
	}, func() {
		for _, t := range boosted {
			m.boost.put(t, m.effort.boosted)
		}
		m.forest.put(&grown, m.effort.trees)
	})
}

// refresh stores a share of the new cases in the leaves of the forest. So the delays in the
// leaves are recent even where the tree is old, and most of them did not shape the tree. If
// all new cases were stored, a leaf would soon have only the last burst of jobs.
func (m *Model) refresh() {
	for n := min(m.cases.pushed-m.refreshed, uint64(m.cases.n)); n > 0; n-- {
		k := m.cases.at(int(n - 1))
		m.refreshing = m.refreshing[:0]
		for _, t := range m.forest.trees {
			if m.rng.Float64() < m.effort.refreshShare {
				m.refreshing = append(m.refreshing, t)
			}
		}
		for t, leaf := range leaves(m.refreshing, m.cases.row(k)) {
			t.refresh(leaf, m.cases.point[k])
		}
	}
	m.refreshed = m.cases.pushed
}

// Predict sets d to the distribution of the delays of similar cases. Each tree has the same
// weight, divided equally among the delays in the leaf that c falls into. Predict reports
// false before the first trees are in use.
func (m *Model) Predict(c Case, d *delay.Distribution) bool {
	if len(m.forest.trees) == 0 {
		return false
	}
	*d = delay.Distribution{}
	weight := 1 / float64(len(m.forest.trees))
	for t, leaf := range leaves(m.forest.trees, c) {
		t.add(leaf, d, weight)
	}
	sum := 0.
	for i := range d {
		sum += d[i]
		d[i] = min(sum, 1)
	}
	return true
}

// Learnt returns the number of cases that Learn has taken in.
func (m *Model) Learnt() int { return int(m.cases.pushed) }
