// Package recalibration replaces the probabilities that a forecaster names by the
// frequencies with which such probabilities came true.
//
// The probability integral transform (PIT) of an outcome w under its forecast F is
// F(w), with the atom at 0 spread at random. If the forecasts are calibrated, their
// PITs are uniform on [0,1]. The distribution C of past PITs therefore says what the
// forecaster's probabilities are worth, and F is replaced by C(F). This is split
// conformal prediction with the PIT as conformity score, and old outcomes weigh less
// (a conformal predictive system: Vovk et al. 2019).
//
// Four parts work together, each in a file of its own:
//
//   - Memories (memory.go, histogram.go). If the outcomes were exchangeable, the
//     intervals would hold as often as they say. They are not: the error is at most
//     the sum over past outcomes of their weight times how different the world was
//     then (Barber et al. 2023). A half-life of some 350 outcomes keeps that small,
//     and leaves C uncertain by some percent. Where the world does not change, ten
//     times that half-life is better. So there are two memories, and the result is a
//     mixture of both, weighted by their recent scores as experts are.
//   - Strata (strata.go). A forecaster may err in another way when it speaks of days
//     than when it speaks of minutes. So each stratum of forecasts, told apart by the
//     forecast alone, has a C of its own, shrunk towards that of all (Mondrian
//     conformal prediction).
//   - Feedback (feedback.go). Whatever error remains is removed in the long run by
//     adaptive conformal inference. It is slow on purpose: only C follows a change.
//   - Lower bounds (lower.go). A finite sample leaves every probability uncertain. Its
//     lower confidence bound is what a promise may rest on.
//
// The limits: this is true in the long run and of all forecasts together, not of every
// user or every hour. And an outcome is known only when the wait is over, by when many
// later forecasts have been made.
package recalibration

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/mixture"
)

// Recalibration learns from the outcomes of one forecaster's forecasts.
type Recalibration struct {
	memories [memories]memory // that with the shorter half-life first
	weights  mixture.Weights  // of the memories
	feedback feedback
	next     int // the curve to update next: memories*stratum + memory
	lower    lowerBound
}

const memories = 2

// decays are the memories', per outcome: half-lives of 346 and 3465 outcomes.
var decays = [memories]float64{.998, .9998}

// Forecast is a recalibrated forecast.
type Forecast struct {
	Wait delay.Distribution
	by   [memories]delay.Distribution // by each memory alone
}

// New returns a Recalibration that changes nothing yet. Its lower bounds hold with a
// confidence of .95.
func New() *Recalibration {
	r := &Recalibration{weights: mixture.New(memories)}
	for k := range r.memories {
		r.memories[k] = newMemory(decays[k], &r.feedback)
	}
	r.SetConfidence(.95)
	return r
}

// SetConfidence sets the confidence of the lower bounds, in (0,1).
func (r *Recalibration) SetConfidence(confidence float64) {
	r.lower = lowerBound{confidence: confidence}
	r.lower.update(r.Effective())
}

// Learn takes in the outcome, a delay in seconds, of a forecast as it was made and as
// it was recalibrated then. random, uniform on [0,1), spreads the atom at 0.
func (r *Recalibration) Learn(raw *delay.Distribution, recalibrated *Forecast, seconds, random float64) {
	i, pit := stratum(raw), raw.Rank(seconds, random)
	losses := make([]float64, memories)
	for k := range r.memories {
		r.memories[k].learn(i, pit)
		losses[k] = recalibrated.by[k].CRPS(seconds)
	}
	r.weights.Learn("", losses)
	r.feedback.learn(recalibrated.Wait.Rank(seconds, random))
	// Curves change so slowly that to update one of them at a time is enough.
	r.memories[r.next%memories].update(r.next/memories, &r.feedback)
	r.next = (r.next + 1) % (strata * memories)
	r.lower.update(r.Effective())
}

// Apply sets to to what raw is recalibrated to.
func (r *Recalibration) Apply(raw *delay.Distribution, to *Forecast) {
	i := stratum(raw)
	to.Wait = delay.Distribution{}
	weights := make([]float64, memories)
	r.weights.Of("", weights)
	for k, weight := range weights {
		r.memories[k].curves[i].apply(raw, &to.by[k])
		to.Wait.Mix(&to.by[k], weight)
	}
}

// Lower sets low to lower confidence bounds on the probabilities of d, which Apply has
// returned.
func (r *Recalibration) Lower(d, low *delay.Distribution) { r.lower.apply(d, low) }

// Effective returns the effective sample size of the memory with the shorter
// half-life: how many outcomes of equal weight would say as much.
func (r *Recalibration) Effective() float64 { return r.memories[0].all.effective() }
