package extrapolation

import (
	"math"
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/influence"
)

// The rivals are the forecasts of a job among which a Trust chooses.
const (
	Plain  = iota // what was learnt from past waits
	Likely        // moved towards a simulation in which jobs run for as long as is predicted
	Moved         // moved towards the longest simulation, and the shortest where the order is known
	Rivals        // how many they are
)

// Trust says how far each of the rivals is to be believed. A simulation may be wrong about what is
// ahead: time limits that nobody means, or jobs that all others pass, make an anchor long of which
// nothing comes. So the rivals are experts, weighted by their CRPS for the jobs that came while the
// queue lay beyond what was learnt. As in package mixture the weights are exponential; some jobs
// are to be enough, and so the rate is higher. There are weights by all jobs, and by those of each
// group. They begin even, and a job that rival k has the score s(k) for makes
//
//	w(k) into (1-forget) w(k) exp(-rate s(k)) / sum + forget / Rivals
//
// in the order in which they came (fixed share: Herbster and Warmuth 1998). So no rival is given up
// for good. A rival's weight for jobs of a group is its weight by all jobs times that by the
// group's.
//
// The moved forecast is there for what was never seen. So it is believed alone as long as no scores
// speak against it: beside its 1, a rival counts for as much as its weight exceeds that of the
// moved one, divided by that.
//
// A wait that is short is known soon, and those that simulations are followed for are known last.
// So jobs that still wait are scored, too: by the terms of the CRPS that no outcome can change any
// more, those of the delays which are over. As the order is that in which jobs came, those that
// hang in the queue tell little while newer ones start.
//
// A job counts as so much of one as of its terms is known, and one user's n-th of late as the
// 1/n-th of that (package influence): to the power of so much both factors are taken that are in
// the formula.
//
// A simulation that was wrong about an hour says little about weeks. So there are weights for each
// level. The level of a job is how long its rivals are: the longest of their medians, by fourfolds
// of lowest. A job counts in full for its own level and for those below, and by 2^-(u(u+1)/2) for
// the u-th level above: by 1/2, 1/8, 1/64, and so on.
type Trust struct {
	influence *influence.Influence
	older     beliefs           // by the jobs before the newest
	newest    []*rivals         // in the order in which they came; at most remembers
	waiting   map[int64]*rivals // of them, by job
	due       int64             // when those that wait are scored anew

	mu    sync.Mutex // guards asked while forecasts ask
	asked map[asked][Rivals]float64
}

// asked is a question of Of. A plan asks the same again and again.
type asked struct {
	group string
	level int
}

// weights are those of the rivals.
type weights [Rivals]float64

// beliefs are the weights at each level by all jobs, and by those of each group.
type beliefs struct {
	pool   [levels]weights
	groups map[string][levels]weights
}

// even is the weights to begin with.
var even = func() (at [levels]weights) {
	for level := range at {
		at[level] = weights{1. / Rivals, 1. / Rivals, 1. / Rivals}
	}
	return at
}()

const (
	rate   = 3
	forget = .1
	// levels is how many levels there are. The first is up to lowest seconds.
	levels, lowest = 7, 1800
	// remembers is how many jobs are remembered at most. When there are more, the scores of the
	// older half are final as they are.
	remembers = 2000
	// mostGroups is the most groups that are known of jobs before.
	mostGroups = 1000
	// scoredInASecond is how many jobs are scored anew in a second of the cluster's time: the more
	// are remembered, the longer they are left alone.
	scoredInASecond = 32
)

// rivals are the forecasts of a job.
type rivals struct {
	job    int64
	group  string
	level  int
	since  int64
	weight float64
	of     *[Rivals]delay.Distribution // nil once it waits no longer
	passed int                         // terms that are known
	scores [Rivals]float64             // the sums of these
}

// pass takes in the terms of the delays that are over at a time, if the job still waits.
func (r *rivals) pass(time int64) {
	if r.of == nil {
		return
	}
	for end := delay.Index(float64(max(0, time-r.since))); r.passed < end; r.passed++ {
		for k := range r.of {
			p := r.of[k][r.passed]
			r.scores[k] += p * p / delay.Points
		}
	}
}

// start takes in all other terms, of a job that starts now.
func (r *rivals) start() {
	for k := range r.scores {
		for _, p := range r.of[k][r.passed:] {
			r.scores[k] += (1 - p) * (1 - p) / delay.Points
		}
	}
	r.passed = delay.Points
}

// NewTrust returns a Trust that knows no jobs.
func NewTrust() *Trust {
	return &Trust{influence: influence.New(), older: beliefs{even, map[string][levels]weights{}}, waiting: map[int64]*rivals{}, asked: map[asked][Rivals]float64{}}
}

// levelOf returns the level of forecasts.
func levelOf(of *[Rivals]delay.Distribution) int {
	longest := 0.
	for k := range of {
		longest = max(longest, of[k].Quantile(.5))
	}
	return int(min(levels-1, math.Ceil(math.Log2(max(1, longest/lowest))/2)))
}

// of returns the weights by the jobs of a group alone.
func (b *beliefs) of(group string) [levels]weights {
	if own, ok := b.groups[group]; ok {
		return own
	}
	return even
}

// Of returns the weights of the forecasts of a job of a group: those of a partition and QOS, for
// example. They add up to 1. It costs O(remembers) when scores have changed.
func (t *Trust) Of(group string, of *[Rivals]delay.Distribution) [Rivals]float64 {
	q := asked{group, levelOf(of)}
	t.mu.Lock()
	defer t.mu.Unlock()
	trust, known := t.asked[q]
	if !known {
		trust = t.weigh(q.group, q.level)
		t.asked[q] = trust
	}
	return trust
}

// weigh is Of for jobs of a group at a level.
func (t *Trust) weigh(group string, level int) (trust [Rivals]float64) {
	pool, own := t.older.pool[level], t.older.of(group)[level]
	for _, r := range t.newest {
		pool.take(r, level)
		if r.group == group {
			own.take(r, level)
		}
	}
	sum := 1.
	for k := range trust {
		trust[k] = max(0, pool[k]*own[k]/(pool[Moved]*own[Moved])-1)
		sum += trust[k]
	}
	trust[Moved] = 1
	for k := range trust {
		trust[k] /= sum
	}
	return trust
}

// Expect notes the forecasts of a user's job of a group that waits since a time. The Trust keeps
// of.
func (t *Trust) Expect(job int64, user, group string, since int64, of *[Rivals]delay.Distribution) {
	if len(t.newest) == remembers {
		for _, r := range t.newest[:remembers/2] {
			r.pass(since)
			t.older.take(r)
			delete(t.waiting, r.job)
		}
		clear(t.asked)
		t.newest = slices.Delete(t.newest, 0, remembers/2)
		if len(t.older.groups) > mostGroups {
			clear(t.older.groups)
		}
	}
	r := &rivals{job: job, group: group, level: levelOf(of), since: since, weight: t.influence.Weigh(user), of: of}
	t.newest = append(t.newest, r)
	t.waiting[job] = r
}

// Started scores the forecasts of a job that has started.
func (t *Trust) Started(job, at int64) { t.left(job, at, true) }

// Ended scores those of a job that has ended by what of the wait was over, and does nothing if it
// had started.
func (t *Trust) Ended(job, at int64) { t.left(job, at, false) }

// left takes in that a job waits no longer.
func (t *Trust) left(job, at int64, starts bool) {
	r, ok := t.waiting[job]
	if ok {
		r.pass(at)
		if starts {
			r.start()
		}
		r.of = nil
		delete(t.waiting, job)
		clear(t.asked)
	}
	t.Wait(at)
}

// Wait scores the forecasts of all jobs that wait at a time, if that is due. It costs O(remembers).
func (t *Trust) Wait(at int64) {
	if at < t.due || len(t.newest) == 0 {
		return
	}
	t.due = at + int64(len(t.newest))/scoredInASecond
	for _, r := range t.newest {
		r.pass(at)
	}
	clear(t.asked)
}

// take changes the weights at a level by the scores of a job.
func (w *weights) take(r *rivals, level int) {
	if r.passed == 0 {
		return
	}
	up := max(0, level-r.level)
	counts := math.Ldexp(r.weight, -up*(up+1)/2)
	sum := 0.
	for k, score := range r.scores {
		w[k] *= math.Exp(-rate * counts * score)
		sum += w[k]
	}
	kept := math.Pow(1-forget, counts*float64(r.passed)/delay.Points)
	for k := range w {
		w[k] = kept*w[k]/sum + (1-kept)/Rivals
	}
}

// take changes the weights at all levels by the scores of a job.
func (b *beliefs) take(r *rivals) {
	own := b.of(r.group)
	for level := range levels {
		b.pool[level].take(r, level)
		own[level].take(r, level)
	}
	b.groups[r.group] = own
}
