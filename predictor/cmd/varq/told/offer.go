package told

import (
	"cmp"

	"github.com/varq-project/varq/predictor/api"
)

// Offer says how an offer differs from the request refused.
func Offer(o *api.Offer) string { return cmp.Or(offers[o.Kind], "Another offer") }

// offers says so for each kind.
var offers = map[string]string{
	api.OfferProb:  "The best probability for this deadline",
	api.OfferFree:  "With work that starts as soon as the job does, at any time until the deadline",
	api.OfferLater: "The earliest deadline for this probability",
	api.OfferNodes: "A smaller job",
	api.OfferTime:  "A shorter job",
	api.OfferCost:  "The same, with a higher --max-cost",
	api.OfferEnd:   "Another deadline",
	api.OfferSaves: "With checkpoints, from which the job goes on after a failure",
}
