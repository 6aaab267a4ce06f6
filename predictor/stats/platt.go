package stats

import (
	"fmt"
	"math"
)

// Platt replaces probabilities by how often such probabilities came true: p by p' with logit p' =
// a + b logit p (Platt scaling, here on line and by Bayes' rule). The zero Platt has seen no
// outcome: a and b are independent and normal. Their means are 0 and 1, so that nothing is
// changed. Their standard deviations make the lower bound on .9 equal .73, about as uncertain as
// ten outcomes would leave it. Each outcome makes a and b more certain by its Fisher information.
//
// The past fades in two ways. With each outcome it fades a little: half of it within 346 outcomes.
// With time, half of it fades in 30 days. Otherwise a Platt that allows no promises would never see
// an outcome again. Fading affects only what was learnt, so that in the end the beginning is back.
// The outcomes of one hour depend on one another. So the k-th of them has the weight 1/k: a burst
// of jobs cannot decide alone.
//
// Its fields but Doubt are what outcomes have added, all to be saved as JSON. Precision has the
// elements aa, ab and bb of the inverse of the covariance matrix of a and b. Shift is the product
// of this inverse and the means of a and b. From both, the values before the first outcome are
// subtracted. At is the time of the last outcome, Unix seconds. Hour is its hour, since
// 1970-01-01. Burst is the number of outcomes in that hour.
type Platt struct {
	Precision [3]float64 `json:"precision"`
	Shift     [2]float64 `json:"shift"`
	At        int64      `json:"at"`
	Hour      int64      `json:"hour"`
	Burst     int        `json:"burst"`
	// Doubt is by how many times a and b are less certain before the first outcome; 0 stands for 1.
	Doubt float64 `json:"doubt,omitempty"`
}

const (
	deviationA, deviationB = .5, .25 // before the first outcome
	keep                   = .998    // of the past, with each outcome
	fade                   = 30 * 24 * hour
	hour                   = 3600
	leastSlope, mostSlope  = .25, 4. // of b, so that probabilities keep their order
	certain                = 12.     // the largest absolute logit
	// doubt is the .95 quantile of the standard normal distribution: lower bounds have the
	// confidence .95.
	doubt = 1.6448536269514722
)

// parameters are a and b at a time, with their covariance matrix.
type parameters struct{ a, b, aa, ab, bb float64 }

// faded returns what is left at a time of what was learnt.
func (l Platt) faded(now int64) Platt {
	factor := 1.
	if l.At > 0 && now > l.At {
		factor = math.Exp2(-float64(now-l.At) / fade)
	}
	return l.times(factor)
}

func (l Platt) times(factor float64) Platt {
	for i := range l.Precision {
		l.Precision[i] *= factor
	}
	for i := range l.Shift {
		l.Shift[i] *= factor
	}
	return l
}

// before returns the precisions of a and b before the first outcome.
func (l *Platt) before() (a, b float64) {
	doubt := max(1, l.Doubt)
	return 1 / (doubt * deviationA * doubt * deviationA), 1 / (doubt * deviationB * doubt * deviationB)
}

// parameters returns the parameters that follow from what was learnt.
func (l *Platt) parameters() (p parameters) {
	a, b := l.before()
	aa, ab, bb := a+l.Precision[0], l.Precision[1], b+l.Precision[2]
	det := aa*bb - ab*ab
	p.aa, p.ab, p.bb = bb/det, -ab/det, aa/det
	shiftA, shiftB := l.Shift[0], b+l.Shift[1]
	p.a, p.b = p.aa*shiftA+p.ab*shiftB, p.ab*shiftA+p.bb*shiftB
	return p
}

// slope returns b, or the nearest that leaves probabilities their order.
func (p *parameters) slope() float64 { return max(leastSlope, min(p.b, mostSlope)) }

// apply returns what replaces the logit x, and its standard deviation.
func (p *parameters) apply(x float64) (y, deviation float64) {
	return p.a + p.slope()*x, math.Sqrt(p.aa + 2*p.ab*x + p.bb*x*x)
}

// Learn takes in whether an event came true that had the probability prob, in (0,1), before it was
// replaced. now is when that was known, Unix seconds.
func (l *Platt) Learn(prob float64, came bool, now int64) { l.learn(now, 1, event{prob, came}) }

// rankLevels are the probabilities of which LearnRank learns whether they came true, and rankWeight
// is the weight of each. Together they have about the information that the rank has.
var rankLevels = [...]float64{.1, .25, .5, .75, .9}

const rankWeight = .4

// LearnRank takes in an outcome whose rank under its forecast was in [0,1], that is, to which the
// forecast gave that probability or less. It learns of five quantiles whether the outcome was
// within them.
func (l *Platt) LearnRank(rank float64, now int64) {
	var events [len(rankLevels)]event
	for i, level := range rankLevels {
		events[i] = event{level, rank <= level}
	}
	l.learn(now, rankWeight, events[:]...)
}

// event is one that had a probability, and came true or not.
type event struct {
	prob float64
	came bool
}

// learn takes in an outcome: events, each of which has a weight.
func (l *Platt) learn(now int64, each float64, events ...event) {
	*l = l.faded(now)
	l.At = max(now, l.At)
	if l.Hour != l.At/hour {
		l.Hour, l.Burst = l.At/hour, 0
	}
	l.Burst++
	*l = l.times(math.Pow(keep, 1/float64(l.Burst)))
	for _, e := range events {
		l.add(logit(e.prob), e.came, each/float64(l.Burst))
	}
}

// add adds an event whose probability has the logit x, with a weight.
func (l *Platt) add(x float64, came bool, weight float64) {
	p := l.parameters()
	y, _ := p.apply(x)
	said := logistic(y)
	information := weight * said * (1 - said)
	l.Precision[0] += information
	l.Precision[1] += information * x
	l.Precision[2] += information * x * x
	after := l.parameters()
	surprise := -said
	if came {
		surprise++
	}
	a := p.a + weight*surprise*(after.aa+after.ab*x)
	b := p.b + weight*surprise*(after.ab+after.bb*x)
	beforeA, beforeB := l.before()
	l.Shift[0] = (beforeA+l.Precision[0])*a + l.Precision[1]*b
	l.Shift[1] = l.Precision[1]*a + (beforeB+l.Precision[2])*b - beforeB
}

// Prob returns what replaces a probability at a time, and its lower confidence bound of level .95.
// 0 and 1 stay as they are.
func (l *Platt) Prob(prob float64, now int64) (replaced, lower float64) {
	if prob <= 0 || prob >= 1 {
		return prob, prob
	}
	faded := l.faded(now)
	p := faded.parameters()
	y, deviation := p.apply(logit(prob))
	return logistic(y), logistic(y - doubt*deviation)
}

// Before returns the probability that Prob replaces at a time by a given one.
func (l *Platt) Before(replaced float64, now int64) float64 {
	if replaced <= 0 || replaced >= 1 {
		return replaced
	}
	faded := l.faded(now)
	p := faded.parameters()
	return logistic((logit(replaced) - p.a) / p.slope())
}

// Check returns an error if no outcomes can have led to l.
func (l *Platt) Check() error {
	sum := float64(l.At) + l.Doubt
	for _, x := range l.Precision {
		sum += x
	}
	for _, x := range l.Shift {
		sum += x
	}
	aa, ab, bb := l.Precision[0], l.Precision[1], l.Precision[2]
	if math.IsNaN(sum) || math.IsInf(sum, 0) || aa < 0 || bb < 0 || ab*ab > aa*bb*(1+1e-6)+1e-6 || l.At < 0 || l.Burst < 0 {
		return fmt.Errorf("precision %v, shift %v at %d: no outcomes lead to that; begin anew without it", l.Precision, l.Shift, l.At)
	}
	return nil
}

func logit(p float64) float64 {
	return max(-certain, min(math.Log(p/(1-p)), certain))
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
