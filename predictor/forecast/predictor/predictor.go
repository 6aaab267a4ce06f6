// Package predictor assembles what varqd forecasts with: the experts, a blend of them for
// jobs submitted now and one for jobs submitted later, and the odds that correct forecasts
// on which promises are made.
//
// There are two blends because the present state of the queue says much about a job that
// is submitted now, but less about one that is submitted later. Each blend has mixture
// weights and a recalibration of its own, learnt from questions like those that it answers.
// Users ask about few jobs long before they submit them. So whenever a job is submitted,
// the later blend and its experts rehearse: they answer a question that might have been
// asked about the job some time before, and learn from the outcome.
package predictor

import (
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/walltime"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/blend"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/forecast/forest"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// Predictor is a forecast.Forecaster of any submission, now or later.
type Predictor struct {
	name string
	// of both blends; ahead and simulations come before forest, whose features they share
	experts        forecast.Experts
	forest         *expert.Forest
	ahead          *expert.Ahead
	past           *expert.QBETS
	present, later *blend.Blend
	waiting        *waiting // nil if the queue is not known
	promises       promises
	// about jobs that are submitted now; nil if there is no answer
	sooner forecast.Recent[*forecast.Answer]
}

// Options configure a Predictor. The zero Options are valid.
type Options struct {
	// Pools are the pools of processors that partitions share. If nil they are learnt.
	Pools twin.Pools
	// Background runs tasks that are not urgent. If it is nil, they run at once. Forecasts
	// do not depend on it.
	Background forest.Background
}

// Standard returns the Predictor of varqd. It reads q. The caller must tell q of each event
// before the Predictor. A site's own forecasters join the experts.
func Standard(q *queue.Queue, o Options, rng *rand.Rand, own ...forecast.Forecaster) *Predictor {
	forest := expert.NewForest(rng, twin.New(q, o.Pools), o.Background)
	p := assemble("blend", forest, []forecast.Forecaster{expert.NewSimulation(forest)}, o, rng, own)
	p.waiting = newWaiting(q, forest)
	return p
}

// History returns a Predictor that does not simulate the queue.
func History(o Options, rng *rand.Rand) *Predictor {
	return assemble("history", expert.NewForest(rng, nil, o.Background), nil, o, rng, nil)
}

func assemble(name string, forest *expert.Forest, simulations []forecast.Forecaster, o Options, rng *rand.Rand, own []forecast.Forecaster) *Predictor {
	past := &expert.QBETS{Predictor: qbets.New()}
	ahead := expert.NewAhead(forest, rng, o.Background)
	type list = []forecast.Forecaster
	return &Predictor{
		name: name, forest: forest, ahead: ahead, past: past,
		present:  blend.New(name, rng, slices.Concat(list{forest}, simulations, list{past}, own)...),
		later:    blend.New("later", rng, slices.Concat(list{ahead, past}, own)...),
		experts:  slices.Concat(list{ahead}, simulations, list{forest, past}, own),
		promises: newPromises(),
	}
}

// Present returns the blend for jobs submitted now. It can be used as a Forecaster in place
// of the Predictor where there are no windows in Pools, and saves the cost of the later blend.
func (p *Predictor) Present() forecast.Forecaster {
	return present{p.present, p.experts[1:]} // without ahead
}

// RunTime implements completion.RunTimes.
func (p *Predictor) RunTime(q *forecast.Question) walltime.Distribution { return p.forest.RunTime(q) }

// Experts returns the experts for jobs submitted now. Their answers are of waits by the clock.
func (p *Predictor) Experts() []forecast.Forecaster {
	experts := slices.Clone(p.present.Experts())
	for i, e := range experts {
		experts[i] = clocked{e, p.forest}
	}
	return experts
}

// SetConfidence sets the confidence of the lower bounds on probabilities, in (0,1). The
// default is .95.
func (p *Predictor) SetConfidence(confidence float64) {
	p.present.SetConfidence(confidence)
	p.later.SetConfidence(confidence)
	if p.waiting != nil {
		p.waiting.blend.SetConfidence(confidence)
	}
}

// halfPace is the number of jobs left at which trees grow half as often as with none left.
const halfPace = 1500

// Hurry saves time while the Predictor learns past jobs, of which jobsLeft are still to come
// before forecasts matter. The more jobs are left, the less often trees grow. Hurry(0)
// returns to the usual pace.
func (p *Predictor) Hurry(jobsLeft int) {
	factor := 1 + jobsLeft/halfPace
	p.forest.SlowDown(factor)
	p.ahead.SlowDown(factor)
}

// Hear takes in news of the cluster. Pools count only if Options had any.
func (p *Predictor) Hear(n expert.News) {
	p.forget()
	p.forest.Hear(n)
	p.past.Hear(n)
}

// Name implements forecast.Forecaster.
func (p *Predictor) Name() string { return p.name }

// Forecast implements forecast.Forecaster.
func (p *Predictor) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	if q.Since != 0 {
		return p.rest(q, a)
	}
	if q.Submit <= q.Now+expert.MinLead {
		return clocked{p.present, p.forest}.Forecast(q, a)
	}
	ok := p.later.Forecast(q, a)
	beyond := p.noSooner(q, a)
	p.behind(q, a)
	a.Beyond = max(a.Beyond, beyond)
	byClock(a, p.forest.Windows(q.Place()), q)
	return ok
}

// rest answers a question about a job that waits already. As long as too little is known of such
// jobs, all that is asked is how long jobs wait in all.
func (p *Predictor) rest(q *forecast.Question, a *forecast.Answer) bool {
	if p.waiting != nil && (clocked{p.waiting.blend, p.forest}).Forecast(q, a) {
		return true
	}
	return clocked{aged{p.present}, p.forest}.Forecast(q, a)
}

// Gather tells the Predictor that many jobs which wait are asked about at a time; see
// twin.Twin.Gather.
func (p *Predictor) Gather(now int64) { p.forest.Gather(now) }

// Lets returns the share of others that a job lets go before it; see twin.Twin.Lets.
func (p *Predictor) Lets(r *workload.Request) float64 { return p.forest.Lets(r) }

// Occupants are those that ask gets of the twin: Twin.Occupants or Twin.Licensees.
func (p *Predictor) Occupants(ask func(*twin.Twin) *twin.Occupants) *twin.Occupants {
	return p.forest.Occupants(ask)
}

// forget forgets what was answered last, since what it rests on has changed.
func (p *Predictor) forget() {
	p.present.Forget()
	p.later.Forget()
	if p.waiting != nil {
		p.waiting.blend.Forget()
	}
	p.sooner.Forget()
}

// Submitted implements forecast.Observer.
func (p *Predictor) Submitted(j *workload.Job) {
	p.sooner.Forget()
	if j.Count() == 1 { // the wait of an array's last task is not that of a job
		p.present.Expect(j, forecast.AtSubmission(j))
		if q, ok := p.ahead.Rehearse(j); ok {
			p.later.Expect(j, q)
			p.ahead.Expect(j, &q)
		}
	}
	p.experts.Submitted(j)
	p.look(j.Since())
}

// look lets the forecasts of rests learn, if it is time, after an event.
func (p *Predictor) look(now int64) {
	if p.waiting != nil {
		p.waiting.blend.Forget()
		p.waiting.look(now)
	}
}

// Changed implements forecast.Changer.
func (p *Predictor) Changed(j *workload.Job) {
	p.sooner.Forget()
	p.experts.Changed(j)
}

// Started implements forecast.Observer.
func (p *Predictor) Started(j *workload.Job) {
	p.promises.score(j)
	p.sooner.Forget()
	windows := p.forest.Windows(j.Place())
	if p.waiting != nil {
		p.waiting.started(j, windows)
	}
	j = served(j, windows)
	p.present.Score(j)
	p.later.Score(j)
	p.experts.Started(j)
	p.look(j.Start)
}

// Ended implements forecast.Observer.
func (p *Predictor) Ended(j *workload.Job) {
	p.present.Drop(j)
	p.later.Drop(j)
	p.promises.drop(j)
	p.sooner.Forget()
	if p.waiting != nil {
		p.waiting.ended(j)
	}
	p.experts.Ended(j)
	p.look(j.End)
}
