// Package negotiate finds the deadline by which the end of a job can be promised. It follows
// Oliner, Rudolph, Sahoo, Moreira and Gupta, "Probabilistic QoS Guarantees for Supercomputing
// Systems" (DSN 2005), section 3.5. There the system quotes deadlines with their probabilities: the
// later the deadline, the higher the probability. The user takes the earliest deadline that is
// probable enough for her.
//
// A user who names a deadline and a probability gets a promise, or else other deadlines to choose
// from. A user who names a Risk leaves the choice to varq.
package negotiate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/offer"
)

// Prospect says how probable it is that a job has done its work in time. Package completion has
// one.
type Prospect interface {
	// Prob returns the probability that the work is done within a number of seconds from now.
	Prob(seconds float64) float64
	// Within returns the least number of seconds, a multiple of step, within which it is done with
	// probability prob. It reports false if there is none.
	Within(prob float64, step int64) (seconds int64, ok bool)
	// TimeOut returns the probability that the job is stopped at its time limit before its work is
	// done. The other probabilities are given that it is not. Of an array it is that of a task, and
	// a task that is stopped has ended.
	TimeOut() float64
	// Lost returns by how much failures of nodes lower Prob(seconds).
	Lost(seconds float64) float64
}

// Request asks for the promise of a job's end. Times are Unix seconds.
type Request struct {
	Now int64
	// Deadline is the one asked for, or 0 if any will do that Risk allows.
	Deadline int64
	// Prob is the probability asked for, in (0,1).
	Prob float64
	// Risk, if not 0, is the least probability for which the user takes another deadline than the
	// one asked for, the earliest that has it, without being asked. Without a Deadline it stands
	// for Prob.
	Risk float64
	// Given is true if Deadline and Prob were offered a moment ago.
	Given bool
	// Latest is the latest deadline that is promised or offered unless it is asked for, or 0 if any
	// is.
	Latest int64
}

// Offer is a deadline, in Unix seconds, and a probability that can be promised for it. Estimate is
// the one forecast, which is no less unless the offer was Given.
type Offer struct {
	Deadline       int64
	Prob, Estimate float64
}

// Answer is a promise, or a refusal with its Reason.
type Answer struct {
	// Promise is nil if nothing can be promised that was asked for.
	Promise *Offer
	// Reason is a sentence without a full stop: why there is no promise.
	Reason string
	// Others are other deadlines that can be promised, in the order of time.
	Others []Offer
}

// step is of what deadlines are multiples, in seconds.
const step = 60

// levels are the probabilities that are offered.
var levels = [...]float64{.5, .75, .9, .95, .99}

// Ask answers a request.
func Ask(p Prospect, r Request) (a Answer) {
	asked := r.Prob
	if r.Deadline == 0 {
		asked = r.Risk
	} else if estimate := p.Prob(float64(r.Deadline - r.Now)); estimate >= r.Prob || r.Given && offer.Holds(r.Prob, estimate) {
		a.Promise = &Offer{r.Deadline, r.Prob, estimate}
	} else {
		a.Reason = fmt.Sprintf("an end by the deadline can be promised with probability %.2f at best, not %.6g", prob.Percent(estimate), r.Prob)
		if prob.Percent(estimate) <= 0 {
			a.Reason = "not even a probability of 0.01 can be promised for an end by the deadline"
		}
	}
	if a.Promise == nil && r.Risk != 0 {
		if found, ok := earliest(p, &r, r.Risk); ok {
			a.Promise, a.Reason = &found, ""
			asked = r.Risk
		} else if r.Deadline == 0 {
			a.Reason = fmt.Sprintf("no end can be promised with probability %v, however late", r.Risk)
			if r.Latest != 0 {
				a.Reason = fmt.Sprintf("no end can be promised with probability %v within the time for which the site promises", r.Risk)
			}
		}
	}
	a.Others = others(p, &r, a.Promise, asked)
	return a
}

// earliest returns the offer of the earliest deadline with a probability. It reports false if there
// is none.
func earliest(p Prospect, r *Request, prob float64) (o Offer, ok bool) {
	seconds, ok := p.Within(prob, 1)
	if !ok {
		return o, false
	}
	o.Deadline, o.Prob = (r.Now+seconds+step-1)/step*step, prob
	o.Estimate = p.Prob(float64(o.Deadline - r.Now))
	return o, o.Estimate >= prob && (r.Latest == 0 || o.Deadline <= r.Latest)
}

// leastShare is the least probability that is offered, as a share of the one asked for. Whoever
// needs an end has no use for one that comes less than half as often.
const leastShare = .5

// offered returns the offer of the earliest deadline with a probability, as earliest does, so that
// it still holds when somebody takes it.
func offered(p Prospect, r *Request, prob float64) (o Offer, ok bool) {
	later := *r
	later.Now += offer.Patience
	o, ok = earliest(p, &later, offer.Enough(prob))
	o.Prob = prob
	return o, ok
}

// others returns what else can be promised, for a while: the deadline asked for with its
// probability, and the earliest deadline for each level and for the probability asked for. They are
// in the order of time, and a later one has a higher probability.
func others(p Prospect, r *Request, promise *Offer, asked float64) (list []Offer) {
	if r.Deadline != 0 {
		estimate := p.Prob(float64(r.Deadline - r.Now - offer.Patience))
		list = append(list, Offer{r.Deadline, offer.Most(estimate), estimate})
	}
	for _, level := range append(levels[:], asked) {
		if o, ok := offered(p, r, level); ok {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b Offer) int {
		return cmp.Or(cmp.Compare(a.Deadline, b.Deadline), cmp.Compare(b.Prob, a.Prob))
	})
	most := 0.
	return slices.DeleteFunc(list, func(o Offer) bool {
		if o.Prob <= most {
			return true
		}
		most = o.Prob
		return o.Prob < leastShare*asked || promise != nil && o.Deadline >= promise.Deadline && o.Prob <= promise.Prob
	})
}
