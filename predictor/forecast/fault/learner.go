package fault

import "math"

// learner learns the risk of a node for one horizon: whether the node fails within a span from now
// on. Time is cut into windows of that span. When a window begins, the learner notes the features
// of each node. When the window ends, the learner learns from which nodes failed.
//
// The expected number of failures of a node is a weighted sum of its features. The weight of a
// feature is the number of failures that it has accounted for, divided by the number that it would
// have predicted with weight 1. Both numbers have a prior (gamma). Each failure is divided among
// the features in proportion to their predictions (expectation maximisation). No weight is
// negative, and a feature gains weight only by failures. So where little has been seen, the sum
// stays near what the priors say.
type learner struct {
	span      float64
	end       float64 // end of the window, in days
	past      *past
	within    *faded
	noted     [][]float64 // by node: its features when the window began
	failed    map[int]bool
	weights   []float64
	made      []float64   // by feature: the failures that it would have predicted with weight 1
	accounted []float64   // by feature: the failures that it accounted for, as fit divides them
	seen      [][]float64 // the features of nodes that failed
	oldest    int         // the index of the oldest of seen, once it is full
	vote      Vote
	level     level
	sizes     sizes
}

const (
	// The constants ..Starts are weights before anything was learnt, and the constants ..Sure are
	// how many failures these weights count for. The constants of events that are not failures are
	// small, because many nodes may have such events at once.
	frailStarts, frailSure = .5, 2.
	otherStarts, otherSure = .03, .5
	eventStarts, eventSure = .003, .1
	mostSeen               = 4000
	rounds                 = 8 // of expectation maximisation each time
)

func newLearner(span float64, past *past) *learner {
	k := past.features()
	l := &learner{span: span, within: newFaded(span), past: past, noted: zeros(past.nodes, k), failed: map[int]bool{}, weights: make([]float64, k), made: make([]float64, k), accounted: make([]float64, k), vote: NewVote(len(Voters))}
	for i := range l.weights {
		l.weights[i], _ = past.prior(i)
	}
	l.open()
	return l
}

func (p *past) prior(feature int) (weight, failures float64) {
	switch {
	case feature == frail:
		return frailStarts, frailSure
	case feature >= p.features()-2*len(p.events):
		return eventStarts, eventSure
	default:
		return otherStarts, otherSure
	}
}

// open begins a window.
func (l *learner) open() {
	l.end += l.span
	for n := range l.noted {
		l.past.fill(l.noted[n], n, l.within)
	}
	clear(l.failed)
}

// close learns from the window that has ended, and begins the next. If weekly, it also fits the
// weights.
func (l *learner) close(weekly bool) {
	losses := make([]float64, len(Voters))
	expected := 0.
	for n, x := range l.noted {
		for i, made := range x {
			l.made[i] += made
		}
		votes := l.votes(x)
		expected += -math.Expm1(-l.level.of() * l.vote.Expected(votes[:]))
		for i, risk := range votes {
			losses[i] += Loss(risk, l.failed[n])
		}
		if l.failed[n] {
			l.remember(x)
		}
	}
	l.sizes.learn(len(l.failed), len(l.noted), expected)
	l.vote.Learn(losses)
	l.level.learn(float64(len(l.failed)), expected, l.span)
	if weekly {
		l.fit()
	}
	l.open()
}

// remember stores the features of a node that failed. Once there are too many, the newest replaces
// the oldest, and the oldest's share of the time seen is removed too.
func (l *learner) remember(x []float64) {
	if len(l.seen) < mostSeen {
		l.seen = append(l.seen, append([]float64(nil), x...))
		return
	}
	copy(l.seen[l.oldest], x)
	l.oldest = (l.oldest + 1) % mostSeen
	for i := range l.made {
		l.made[i] *= 1 - 1./mostSeen
	}
}

// fit fits the weights to everything that is remembered.
func (l *learner) fit() {
	for range rounds {
		clear(l.accounted)
		for _, x := range l.seen {
			sum := l.sum(x)
			// share is the mean number of failures of a node that failed at least once.
			share := 1 / -math.Expm1(-sum)
			for i, made := range x {
				l.accounted[i] += share * l.weights[i] * made
			}
		}
		for i := range l.weights {
			weight, failures := l.past.prior(i)
			l.weights[i] = (failures + l.accounted[i]) / (failures/weight + l.made[i])
		}
	}
}

func (l *learner) sum(x []float64) float64 {
	sum := 0.
	for i, made := range x {
		sum += l.weights[i] * made
	}
	return max(sum, math.SmallestNonzeroFloat32)
}

// Voters are the models that vote: a constant rate, a rate of each node, such a rate that fades,
// and the weighted sum of all features.
var Voters = [...]string{"constant", "rates", "fading", "features"}

// votes returns the failures that each of the Voters expects.
func (l *learner) votes(x []float64) [len(Voters)]float64 {
	return [...]float64{x[constant], x[frail], x[frailLately], l.sum(x)}
}

// ask returns the features of a node, and the expected number of its failures within the span. A
// negative n stands for a node of which nothing is known.
func (l *learner) ask(n int) (x []float64, expected float64) {
	x = make([]float64, len(l.weights))
	l.past.fill(x, n, l.within)
	votes := l.votes(x)
	return x, l.level.of() * l.vote.Expected(votes[:])
}
