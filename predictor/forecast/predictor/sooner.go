package predictor

import (
	"math/bits"
	"sync"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
)

// sooner has the answers about a job that is submitted now, by its time limit. A plan asks about hundreds of submissions with as many limits.
// As a longer job starts no sooner, the answers about few limits bound all others.
type sooner struct {
	sync.Mutex
	about   forecast.Question // without Limit
	answers map[int64]*forecast.Answer
}

// forget forgets the answers, as what they rest on has changed.
func (s *sooner) forget() {
	s.Lock()
	defer s.Unlock()
	s.answers = nil
}

// noSooner bounds an answer to q, about a job to be submitted later, by that about a job that is submitted now: who comes later starts no
// sooner. Both are of seconds in which the pool serves.
func (p *Predictor) noSooner(q *forecast.Question, a *forecast.Answer) {
	now := p.submittedNow(q)
	if now == nil {
		return
	}
	lead := q.Submit - q.Now - p.forest.Windows(q.Partition).For(q.Limit).Closed(q.Now, q.Submit)
	for i := range delay.Points {
		wait := float64(lead) + delay.At(i)
		a.Wait[i] = min(a.Wait[i], now.Wait.Within(wait))
		a.Lower[i] = min(a.Lower[i], now.Lower.Within(wait))
	}
}

// submittedNow returns the answer about a job that is submitted now, with a limit that is a power of two of seconds, and no longer than that of
// q. It returns nil if there is none.
func (p *Predictor) submittedNow(q *forecast.Question) *forecast.Answer {
	now := *q
	now.Submit = q.Now
	if q.Limit > 0 {
		now.Limit = 1 << (bits.Len64(uint64(q.Limit)) - 1)
	}
	about := now
	about.Limit = 0
	s := &p.sooner
	s.Lock()
	defer s.Unlock()
	if s.about != about || s.answers == nil {
		s.about, s.answers = about, map[int64]*forecast.Answer{}
	}
	a, known := s.answers[now.Limit]
	if !known {
		a = new(forecast.Answer)
		if !p.present.Forecast(&now, a) {
			a = nil
		}
		s.answers[now.Limit] = a
	}
	return a
}
