// Package recalibration replaces the probabilities that a forecaster names by the
// frequencies with which such probabilities came true.
//
// The probability integral transform (PIT) of an outcome w, in whole seconds, under its forecast F
// is drawn uniformly from [F(w-1), F(w)], since many outcomes may be equal. If the forecasts are
// calibrated, their PITs are uniform on [0,1]. In general, let C(u) be the share of past outcomes
// whose PIT was at most u: how often an outcome was within a delay to which the forecaster gave the
// probability u. A forecast probability u is then replaced by C(u). This is split conformal
// prediction with the PIT as conformity score and with weights that decay with age (a conformal
// predictive system: Vovk et al. 2019).
//
// Five parts work together, each in a file of its own:
//
//   - Memories (memory.go, histogram.go). If outcomes were exchangeable, C(u) would come
//     true as often as it says. Since the world changes, they are not. The error is at
//     most a weighted mean over past outcomes, with the weights of C, of how much their
//     distribution differs from today's (Barber et al. 2023). A half-life of some 350
//     outcomes makes that error small, but leaves C uncertain by a few percent. Where the
//     world does not change, a half-life ten times as long is better. So there are two
//     memories. The result is a mixture of both, weighted by their recent scores as
//     experts are.
//   - Strata (strata.go). A forecaster may err in one way when it speaks of days and in
//     another when it speaks of minutes. So forecasts are divided into strata, by the
//     forecast alone. Each stratum has a C of its own, shrunk towards that of all
//     strata together (Mondrian conformal prediction).
//   - Users (users.go). Forecasts may err about one user's jobs in another way than about
//     others'. So a user has a C of her own, shrunk towards that of the stratum. What she
//     teaches the forecasts of others is limited.
//   - Feedback (feedback.go). Adaptive conformal inference removes in the long run
//     whatever error remains. It is slow on purpose: only C follows a change.
//   - Lower bounds (lower.go). A finite sample leaves every probability uncertain. A
//     promise may rest on the lower confidence bound of its probability.
//
// There are two limits. Probabilities come true in the long run and over all forecasts
// together, not for every user or every hour. And an outcome is known only when the wait
// is over; many later forecasts are made before that.
package recalibration

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/mixture"
)

// Recalibration learns from the outcomes of one forecaster's forecasts.
type Recalibration struct {
	memories [len(decays)]memory
	weights  mixture.Weights // of the memories
	sample   sample          // of the memory with the shorter half-life, of all users
	feedback feedback
	users    users
	next     int // the curve to update next: len(decays)*stratum + memory
	bounds   lowerBounds
	lower    lowerBound // of users without outcomes
}

// decays are the decays of the two memories, per outcome: half-lives of 346 and 3465
// outcomes.
var decays = [...]float64{.998, .9998}

// Forecast is a recalibrated forecast.
type Forecast struct {
	Wait delay.Distribution
	by   [len(decays)]delay.Distribution // the forecast recalibrated by each memory alone
}

// New returns a Recalibration that changes nothing yet. Its lower bounds have a
// confidence of .95.
func New() *Recalibration {
	r := &Recalibration{weights: mixture.New(len(decays)), users: users{byName: map[string]*user{}}, sample: sample{priorOutcomes, priorOutcomes}}
	for k := range r.memories {
		r.memories[k] = newMemory(decays[k], &r.feedback)
	}
	r.SetConfidence(.95)
	return r
}

// SetConfidence sets the confidence of the lower bounds, in (0,1).
func (r *Recalibration) SetConfidence(confidence float64) {
	r.bounds = lowerBounds{confidence, map[int]lowerBound{}}
	all := r.sample.effective()
	r.lower = r.bounds.of(all)
	for _, u := range r.users.byName {
		u.lower = r.bounds.of(u.sample.with(all))
	}
}

// Learn takes in an outcome, a delay in seconds, of a user's job. user is empty if nobody
// knows whose job it was. For others' forecasts the outcome has a weight, between 0 and 1.
// raw is its forecast before recalibration, and recalibrated is what Apply made of raw then.
// random is drawn from [0,1); it places the PIT among those of equal delays.
func (r *Recalibration) Learn(user string, weight float64, raw *delay.Distribution, recalibrated *Forecast, seconds, random float64) {
	i, pit := stratum(raw), raw.PIT(seconds, random)
	losses := make([]float64, len(decays))
	for k := range r.memories {
		r.memories[k].learn(i, pit, weight)
		losses[k] = recalibrated.by[k].CRPS(seconds)
	}
	r.weights.Learn("", losses, weight)
	r.sample.learn(decays[0])
	all := r.sample.effective()
	r.lower = r.bounds.of(all)
	var part *feedback
	if user != "" {
		u := r.users.learn(user, pit)
		u.lower, part = r.bounds.of(u.sample.with(all)), &u.part
	}
	r.feedback.learn(recalibrated.Wait.PIT(seconds, random), part)
	// Curves change slowly, so one update for each outcome is enough.
	r.memories[r.next%len(decays)].update(r.next/len(decays), &r.feedback)
	r.next = (r.next + 1) % (strata * len(decays))
}

// Apply recalibrates raw, a forecast for a user, into dst.
func (r *Recalibration) Apply(user string, raw *delay.Distribution, dst *Forecast) {
	i := stratum(raw)
	dst.Wait = delay.Distribution{}
	weights := make([]float64, len(decays))
	r.weights.Fill(weights, "")
	for k, weight := range weights {
		c := &r.memories[k].curves[i]
		if u := r.users.byName[user]; u != nil {
			c = u.curve(k, c, &r.feedback)
		}
		c.apply(raw, &dst.by[k])
		dst.Wait.Mix(&dst.by[k], weight)
	}
}

// LowerBounds sets low to lower confidence bounds on the probabilities of d, a Wait that Apply
// has set for a user.
func (r *Recalibration) LowerBounds(user string, d, low *delay.Distribution) {
	bound := r.lower
	if u := r.users.byName[user]; u != nil {
		bound = u.lower
	}
	bound.apply(d, low)
}

// Effective returns the effective sample size of the memory with the shorter half-life:
// the number of equally weighted outcomes with the same variance.
func (r *Recalibration) Effective() float64 { return r.sample.effective() }
