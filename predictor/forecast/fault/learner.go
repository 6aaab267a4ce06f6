package fault

import "math"

// learner learns the risk of a node for one horizon: whether it fails within a span from now on.
// Time is cut into windows of that span. When one begins, the learner notes the features of each
// node; when it ends, it learns from which nodes failed.
//
// The number of failures expected of a node is a sum of features, each times its weight, which is
// how many failures the feature has accounted for over how many it would have made if its weight
// were 1. Both sums have a prior (gamma), and each failure is shared out among the features in
// proportion to what they made likely (expectation maximisation). As no feature has a negative
// weight, and each needs failures to gain some, the sum stays near what is known to be safe where
// little has been seen.
type learner struct {
	span      float64
	end       float64 // of the window
	past      *past
	within    *faded
	noted     [][]float64 // by node: its features when the window began
	failed    map[int]bool
	weights   []float64
	made      []float64   // by feature: the failures that it would have made with weight 1
	accounted []float64   // by feature: the failures that it made, as fit shares them out
	seen      [][]float64 // the features of nodes that failed
	oldest    int         // of seen, once it is full
	vote      Vote
	level     level
	sizes     sizes
}

const (
	// frailStarts and its like are weights before anything was learnt, and frailSure and its like
	// how many failures they count for. Those of events that are not failures are small: many nodes
	// may have them at once.
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

// close learns from the window that has ended, weekly also the weights, and begins the next.
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

// remember keeps the features of a node that failed. Once there are too many, the oldest goes, and
// with it its share of the time that has been seen.
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

// fit fits the weights to all that is remembered.
func (l *learner) fit() {
	for range rounds {
		clear(l.accounted)
		for _, x := range l.seen {
			sum := l.sum(x)
			// So many failures made the node fail, at least once, in the mean.
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

// Voters are the models that vote: a constant rate, a rate of each node, one that fades, and the
// sum of all features.
var Voters = [...]string{"constant", "rates", "fading", "features"}

// votes returns the failures expected by each of the Voters.
func (l *learner) votes(x []float64) [len(Voters)]float64 {
	return [...]float64{x[constant], x[frail], x[frailLately], l.sum(x)}
}

// ask returns the features of a node, and how many failures of it are expected within the span. A
// negative n stands for a node of which nothing is known.
func (l *learner) ask(n int) (x []float64, expected float64) {
	x = make([]float64, len(l.weights))
	l.past.fill(x, n, l.within)
	votes := l.votes(x)
	return x, l.level.of() * l.vote.Expected(votes[:])
}
