package predictor

import (
	"math/bits"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
)

// noSooner bounds an answer to q, about a job to be submitted later, by that about a job that is
// submitted now: who comes later starts no sooner. Both are of seconds in which the pool serves. It
// returns how far the answer is beyond all that was learnt from because of that: a percent less of
// probability counts.
func (p *Predictor) noSooner(q *forecast.Question, a *forecast.Answer) (beyond float64) {
	now := p.submittedNow(q)
	if now == nil {
		return 0
	}
	lead := q.Submit - q.Now - p.forest.Windows(q.Place()).For(q.Limit).Closed(q.Now, q.Submit)
	for i := range delay.Points {
		wait := float64(lead) + delay.At(i)
		lower := now.Lower.Within(wait)
		if lower < a.Lower[i]-.01 {
			beyond = now.Beyond
		}
		a.Wait[i], a.Lower[i] = min(a.Wait[i], now.Wait.Within(wait)), min(a.Lower[i], lower)
	}
	return beyond
}

// submittedNow returns the answer about a job that is submitted now, with a limit that is a power
// of two of seconds, and no longer than that of q. It returns nil if there is none. A plan asks
// about hundreds of submissions with as many limits. As a longer job starts no sooner, the answers
// about few limits bound all others.
func (p *Predictor) submittedNow(q *forecast.Question) *forecast.Answer {
	now := *q
	now.Submit = q.Now
	if q.Limit > 0 {
		now.Limit = 1 << (bits.Len64(uint64(q.Limit)) - 1)
	}
	a, known := p.sooner.Get(&now)
	if !known {
		if a = new(forecast.Answer); !p.present.Forecast(&now, a) {
			a = nil
		}
		p.sooner.Put(&now, a)
	}
	return a
}
