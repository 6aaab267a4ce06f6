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
// some percent.
//
// What remains is taken out by feedback (adaptive conformal inference, Gibbs and
// Candès 2021): for each of a number of levels, a correction grows by rate*level
// when a forecast of that level was exceeded and shrinks by rate*(1-level) when it
// held. As corrections are bounded, the share of forecasts that held after n of
// them is within (1+rate)/(rate*n) of the level whatever the world does, adversary
// included. The limits of both: this is true of the long run and of all forecasts
// together, not of every user's nor of every hour's; and what came true of a
// forecast is known only when the wait is over.
type Calibration struct {
	pits    [steps]float64 // how many PITs lie in each step, in units of unit
	unit    float64        // the weight of the next
	weight  float64        // sum of pits
	squares float64        // sum of squared weights
	shift   [len(levels)]float64
	meant   [steps + 1]float64 // by edge: what a level of the forecaster means
	lower   []float64          // by k: a lower bound on what k of len(lower)-1 estimates
}

const (
	keep  = .998 // of the weight of the past, with each forecast that came true
	trust = 10.  // forecasts that a forecaster is believed for at first
	rate  = .0005
)

// levels are those that are corrected; between them corrections are interpolated.
var levels = [...]float64{.05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .55, .6, .65, .7, .75, .8, .85, .9, .925, .95, .97, .98, .99}

// NewCalibration returns one that takes forecasts at their word.
func NewCalibration() *Calibration {
	c := &Calibration{unit: 1, weight: trust, squares: trust}
	for i := range c.pits {
		c.pits[i] = trust * (edges[i+1] - edges[i])
	}
	c.tell()
	c.bound()
	return c
}

// Learn takes in what came true: the PIT of a forecast as it was made, and of the
// same forecast as it was then calibrated.
func (c *Calibration) Learn(pit, calibrated float64) {
	c.unit /= keep
	c.pits[step(pit)] += c.unit
	c.weight += c.unit
	c.squares += c.unit * c.unit
	if c.unit > 1e9 {
		for i := range c.pits {
			c.pits[i] /= c.unit
		}
		c.weight /= c.unit
		c.squares /= c.unit * c.unit
		c.unit = 1
	}
	for i, level := range levels {
		held := 0.
		if calibrated <= level {
			held = 1
		}
		room := min(level, 1-level) / 2
		c.shift[i] = max(-room, min(c.shift[i]+rate*(level-held), room))
	}
	c.tell()
	c.bound()
}

// tell works out what the levels of the forecaster mean. A level q is to be
// replaced by the one at which C is q plus its correction, so the meaning of a
// level u is the q for which q + correction(q) = C(u).
func (c *Calibration) tell() {
	sum, k := 0., 0
	low, lowAt := 0., 0. // the corrected level below, and where it is corrected to
	high, highAt := levels[0], levels[0]+c.shift[0]
	for i := range c.pits {
		sum += c.pits[i]
		came := sum / c.weight
		for highAt < came && k < len(levels) {
			low, lowAt = high, highAt
			if k++; k < len(levels) {
				high, highAt = levels[k], max(highAt, levels[k]+c.shift[k])
			} else {
				high, highAt = 1, 1
			}
		}
		q := high
		if highAt > lowAt {
			q = low + (high-low)*(came-lowAt)/(highAt-lowAt)
		}
		c.meant[i+1] = max(c.meant[i], min(q, 1))
	}
	c.meant[steps] = 1
}

// Mean returns the probability that a forecaster means by one that it says.
func (c *Calibration) Mean(said float64) float64 {
	if !(said > 0) {
		return 0
	}
	i := step(said)
	low, high := edges[i], edges[i+1]
	return c.meant[i] + (c.meant[i+1]-c.meant[i])*(min(said, high)-low)/(high-low)
}

// Apply replaces what is said in d by what is meant.
func (c *Calibration) Apply(d *delay.Distribution) {
	for i, said := range d {
		if i > 0 && said == d[i-1] {
			continue
		}
		d[i] = c.Mean(said)
	}
}

// confidence of lower bounds.
const confidence = .95

// Lower sets low to a lower confidence bound (Clopper and Pearson's) on what is
// meant by d, calibrated already: what was learnt of it is not worth more than so
// many forecasts that came true.
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
		c.lower[k] = stats.LowerProportion(k, n, confidence)
	}
}

// Effective returns how many forecasts of equal weight would be worth as much as
// those learnt from: (sum of weights)^2 / (sum of squared weights).
func (c *Calibration) Effective() float64 { return c.weight * c.weight / c.squares }

// PIT returns where a delay lies in a forecast, between 0 and 1: the probability
// that was given to less, and, for a delay of 0, a random part of that given to
// it. random is a number between 0 and 1.
func PIT(d *delay.Distribution, seconds, random float64) float64 {
	below, within := d.Below(seconds), d.Within(seconds)
	return below + random*(within-below)
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
