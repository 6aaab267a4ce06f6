package expert

import (
	"cmp"
	"math/rand/v2"
	"sync"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/walltime"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/features"
	"github.com/varq-project/varq/predictor/forecast/forest"
	"github.com/varq-project/varq/predictor/forecast/pending"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// Forest forecasts from the waits of jobs in similar situations. Package features turns a
// situation into numbers, and package forest learns which situations are similar. Waits are of
// seconds in which the job can start: those in which Slurm's reservations keep it from that do not
// count, neither to what the Forest is told of waits nor to what it forecasts.
type Forest struct {
	extractor  *features.Extractor
	twin       *twin.Twin // or nil
	simulating sync.Mutex // guards twin and anchors while forecasts ask
	anchors    anchors
	model      *forest.Model
	resting    *forest.Model            // of the rests of waits; see Waiting
	beyond     *beyond                  // or nil, without a twin
	watch      *watch                   // or nil, without a twin
	waiting    pending.Sample[anchored] // by job
	recent     forecast.Recent[*situation]
}

// situation is a question as a case of the model.
type situation struct {
	features  features.Vector
	asCase    anchored
	simulated float64 // the wait that the twin expects, in seconds
	policy    string  // of the twin, or empty
}

// anchored is a case of the model with its anchor.
type anchored struct {
	forest.Case
	anchor
}

// NewForest returns a Forest that has learnt nothing. If t is not nil, the Forest tells t of each
// event, adds what t expects to the features of a situation, and what a watch of the jobs that wait
// tells, and learns thoroughly: the twin's rollouts cost more than that. Trees grow in the
// Background, or at once if that is nil.
func NewForest(rng *rand.Rand, t *twin.Twin, b forest.Background) *Forest {
	count, effort := features.Count, forest.Light
	if t != nil {
		count, effort = count+simulated+len(horizons), forest.Thorough
	}
	f := &Forest{
		extractor: features.New(),
		twin:      t,
		model:     forest.New(count, effort, rng, b),
		resting:   forest.New(count+aging, forest.Light, rand.New(rand.NewPCG(5, 5)), b),
		waiting:   pending.New[anchored](),
	}
	if t != nil {
		f.beyond = newBeyond()
		f.watch = newWatch(t.Queue(), rng, b)
		f.model.Late(ordered)
	}
	return f
}

// simulated is the number of features that a twin adds. The last of them, ordered, tell the job's
// place in Slurm's own order, and are 0 while no priorities are known.
const (
	simulated = 2 + rollout.Orders + ordered
	ordered   = 2
)

// SlowDown slows down the growth of trees, as forest.Model's method says.
func (f *Forest) SlowDown(factor int) {
	f.model.SlowDown(factor)
	f.resting.SlowDown(factor)
	if f.watch != nil {
		f.watch.hazards.SlowDown(factor)
	}
}

// Name returns "forest".
func (*Forest) Name() string { return "forest" }

// Forecast implements forecast.Forecaster.
func (f *Forest) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	s := f.situation(q)
	*a = forecast.Answer{}
	a.Sample = float64(min(f.model.Learnt(), 1000))
	a.Simulated = s.policy
	if !f.model.Predict(s.asCase.Case, &a.Wait) {
		return false
	}
	if f.beyond != nil {
		a.Beyond = f.beyond.apply(&a.Wait, s.asCase.anchor, &q.Request)
	}
	return true
}

// situation returns the situation of a question.
func (f *Forest) situation(q *forecast.Question) *situation {
	if s, ok := f.recent.Get(q); ok {
		return s
	}
	s := new(situation)
	since := cmp.Or(q.Since, q.Submit)
	f.extractor.Look(&q.Request, q.Job, q.Now, since, &s.features)
	known := s.features[:len(s.features):len(s.features)]
	if f.twin != nil {
		p := f.simulate(q, since)
		s.asCase.anchor = anchorOf(&p)
		s.simulated, s.policy = float64(p.Expected), p.Policy.String()
		known = append(known, features.Delay(s.simulated), features.Delay(float64(p.Limits)))
		for _, wait := range p.ByOrder {
			known = append(known, features.Delay(float64(wait)))
		}
		known = f.watch.logOdds(known, &s.features, q.Limit, since, q.Now)
		ahead := float32(0)
		if p.Ordered {
			ahead = features.Delay(float64(p.Ahead))
		}
		known = append(known, ahead, float32(p.Later))
	}
	if q.Since != 0 {
		s.asCase.Case = f.resting.Case(append(known, sight(&s.features, q.Limit, since, q.Now)[len(s.features):]...))
	} else {
		s.asCase.Case = f.model.Case(known)
	}
	f.recent.Put(q, s)
	return s
}

// simulate returns what the twin expects of a question about a job that waits, or will wait, from a
// time on.
func (f *Forest) simulate(q *forecast.Question, since int64) twin.Point {
	f.simulating.Lock()
	defer f.simulating.Unlock()
	windows := f.twin.Windows(q.Place()).For(q.Limit)
	if q.Submit > q.Now+MinLead { // it comes behind all that waits then
		return f.twin.PointAt(&q.Request, q.Now, since, q.Job).Serving(windows, q.Submit)
	}
	p := f.twin.PointAt(&q.Request, q.Now, min(since, q.Now), q.Job)
	if q.Since == 0 {
		now := *q
		now.Submit = q.Now
		f.anchors.add(&now, anchorOf(&p))
	}
	return p.Serving(windows, q.Now)
}

// Gather tells the twin that many jobs which wait are asked about now; see twin.Twin.Gather.
func (f *Forest) Gather(now int64) {
	if f.twin == nil {
		return
	}
	f.simulating.Lock()
	defer f.simulating.Unlock()
	f.twin.Gather(now)
}

// Windows returns what Slurm's reservations leave of the nodes of a place; see
// twin.Twin.Windows. Without a twin none are known.
func (f *Forest) Windows(place workload.Place) rollout.Windows {
	if f.twin == nil {
		return nil
	}
	f.simulating.Lock()
	defer f.simulating.Unlock()
	return f.twin.Windows(place)
}

// Lets returns the share of others that a job lets go before it; see twin.Twin.Lets. Without a twin
// nothing is known of that.
func (f *Forest) Lets(r *workload.Request) float64 {
	if f.twin == nil {
		return 1
	}
	f.simulating.Lock()
	defer f.simulating.Unlock()
	return f.twin.Lets(r)
}

// RunTime returns the distribution of the run time of a job with q's Request, as the twin predicts
// it. Without a twin nothing but the time limit is known.
func (f *Forest) RunTime(q *forecast.Question) walltime.Distribution {
	if f.twin == nil {
		var nothing walltime.Predictor
		return nothing.Distribution(&sched.Job{Limit: q.Limit}, 0)
	}
	f.simulating.Lock()
	defer f.simulating.Unlock()
	return f.twin.RunTime(&q.Request, q.Submit)
}

// Occupants are those that ask gets of the twin, or none without a twin.
func (f *Forest) Occupants(ask func(*twin.Twin) *twin.Occupants) *twin.Occupants {
	if f.twin == nil {
		return new(twin.Occupants)
	}
	f.simulating.Lock()
	defer f.simulating.Unlock()
	return ask(f.twin)
}

// Submitted implements forecast.Observer.
func (f *Forest) Submitted(j *workload.Job) {
	if j.Count() == 1 && f.waiting.Wants(j.ID) {
		q := forecast.AtSubmission(j)
		s := f.situation(&q)
		f.waiting.Put(j.ID, s.asCase)
		if f.watch != nil {
			f.watch.submitted(j, &s.features)
		}
		if f.beyond != nil && !s.asCase.endless && !licensed(&j.Request) && f.beyond.share(s.asCase.anchor) > 0 {
			var plain delay.Distribution
			if f.model.Predict(s.asCase.Case, &plain) {
				f.beyond.expect(j, &plain, s.asCase.anchor)
			}
		}
	}
	f.model.Grow() // here, since Started should be fast
	f.changed()
	f.extractor.Submitted(j)
	if f.twin != nil {
		f.beyond.trust.Wait(j.Since())
		f.twin.Submitted(j)
		f.watch.look(f.extractor, j.Since())
	}
}

// Changed implements forecast.Changer.
func (f *Forest) Changed(j *workload.Job) {
	f.changed()
	f.extractor.Changed(j)
	if f.twin != nil {
		f.twin.Changed(j)
	}
}

// Started implements forecast.Observer.
func (f *Forest) Started(j *workload.Job) {
	if c, ok := f.waiting.Take(j.ID); ok {
		if wait, ok := j.Wait(); ok {
			f.model.Learn(c.Case, float64(wait))
			if f.beyond != nil && !c.endless && !licensed(&j.Request) {
				f.beyond.learn(c.anchor, float64(wait), j.User)
			}
		}
	}
	f.changed()
	f.extractor.Started(j)
	if f.twin != nil {
		f.beyond.trust.Started(j.ID, j.Start)
		f.twin.Started(j)
		f.watch.started(j)
	}
}

// Ended implements forecast.Observer.
func (f *Forest) Ended(j *workload.Job) {
	f.waiting.Take(j.ID)
	f.changed()
	f.extractor.Ended(j)
	if f.twin != nil {
		f.beyond.trust.Ended(j.ID, j.End)
		f.twin.Ended(j)
		f.watch.ended(j)
		f.watch.look(f.extractor, j.End)
	}
}

// changed forgets the situations that were asked about.
func (f *Forest) changed() {
	f.recent.Forget()
	f.anchors.recent.Forget()
}
