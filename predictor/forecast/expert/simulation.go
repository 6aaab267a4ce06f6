package expert

import (
	"math"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/influence"
	"github.com/varq-project/varq/predictor/forecast/pending"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// Simulation forecasts that a wait will differ from the one that a Forest's twin expects as past
// waits did: in the logarithm, the newest and those that were expected to be alike before all
// others (localised conformal prediction, Guan 2023). Some dozens of waits are enough for it, where
// a Forest needs hundreds, and it is the better the more the twin knows of Slurm's order. A
// forecast costs O(mostErrors).
type Simulation struct {
	name      string
	forest    *Forest
	waiting   pending.Sample[float64] // by job: the logarithm of the wait that was expected
	errors    []misjudged             // a ring, once it is full
	learnt    int                     // how many there have been
	influence *influence.Influence
}

// misjudged has the logarithms of a wait as it was expected, and as it was.
type misjudged struct{ expected, actual, weight float64 }

const (
	mostErrors  = 400 // that are remembered
	leastErrors = 30  // without which nothing is forecast
	// The weight of an error falls to 1/e with so many newer ones, and
	errorsLife = 150
	// if the wait expected then is so much longer or shorter than this one, in the logarithm.
	errorsReach = 2. / 3
	// errorsShift, in seconds, is added to a wait before its logarithm is taken, as differences
	// that are much shorter count little.
	errorsShift = 600
	// leastWeight is the weight of an error, whatever it is of.
	leastWeight = 1e-6
)

// NewSimulation returns a Simulation that has learnt nothing. The caller must tell it of each event
// before it tells f, which must have a twin.
func NewSimulation(f *Forest) *Simulation {
	return &Simulation{name: "simulation", forest: f, waiting: pending.New[float64](), influence: influence.New()}
}

// Name returns "simulation".
func (f *Simulation) Name() string { return f.name }

// Forecast implements forecast.Forecaster.
func (f *Simulation) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	*a = forecast.Answer{}
	s := f.forest.situation(q)
	if len(f.errors) < leastErrors || s.simulated >= twin.Endless {
		return false
	}
	a.Sample = float64(len(f.errors)) // the forest tells what was simulated
	expected, sum := logOf(s.simulated), 0.
	for i := range f.errors {
		e := &f.errors[(f.learnt-1-i)%mostErrors] // the i newer ones come first
		weight := leastWeight + e.weight*math.Exp(-float64(i)/errorsLife-math.Abs(e.expected-expected)/errorsReach)
		wait := math.Exp(expected+e.actual-e.expected) - errorsShift
		if k := delay.Index(max(0, math.Round(wait))); k < delay.Points {
			a.Wait[k] += weight
		}
		sum += weight
	}
	within := 0.
	for k := range a.Wait {
		within += a.Wait[k]
		a.Wait[k] = min(1, within/sum)
	}
	a.Beyond = f.forest.beyond.apply(&a.Wait, s.asCase.anchor, &q.Request)
	return true
}

// logOf returns the logarithm of a wait in seconds.
func logOf(wait float64) float64 { return math.Log(errorsShift + wait) }

// Submitted implements forecast.Observer.
func (f *Simulation) Submitted(j *workload.Job) {
	if j.Count() == 1 {
		f.Expect(j, forecast.AtSubmission(j))
	}
}

// Expect stores what is simulated of a question about a job, until Score or Drop is told of the
// job.
func (f *Simulation) Expect(j *workload.Job, q forecast.Question) {
	if f.waiting.Wants(j.ID) {
		if s := f.forest.situation(&q); s.simulated < twin.Endless {
			f.waiting.Put(j.ID, logOf(s.simulated))
		}
	}
}

// Started implements forecast.Observer.
func (f *Simulation) Started(j *workload.Job) { f.Score(j) }

// Score learns from the wait of a job that has started.
func (f *Simulation) Score(j *workload.Job) {
	expected, ok := f.waiting.Take(j.ID)
	wait, known := j.Wait()
	if !ok || !known {
		return
	}
	e := misjudged{expected, logOf(float64(wait)), f.influence.Weigh(j.User)}
	if len(f.errors) < mostErrors {
		f.errors = append(f.errors, e)
	} else {
		f.errors[f.learnt%mostErrors] = e
	}
	f.learnt++
}

// Ended implements forecast.Observer.
func (f *Simulation) Ended(j *workload.Job) { f.Drop(j) }

// Drop forgets a job that does not start.
func (f *Simulation) Drop(j *workload.Job) { f.waiting.Take(j.ID) }

// NewRest returns a Simulation of the rests of waits, which learns from sights, as a Waiting does.
func NewRest(f *Forest) *Simulation {
	s := NewSimulation(f)
	s.name = "rest"
	return s
}
