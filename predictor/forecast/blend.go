package forecast

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/varq-project/varq/predictor/delay"
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
	weights     weights
	calibration *Calibration
	asked       awaited[*said]
	last        atomic.Pointer[said]
}

// said is an answer on its way to the truth.
type said struct {
	question Question
	answer   Answer
	ok       bool
	class    string
	blended  delay.Distribution // before calibration
	members  []Answer
	answered []bool
}

// NewBlend returns a Blend of members, which it tells what happens. What chance
// the randomness is of only matters for delays of 0.
func NewBlend(name string, rng *rand.Rand, members ...Forecaster) *Blend {
	return &Blend{
		name:        name,
		members:     members,
		rng:         rng,
		weights:     newWeights(len(members)),
		calibration: NewCalibration(),
		asked:       newAwaited[*said](),
	}
}

// Name implements Forecaster.
func (b *Blend) Name() string { return b.name }

// Forecast implements Forecaster.
func (b *Blend) Forecast(q *Question, a *Answer) bool {
	s := b.say(q)
	b.last.Store(s)
	*a = s.answer
	return s.ok
}

// say makes a forecast.
func (b *Blend) say(q *Question) *said {
	s := &said{
		question: *q, class: classOf(&q.Request),
		members: make([]Answer, len(b.members)), answered: make([]bool, len(b.members)),
	}
	shares := make([]float64, len(b.members))
	b.weights.of(s.class, shares)
	sum := 0.
	for i, m := range b.members {
		s.answered[i] = m.Forecast(q, &s.members[i])
		if s.members[i].Down != "" && s.answer.Down == "" {
			s.answer.Down = s.members[i].Down
		}
		if s.answered[i] {
			sum += shares[i]
		}
	}
	if sum == 0 {
		return s
	}
	for i := range s.members {
		if !s.answered[i] {
			continue
		}
		share := shares[i] / sum
		of := &s.members[i]
		s.blended.Mix(&of.Wait, share)
		s.answer.Sample += share * of.Sample
		s.answer.Changed = max(s.answer.Changed, of.Changed)
		if s.answer.Class == "" {
			s.answer.Class = of.Class
		}
		s.answer.Members = append(s.answer.Members, Member{b.members[i].Name(), share, of.Evidence})
	}
	s.answer.Calibrated = b.calibration.Effective()
	addTails(&s.blended)
	s.answer.Wait = s.blended
	b.calibration.Apply(&s.answer.Wait)
	b.calibration.Lower(&s.answer.Wait, &s.answer.Lower)
	s.ok = s.answer.Down == ""
	return s
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
	if b.asked.wants(j.ID) {
		s := b.last.Load()
		if s == nil || s.question != q {
			s = b.say(&q)
		}
		b.asked.put(j.ID, s)
	}
	b.changed()
}

// started learns from a job that was expected.
func (b *Blend) started(j *workload.Job) {
	if s, ok := b.asked.take(j.ID); ok && s.ok {
		if wait, ok := j.Wait(); ok {
			b.learn(s, float64(wait))
		}
	}
	b.changed()
}

// ended expects a job no longer.
func (b *Blend) ended(j *workload.Job) {
	b.asked.take(j.ID)
	b.changed()
}

// changed makes what was said last a thing of the past.
func (b *Blend) changed() { b.last.Store(nil) }

// learn takes in what came true.
func (b *Blend) learn(s *said, wait float64) {
	scores := make([]float64, len(b.members))
	own := Score(&s.blended, wait)
	for i := range scores {
		scores[i] = own
		if s.answered[i] {
			scores[i] = Score(&s.members[i].Wait, wait)
		}
	}
	b.weights.learn(s.class, scores)
	b.calibration.Learn(&s.blended, &s.answer.Wait, wait, b.rng.Float64())
}
