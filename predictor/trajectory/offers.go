package trajectory

import "math"

// Kind tells in what an offer differs from the request.
type Kind string

// The kinds of offer.
const (
	OfferProb  Kind = "probability" // the best probability for this deadline
	OfferLater Kind = "deadline"    // the earliest deadline for this probability
	OfferNodes Kind = "nodes"       // the same with fewer nodes
	OfferTime  Kind = "time"        // the same with less time
)

// Offer is a request that can be promised, and the plan it would get.
type Offer struct {
	Kind    Kind
	Request Request
	Plan    *Plan
}

func (p *Planner) offers(_ *Request, _ int) []Offer { return nil }

// floor2 rounds a probability down to two decimals.
func floor2(p float64) float64 { return math.Floor(p*100+1e-9) / 100 }
