// Package mixture weighs experts by how well they have forecast so far: prediction
// with expert advice by exponential weights (Cesa-Bianchi and Lugosi 2006, chapter 2).
package mixture

import "math"

// Weights are the mixture weights of a fixed number of experts, which sum up to 1.
// The weight of an expert is proportional to exp(-rate * loss), where loss is the
// decayed sum of its past losses in a class plus that over all classes. A new class
// therefore begins with the weights of all classes.
//
// A loss is a CRPS, between 0 and 1. At a rate of 1/2, exp(-rate * CRPS) of a mixture
// is at least the mixture of the experts' own, and the mixture's total loss exceeds
// that of the best expert by a constant at most. At a rate of 2 that holds only for
// other ways to combine experts than a mixture (V'yugin and Trunov 2019). The higher
// rate is chosen since it follows the best expert sooner; it has no such guarantee.
// Losses decay so that the weights follow when another expert becomes the best.
type Weights struct {
	pooled  []float64 // decayed losses over all classes, by expert
	classes map[string][]float64
}

const (
	rate        = 2
	poolDecay   = .99  // per outcome in any class: a half-life of 69 outcomes
	classDecay  = .998 // per outcome in the class: a half-life of 346 outcomes
	mostClasses = 10_000
)

// New returns equal weights of a number of experts.
func New(experts int) Weights {
	return Weights{pooled: make([]float64, experts), classes: map[string][]float64{}}
}

// Learn adds the loss of every expert in one outcome. An expert that had no opinion
// takes the mixture's own loss, so that it neither gains nor loses weight by its
// silence (the specialists of Freund et al. 1997).
func (w *Weights) Learn(class string, losses []float64) {
	own, ok := w.classes[class]
	if !ok {
		if len(w.classes) == mostClasses {
			clear(w.classes)
		}
		own = make([]float64, len(w.pooled))
		w.classes[class] = own
	}
	for i, loss := range losses {
		w.pooled[i] = w.pooled[i]*poolDecay + loss
		own[i] = own[i]*classDecay + loss
	}
}

// Of sets weights, one for each expert, to those in a class.
func (w *Weights) Of(class string, weights []float64) {
	own := w.classes[class]
	least := math.Inf(1)
	for i := range weights {
		weights[i] = w.pooled[i]
		if own != nil {
			weights[i] += own[i]
		}
		least = min(least, weights[i])
	}
	sum := 0.
	for i := range weights {
		weights[i] = math.Exp(rate * (least - weights[i]))
		sum += weights[i]
	}
	for i := range weights {
		weights[i] /= sum
	}
}
