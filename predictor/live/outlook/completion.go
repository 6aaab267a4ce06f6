package outlook

import (
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/success"
	"github.com/varq-project/varq/predictor/promise/negotiate"
	"github.com/varq-project/varq/predictor/workload"
)

// Wait forecasts what is left of the wait of a job that has been waiting for some seconds, or would
// wait if it were submitted now. It reports false if too little is known; a.Down then says why.
func (o *Outlook) Wait(q *forecast.Question, waited int64, a *forecast.Answer) bool {
	m := o.model.Load()
	if m == nil {
		*a = forecast.Answer{}
		return false
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	q = m.inLine(q)
	ok := m.ends.Wait(q, waited, a)
	if a.Down != "" {
		return false
	}
	if a.Down = m.unknown(&q.Request); a.Down != "" {
		return false
	}
	return ok
}

// inLine returns a question with the Line of its request.
func (m *Model) inLine(q *forecast.Question) *forecast.Question {
	asked := *q
	m.sets.setLine(&asked.Request)
	return &asked
}

// Prospect forecasts the end of a job from that of its wait. It reports false before the first
// Model serves.
func (o *Outlook) Prospect(q *forecast.Question, c completion.Circumstances, wait *delay.Distribution) (negotiate.Prospect, bool) {
	m := o.model.Load()
	if m == nil {
		return nil, false
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	p := m.ends.Prospect(m.inLine(q), c, wait)
	return &p, true
}

// Rest forecasts the end of a job that has run for age seconds. It reports false if nothing is
// known yet.
func (o *Outlook) Rest(q *forecast.Question, age int64, c completion.Circumstances) (negotiate.Prospect, bool) {
	m := o.model.Load()
	if m == nil {
		return nil, false
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	p := m.ends.Rest(m.inLine(q), age, c)
	return &p, true
}

// Run returns the quantiles, in seconds, of how much longer a job runs that has run for age
// seconds, or of how long it will run. It reports false before the first Model serves.
func (o *Outlook) Run(q *forecast.Question, age int64, c completion.Circumstances) (func(prob float64) float64, bool) {
	m := o.model.Load()
	if m == nil {
		return nil, false
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.ends.Run(m.inLine(q), age, c), true
}

// Success returns the probability that a job ends with exit code 0, once it has started.
func (o *Outlook) Success(j *workload.Job) float64 {
	m := o.model.Load()
	if m == nil {
		return new(success.Learner).Prob(j)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.success.Prob(j)
}
