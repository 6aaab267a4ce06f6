package forecast

import "math"

// weights are the shares that forecasters have in a blend, by class: exponential
// in their past scores. With the CRPS on [0,1] and a factor of 1/2, exp(-loss/2) of a
// mixture is no less than the mixture of the forecasters' own, and the blend would be
// as good as the best of them but for a constant. With a factor of 2 that is true
// only of cleverer ways to blend than a mixture (V'yugin and Trunov 2019): here it
// is no more than a good choice, which follows the best sooner. Since old losses
// fade, it follows a change of the best.
type weights struct {
	all     []float64 // faded losses
	classes map[string][]float64
}

const (
	learning   = 2    // the factor
	fadeAll    = .99  // of what all classes say
	fadeClass  = .998 // of what a class says itself
	mostShares = 10_000
)

func newWeights(n int) weights {
	return weights{all: make([]float64, n), classes: map[string][]float64{}}
}

// learn takes in the scores of all forecasters about one case. One that did not
// answer is to be given the blend's own score: it neither wins nor loses by its
// silence (Freund et al. 1997, "specialists").
func (w *weights) learn(class string, scores []float64) {
	of, ok := w.classes[class]
	if !ok {
		if len(w.classes) == mostShares {
			clear(w.classes)
		}
		of = make([]float64, len(w.all))
		w.classes[class] = of
	}
	for i, score := range scores {
		w.all[i] = w.all[i]*fadeAll + score
		of[i] = of[i]*fadeClass + score
	}
}

// of sets shares to the forecasters' in a class, adding up to 1.
func (w *weights) of(class string, shares []float64) {
	of := w.classes[class]
	least := math.Inf(1)
	for i := range shares {
		shares[i] = w.all[i]
		if of != nil {
			shares[i] += of[i]
		}
		least = min(least, shares[i])
	}
	sum := 0.
	for i := range shares {
		shares[i] = math.Exp(learning * (least - shares[i]))
		sum += shares[i]
	}
	for i := range shares {
		shares[i] /= sum
	}
}
