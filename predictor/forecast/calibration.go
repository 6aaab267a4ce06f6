package forecast

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/stats"
)

// Calibration makes a forecaster's probabilities mean what they say: it learns
// how often they came true, and says that instead.
//
// Where a delay w came true of which the forecast was F, F(w) is as likely to be
// any number between 0 and 1 as any other if the forecast was calibrated (its
// probability integral transform, PIT; the atom at 0 is spread at random). The
// distribution C of the PITs of recent forecasts therefore tells what the
// forecaster's words are worth, and C(F(w)) is the probability meant. This is
// split conformal prediction with the PIT as its score, and weights that fall with
// age (a conformal predictive system: Vovk et al. 2019). If the forecasts were
// exchangeable, its intervals would hold as often as they say. They are not; by
// how much it may then be wrong is at most the sum over the past of each one's
// weight times how different the world was (Barber et al. 2023): weights that
// fall by half in some 350 forecasts bound that, and make C itself uncertain by
// some percent. Where the world stays as it is, weights that fall by half in ten times
// as many are better. So there are two memories, and what is meant is a mixture of
// what either says, in which each has the share that its recent scores have earned,
// like a forecaster in a Blend.
//
// A forecaster's words may be worth less where it speaks of days than where it
// speaks of minutes. So there is a C for each of a few strata of forecasts, told
// apart by what they say themselves (Mondrian conformal prediction), each drawn
// towards that of all as if that had come true so many times in it.
//
// What remains is taken out by feedback (adaptive conformal inference, Gibbs and
// Candès 2021): for each of a number of levels, a correction grows by rate*level
// when a forecast of that level was exceeded and shrinks by rate*(1-level) when it
// held. The corrections of n forecasts add up, so that as long as none meets its
// bound, which is half of what there is room for, the share of forecasts that held
// is within |correction|/(rate*n) of the level whatever the world does: after
// 20,000 forecasts within .005 if it is .05 by then. At the bound that is lost, as a
// correction that could grow on would in the end promise nothing, or anything.
//
// The limits of both: this is true of the long run and of all forecasts together,
// not of every user's nor of every hour's. The feedback is slow on purpose, and only
// C follows a change. And what came true of a forecast is known only when the wait
// is over: many later ones have been made by then.
type Calibration struct {
	memories [memories]memory // the shortest first
	weights  weights          // of the memories
	shift    [len(levels)]float64
	turn     int       // the memory, and the stratum times memories, to be told anew
	lower    []float64 // by k: a lower bound on what k of len(lower)-1 estimates, by the shorter memory
	// confidence of lower bounds.
	confidence float64
}

const (
	memories = 2
	kinds    = len(strata) + 1
	trust    = 10.  // forecasts that a forecaster is believed for at first
	pull     = 300. // forecasts that those of all strata count for in each
	rate     = .0005
)

// strata are where one ends and the next begins, in seconds of the .9 quantile.
var strata = [...]float64{600, 7200, 43_200}

// levels are those that are corrected; between them corrections are interpolated.
var levels = [...]float64{.05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .55, .6, .65, .7, .75, .8, .85, .9, .925, .95, .97, .98, .99}

// keeps is how much of the weight of the past each memory keeps, with each forecast
// that came true.
var keeps = [memories]float64{.998, .9998}

// memory is the past, overall and by stratum, and what it says that the forecaster's
// levels mean.
type memory struct {
	all    past
	strata [kinds]past
	meant  [kinds][steps + 1]float64 // by edge
}

// Calibrated is a forecast as it is meant: all in all, and by either memory alone.
type Calibrated struct {
	Wait delay.Distribution
	by   [memories]delay.Distribution
}

// past is the PITs of forecasts, weighing less with each that follows.
type past struct {
	keep    float64        // of the weight, with each
	pits    [steps]float64 // how many lie in each step, in units of unit
	unit    float64        // the weight of the next
	weight  float64        // sum of pits
	squares float64        // sum of squared weights
}

func (p *past) learn(pit float64) {
	p.unit /= p.keep
	p.pits[step(pit)] += p.unit
	p.weight += p.unit
	p.squares += p.unit * p.unit
	if p.unit > 1e9 {
		for i := range p.pits {
			p.pits[i] /= p.unit
		}
		p.weight /= p.unit
		p.squares /= p.unit * p.unit
		p.unit = 1
	}
}

func newPast(keep, trust float64) past {
	p := past{keep: keep, unit: 1, weight: trust, squares: trust}
	for i := range p.pits {
		p.pits[i] = trust * (edges[i+1] - edges[i])
	}
	return p
}

// NewCalibration returns one that takes forecasts at their word.
func NewCalibration() *Calibration {
	c := &Calibration{weights: newWeights(memories), confidence: .95}
	for i := range c.memories {
		m := &c.memories[i]
		m.all = newPast(keeps[i], trust)
		for k := range m.strata {
			m.strata[k] = newPast(keeps[i], 0)
			m.tell(k, &c.shift)
		}
	}
	c.bound()
	return c
}

// stratum returns which one a forecast belongs to.
func stratum(d *delay.Distribution) int {
	const judged = .9
	i := 0
	for i < len(strata) && d.Within(strata[i]) < judged {
		i++
	}
	return i
}

// Learn takes in a forecast that came true, as it was made and as it was then
// calibrated, and the delay in seconds. random is a number between 0 and 1.
func (c *Calibration) Learn(said *delay.Distribution, meant *Calibrated, seconds, random float64) {
	i, pit := stratum(said), said.Rank(seconds, random)
	scores := make([]float64, memories)
	for k := range c.memories {
		m := &c.memories[k]
		m.all.learn(pit)
		m.strata[i].learn(pit)
		scores[k] = Score(&meant.by[k], seconds)
	}
	c.weights.learn("", scores)
	pit = meant.Wait.Rank(seconds, random)
	for k, level := range levels {
		held := 0.
		if pit <= level {
			held = 1
		}
		room := min(level, 1-level) / 2
		c.shift[k] = max(-room, min(c.shift[k]+rate*(level-held), room))
	}
	c.memories[c.turn%memories].tell(c.turn/memories, &c.shift)
	c.turn = (c.turn + 1) % (kinds * memories)
	c.bound()
}

// tell works out what the levels of the forecaster mean in a stratum, which changes
// so slowly that one of them at a time is enough. A level q is to be replaced by the
// one at which C is q plus its correction, so the meaning of a level u is the q for
// which q + correction(q) = C(u).
func (m *memory) tell(stratum int, shift *[len(levels)]float64) {
	of, meant := &m.strata[stratum], &m.meant[stratum]
	// In units of the stratum's own, those of all strata weigh so much each.
	others := pull * of.unit / m.all.weight
	weight := of.weight + pull*of.unit
	sum, k := 0., 0
	low, lowAt := 0., 0. // the corrected level below, and where it is corrected to
	high, highAt := levels[0], levels[0]+shift[0]
	for i := range of.pits {
		sum += of.pits[i] + others*m.all.pits[i]
		came := sum / weight
		for highAt < came && k < len(levels) {
			low, lowAt = high, highAt
			if k++; k < len(levels) {
				high, highAt = levels[k], max(highAt, levels[k]+shift[k])
			} else {
				high, highAt = 1, 1
			}
		}
		q := high
		if highAt > lowAt {
			q = low + (high-low)*(came-lowAt)/(highAt-lowAt)
		}
		meant[i+1] = max(meant[i], min(q, 1))
	}
	meant[steps] = 1
}

// Apply sets to to what is meant by a forecast.
func (c *Calibration) Apply(said *delay.Distribution, to *Calibrated) {
	i := stratum(said)
	to.Wait = delay.Distribution{}
	shares := make([]float64, memories)
	c.weights.of("", shares)
	for k, share := range shares {
		c.memories[k].apply(i, said, &to.by[k])
		to.Wait.Mix(&to.by[k], share)
	}
}

func (m *memory) apply(stratum int, said, to *delay.Distribution) {
	meant := &m.meant[stratum]
	last, means := 0., 0.
	for i, p := range said {
		if p != last {
			last = p
			k := step(p)
			means = meant[k] + (meant[k+1]-meant[k])*(min(p, edges[k+1])-edges[k])/(edges[k+1]-edges[k])
		}
		to[i] = means
	}
}

// Lower sets low to a lower confidence bound (Clopper and Pearson's) on what is
// meant by d, calibrated already: what was learnt of it is not worth more than so
// many forecasts that came true. That takes them to be independent, as those of jobs
// that waited together are not: it is a margin, which promises show the worth of.
func (c *Calibration) Lower(d, low *delay.Distribution) {
	n := float64(len(c.lower) - 1)
	for i, p := range d {
		low[i] = min(p, c.lower[int(p*n)])
	}
}

// bound works out the lower bounds, when there is a twentieth more to base them on.
func (c *Calibration) bound() {
	n := int(c.Effective())
	if n < len(c.lower)-1 || 20*n < 21*(len(c.lower)-1) {
		return
	}
	c.lower = make([]float64, n+1)
	for k := range c.lower {
		c.lower[k] = stats.LowerProportion(k, n, c.confidence)
	}
}

// Effective returns how many forecasts of equal weight would be worth as much as
// those in the shorter memory: (sum of weights)^2 / (sum of squared weights).
func (c *Calibration) Effective() float64 {
	all := &c.memories[0].all
	return all.weight * all.weight / all.squares
}

// Score is the continuous ranked probability score of a forecast on delay's grid,
// between 0 and 1: the mean square of what each probability was away from what
// came true. It is proper: nobody does better than by saying what they think.
func Score(d *delay.Distribution, seconds float64) float64 {
	came := delay.Index(seconds)
	sum := 0.
	for _, p := range d[:came] {
		sum += p * p
	}
	for _, p := range d[came:] {
		sum += (1 - p) * (1 - p)
	}
	return sum / delay.Points
}
