package expert

import (
	"math/bits"

	"github.com/varq-project/varq/predictor/forecast"
)

// anchors are those of requests and times of submission, each for several time limits.
//
// A plan asks about many submissions, with many limits. A simulation for each would take
// too long. But with a longer limit a job starts no sooner, so that one simulation for the
// longest limit answers all questions while the queue is like others before.
type anchors struct {
	recent forecast.Recent[[]limited] // about questions without Limit
}

// limited is the anchor for a time limit, in seconds.
type limited struct {
	limit int64
	anchor
}

// aboutOf returns a question without Limit.
func aboutOf(q *forecast.Question) *forecast.Question {
	about := *q
	about.Limit = 0
	return &about
}

// simulated returns the anchors for the limits with which a question was simulated.
func (a *anchors) simulated(q *forecast.Question) []limited {
	list, _ := a.recent.Get(aboutOf(q))
	return list
}

// add notes the anchor of a question.
func (a *anchors) add(q *forecast.Question, of anchor) {
	a.recent.Put(aboutOf(q), append(a.simulated(q), limited{q.Limit, of}))
}

// atMost returns an upper bound on the anchor of a question.
func (a *anchors) atMost(q *forecast.Question) (most anchor, ok bool) {
	for _, s := range a.simulated(q) {
		if s.limit < q.Limit {
			continue
		}
		if !ok {
			most, ok = s.anchor, true
		}
		most = most.least(s.anchor)
	}
	return most, ok
}

// later returns the anchor of a question about a submission to come, or one that is no
// nearer to the edge of what was learnt. The jobs that wait now are ahead of such a job,
// too, but they have been waiting for a while when it is submitted. If a window that closes the
// pool lies before the submission, they have been waiting since its end, at which no gap is left
// that there was before it, and if one that leaves some of it, since its beginning. The anchor is
// of seconds in which the job can start.
func (f *Forest) later(q *forecast.Question) anchor {
	f.simulating.Lock()
	defer f.simulating.Unlock()
	windows := f.twin.Windows(q.Place())
	simulated := *q
	simulated.Submit = q.Now
	if before := windows.Since(q.Now).Before(q.Submit); len(before) > 0 {
		last := &before[len(before)-1]
		if simulated.Submit = max(q.Now, last.From); last.Closes() {
			simulated.Submit = last.To
		}
	}
	// what of the wait is over when it is submitted, or does not count
	over := func(wait float64) float64 {
		submit := max(q.Submit, simulated.Submit)
		return float64(submit-simulated.Submit) + float64(windows.For(q.Limit).Closed(submit, simulated.Submit+int64(wait)))
	}
	most, ok := f.anchors.atMost(&simulated)
	if ok && !most.endless && f.beyond.share(most.less(over)) == 0 {
		return anchor{}
	}
	// Few limits are simulated: powers of two.
	simulated.Limit = 1 << bits.Len64(uint64(max(1, q.Limit)-1))
	of, ok := f.anchors.at(&simulated)
	if !ok {
		p := f.twin.PointAt(&simulated.Request, q.Now, simulated.Submit, q.Job)
		of = anchorOf(&p)
		f.anchors.add(&simulated, of)
	}
	return of.less(over)
}

// overtaking returns the share of the jobs that came last which would go before that of a question,
// or 0 where no priorities are known.
func (f *Forest) overtaking(q *forecast.Question) float32 {
	if f.twin == nil {
		return 0
	}
	f.simulating.Lock()
	defer f.simulating.Unlock()
	return float32(f.twin.Later(&q.Request))
}

// at returns the anchor of a question if it is known.
func (a *anchors) at(q *forecast.Question) (of anchor, ok bool) {
	for _, s := range a.simulated(q) {
		if s.limit == q.Limit {
			return s.anchor, true
		}
	}
	return anchor{}, false
}
