package forecast

import (
	"cmp"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/mixture"
	"github.com/varq-project/varq/predictor/forecast/pending"
	"github.com/varq-project/varq/predictor/forecast/recalibration"
	"github.com/varq-project/varq/predictor/workload"
)

// Blend is what several forecasters say together: a mixture, in which each has the
// share that its recent scores in the class of the job have earned, calibrated by
// what has come true of the mixture before. It learns from the forecast that it
// makes of every job when that begins to wait.
//
// It refuses to forecast while a forecaster says that the cluster is down.
type Blend struct {
	name        string
	members     members
	rng         *rand.Rand
	weights     mixture.Weights
	calibration *recalibration.Recalibration
	asked       pending.Sample[*said]
	last        atomic.Pointer[said]
	spare       sync.Pool // of *said, as most answers have nothing to teach
	unheard     Answer    // to what only the Blend itself asks
}

// said is what is to be remembered of an answer until the truth is known.
type said struct {
	question   Question
	ok         bool
	class      string
	opinions   []opinion // of the members
	blended    delay.Distribution
	calibrated recalibration.Forecast
}

// opinion is what one member said.
type opinion struct {
	answered bool
	wait     delay.Distribution
	Evidence
}

// NewBlend returns a Blend of members, which it tells what happens. What chance
// the randomness is of only matters for delays of 0.
func NewBlend(name string, rng *rand.Rand, members ...Forecaster) *Blend {
	return &Blend{
		name:        name,
		members:     members,
		rng:         rng,
		weights:     mixture.New(len(members)),
		calibration: recalibration.New(),
		asked:       pending.New[*said](),
		spare:       sync.Pool{New: func() any { return &said{opinions: make([]opinion, len(members))} }},
	}
}

// Name implements Forecaster.
func (b *Blend) Name() string { return b.name }

// Forecast implements Forecaster.
func (b *Blend) Forecast(q *Question, a *Answer) bool {
	s := b.spare.Get().(*said)
	ok := b.say(q, a, s)
	b.remember(s)
	return ok
}

// say makes a forecast, and takes it down in s.
func (b *Blend) say(q *Question, a *Answer, s *said) bool {
	s.question, s.class = *q, classOf(&q.Request)
	shares := make([]float64, len(b.members))
	b.weights.Of(s.class, shares)
	down, sum := "", 0.
	for i, m := range b.members {
		o := &s.opinions[i]
		o.answered = m.Forecast(q, a)
		o.wait, o.Evidence = a.Wait, a.Evidence
		down = cmp.Or(down, o.Down)
		if o.answered {
			sum += shares[i]
		}
	}
	*a = Answer{Evidence: Evidence{Down: down}}
	s.ok = down == "" && sum != 0
	if sum == 0 {
		return false
	}
	s.blended = delay.Distribution{}
	a.Members = make([]Member, 0, len(b.members))
	for i := range s.opinions {
		o := &s.opinions[i]
		if !o.answered {
			continue
		}
		share := shares[i] / sum
		s.blended.Mix(&o.wait, share)
		a.Sample += share * o.Sample
		a.Changed = max(a.Changed, o.Changed)
		a.Class = cmp.Or(a.Class, o.Class)
		a.Members = append(a.Members, Member{b.members[i].Name(), share, o.Evidence})
	}
	a.Calibrated = b.calibration.Effective()
	addTails(&s.blended)
	b.calibration.Apply(&s.blended, &s.calibrated)
	a.Wait = s.calibrated.Wait
	b.calibration.Lower(&a.Wait, &a.Lower)
	return s.ok
}

// remember keeps what was said last, instead of what was before.
func (b *Blend) remember(s *said) {
	if old := b.last.Swap(s); old != nil {
		b.spare.Put(old)
	}
}

// classOf names the jobs among which scores are compared.
func classOf(r *workload.Request) string { return r.Partition + "/" + r.QOS }

// Submitted implements Observer.
func (b *Blend) Submitted(j *workload.Job) {
	b.expect(j, ask(j))
	b.members.Submitted(j)
}

// Started implements Observer.
func (b *Blend) Started(j *workload.Job) {
	b.started(j)
	b.members.Started(j)
}

// Ended implements Observer.
func (b *Blend) Ended(j *workload.Job) {
	b.ended(j)
	b.members.Ended(j)
}

// expect asks about a job that begins to wait, to learn from what becomes of it.
func (b *Blend) expect(j *workload.Job, q Question) {
	if b.asked.Wants(j.ID) {
		if s := b.last.Load(); s == nil || s.question != q {
			b.Forecast(&q, &b.unheard)
		}
		b.asked.Put(j.ID, b.last.Swap(nil))
	}
	b.changed()
}

// started learns from a job that was expected.
func (b *Blend) started(j *workload.Job) {
	if s, ok := b.asked.Take(j.ID); ok {
		if wait, ok := j.Wait(); ok && s.ok {
			b.learn(s, float64(wait))
		}
		b.spare.Put(s)
	}
	b.changed()
}

// ended expects a job no longer.
func (b *Blend) ended(j *workload.Job) {
	if s, ok := b.asked.Take(j.ID); ok {
		b.spare.Put(s)
	}
	b.changed()
}

// changed makes what was said last a thing of the past.
func (b *Blend) changed() { b.remember(nil) }

// learn takes in what came true.
func (b *Blend) learn(s *said, wait float64) {
	scores := make([]float64, len(b.members))
	own := s.blended.CRPS(wait)
	for i := range scores {
		scores[i] = own
		if o := &s.opinions[i]; o.answered {
			scores[i] = o.wait.CRPS(wait)
		}
	}
	b.weights.Learn(s.class, scores)
	b.calibration.Learn(&s.blended, &s.calibrated, wait, b.rng.Float64())
}
