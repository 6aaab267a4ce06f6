package predictor

import (
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/blend"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/workload"
)

// waiting forecasts how much longer the jobs wait that wait already, by a blend of its own. It
// learns from sights: now and then it asks about a few of them, as users do, and learns from what
// becomes of these.
//
// A sight counts twice: once as soon as its job starts, or judgedAfter seconds after it, and once
// when its job has started.
type waiting struct {
	blend    *blend.Blend
	learners []learner // the blend, and those of its experts that learn from sights
	queue    *queue.Queue
	rng      *rand.Rand
	next     int64             // when it looks next
	sights   map[int64][]sight // by job that waits, those that are not yet learnt from
	order    []seen            // all sights that are to be judged, the oldest first
	longest  float64           // of the newest rests that are known, seconds
	count    int64             // how many sights there have been
}

// learner learns from sights; see expert.Waiting.
type learner interface {
	Expect(sight *workload.Job, q forecast.Question)
	Score(sight *workload.Job)
	Drop(sight *workload.Job)
}

// sight is a job, as experts and blend know it: with an ID of its own, and Eligible at the time of
// the sight.
type sight struct{ id, at int64 }

// seen is a sight of a job.
type seen struct {
	job int64
	sight
}

// judgedAfter is after how many seconds a sight teaches of a job that still waits. If it did only
// when the job starts, then in a time of long waits all that is learnt would be of jobs that start
// soon.
const judgedAfter = 24 * 3600

// judge learns from the sights of the jobs that still wait after some time: from how long they have
// waited since, and how much longer they are forecast to wait now (as temporal differences do,
// Sutton 1988). That is no longer than twice what has been seen of late, so that forecasts that are
// too long do not feed on themselves. What becomes of these jobs in the end is learnt, too.
func (w *waiting) judge(now int64) {
	var a forecast.Answer
	for ; len(w.order) > 0 && w.order[0].at+judgedAfter <= now; w.order = w.order[1:] {
		s := w.order[0]
		j := w.queue.Job(s.job)
		if j == nil || !slices.Contains(w.sights[s.job], s.sight) {
			continue
		}
		q := askedNow(&j.Job, now)
		if !w.blend.Forecast(&q, &a) {
			continue
		}
		of := s.of(&j.Job)
		of.Start = now + int64(min(a.Wait.Quantile(w.rng.Float64()), 2*w.longest, delay.At(delay.Points-1)))
		w.score(of)
	}
}

const (
	// lookEvery is how many seconds pass between two looks, on average.
	lookEvery = 1800
	// hurried is the same until enough sights are known.
	hurried, enough = 300, 500
	// mostSights is the greatest number of sights of one job that are not yet learnt from.
	mostSights = 48
	// longestDecay is the decay of the longest rest, for each that is known.
	longestDecay = .9995
	// looked is how many jobs a look sees at most.
	looked = 3
)

func newWaiting(q *queue.Queue, f *expert.Forest) *waiting {
	rng := rand.New(rand.NewPCG(3, 3)) // its own: other forecasts do not depend on what is asked here
	rest, simulated := expert.NewWaiting(f), expert.NewRest(f)
	b := blend.New("pending", rng, rest, simulated)
	return &waiting{blend: b, learners: []learner{b, rest, simulated}, queue: q, rng: rng, sights: map[int64][]sight{}}
}

// look looks at a few jobs, each as likely as any other, if it is time.
func (w *waiting) look(now int64) {
	if now < w.next {
		return
	}
	w.judge(now)
	every := int64(lookEvery)
	if w.count < enough {
		every = hurried
	}
	w.next = now + 1 + w.rng.Int64N(2*every)
	n, _ := w.queue.Len()
	left := looked
	for j := range w.queue.Pending() {
		// of n jobs of which left are still to be chosen
		if w.rng.IntN(max(1, n)) < left {
			left--
			if j.Count() == 1 && !j.AtLimit && 0 < j.Since() && j.Since() < now && len(w.sights[j.ID]) < mostSights {
				w.see(&j.Job, now)
			}
		}
		n--
		if left == 0 {
			break
		}
	}
}

func (w *waiting) see(j *workload.Job, now int64) {
	w.count++
	s := sight{w.count, now}
	w.sights[j.ID] = append(w.sights[j.ID], s)
	w.order = append(w.order, seen{j.ID, s})
	for of := range s.both(j) {
		for _, l := range w.learners {
			l.Expect(of, askedNow(j, now))
		}
	}
}

// askedNow returns the question how much longer a job waits that waits already.
func askedNow(j *workload.Job, now int64) forecast.Question {
	return forecast.Question{Request: j.Request, Now: now, Submit: now, Job: j.ID, Since: j.Since()}
}

// of returns the sight as a job.
func (s sight) of(j *workload.Job) *workload.Job {
	of := *j
	of.ID, of.Eligible = s.id, s.at
	return &of
}

// both yields the sight as a job, and once more for what it teaches when its job has started.
func (s sight) both(j *workload.Job) iter.Seq[*workload.Job] {
	final := s
	final.id = -s.id
	return slices.Values([]*workload.Job{s.of(j), final.of(j)})
}

// started learns from a job, which could not start in the windows.
func (w *waiting) started(j *workload.Job, windows rollout.Windows) {
	for _, s := range w.sights[j.ID] {
		w.longest = max(longestDecay*w.longest, float64(j.Start-s.at))
		for of := range s.both(j) {
			w.score(served(of, windows))
		}
	}
	delete(w.sights, j.ID)
}

func (w *waiting) score(sight *workload.Job) {
	for _, l := range w.learners {
		l.Score(sight)
	}
}

func (w *waiting) ended(j *workload.Job) {
	for _, s := range w.sights[j.ID] {
		for of := range s.both(j) {
			for _, l := range w.learners {
				l.Drop(of)
			}
		}
	}
	delete(w.sights, j.ID)
}

// aged forecasts the rest of a wait as a forecaster of whole waits does: those count that were
// longer than the job has waited already.
type aged struct{ forecast.Forecaster }

// Forecast implements forecast.Forecaster.
func (f aged) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	anew := *q
	anew.Since = 0
	if !f.Forecaster.Forecast(&anew, a) {
		return false
	}
	given(&a.Wait, float64(q.Now-q.Since))
	return true
}

// given takes the distribution of a delay that begins now, and makes it the distribution of the
// rest of a delay that has lasted for some seconds. The result mixes two hypotheses. Under the
// first, the rest is shorter by the time that has passed. Under the second, the delay is as if it
// began now: this holds for a job that should have started long ago and is kept by something
// unknown. Each has the weight of the probability with which it makes the delay last so long.
func given(d *delay.Distribution, lasted float64) {
	if lasted <= 0 {
		return
	}
	anew, before := *d, d.Within(lasted)
	for i := range d {
		less := max(0, anew.Within(lasted+delay.At(i))-before) // (1 - before) times the probability
		d[i] = (less + anew[i]) / (2 - before)
	}
}
