// Package mixture weighs experts by how well they have forecast so far: prediction
// with expert advice by exponential weights (Cesa-Bianchi and Lugosi 2006, chapter 2).
package mixture

import "math"

// Weights are the mixture weights of a fixed number of experts. There are weights for
// each group of questions, and those of a group sum up to 1. In group g, expert i has a
// weight proportional to
//
//	exp(-rate * (P(i) + L(i,g)))
//
// P(i) is the decayed sum of the expert's past losses in all groups together, L(i,g) the
// decayed sum of those in g. A new group has no L yet, so it begins with weights by P.
//
// A loss is a CRPS, between 0 and 1. At a rate of up to 1/2 it is exp-concave:
// exp(-rate * loss) of the mixture is at least the weighted mean of the experts'. If losses
// did not decay, the total loss of the mixture would then exceed that of the best expert
// by a constant at most. At a rate of 2 that bound needs another way to combine the
// distributions than to average them (V'yugin and Trunov 2019). Here the rate is 2 and they
// are averaged: the bound is given up, to follow the best expert sooner. Losses decay so
// that the weights follow when another expert becomes the best.
type Weights struct {
	pooled []float64            // P, by expert
	groups map[string][]float64 // L, by group and expert
}

const (
	rate       = 2
	poolDecay  = .99  // per outcome of weight 1 in any group: a half-life of 69 outcomes
	groupDecay = .998 // per outcome of weight 1 in the group: a half-life of 346 outcomes
	mostGroups = 10_000
)

// New returns equal weights of a number of experts.
func New(experts int) Weights {
	return Weights{pooled: make([]float64, experts), groups: map[string][]float64{}}
}

// Learn adds the loss of every expert in one outcome, which has a weight between 0 and 1. For an
// expert without an opinion the caller passes the mixture's loss. The expert then neither gains nor
// loses weight by its silence (the specialists of Freund et al. 1997).
func (w *Weights) Learn(group string, losses []float64, weight float64) {
	own, ok := w.groups[group]
	if !ok {
		if len(w.groups) == mostGroups {
			clear(w.groups)
		}
		own = make([]float64, len(w.pooled))
		w.groups[group] = own
	}
	ofPool, ofGroup := math.Pow(poolDecay, weight), math.Pow(groupDecay, weight)
	for i, loss := range losses {
		w.pooled[i] = w.pooled[i]*ofPool + weight*loss
		own[i] = own[i]*ofGroup + weight*loss
	}
}

// Fill sets weights[i] to the weight of expert i in a group.
func (w *Weights) Fill(weights []float64, group string) {
	own := w.groups[group]
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
