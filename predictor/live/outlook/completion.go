package outlook

import (
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/promise/negotiate"
)

// Prospect forecasts the end of a job that waits, or would if it were submitted now, and sets wait to the forecast of its
// wait. It reports false if too little is known; wait.Down then says why.
func (o *Outlook) Prospect(q *forecast.Question, c completion.Circumstances, wait *forecast.Answer) (negotiate.Prospect, bool) {
	m := o.model.Load()
	if m == nil {
		*wait = forecast.Answer{}
		return nil, false
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	p, ok := m.ends.Prospect(q, c, wait)
	if wait.Down != "" {
		return nil, false
	}
	r := &q.Request
	if starts := m.past[kindOf(r)]; starts < leastPast {
		wait.Down = unknown(r, starts, m.past[kind{r.Partition, r.GPUs == 0}])
		return nil, false
	}
	return &p, ok
}

// Rest forecasts the end of a job that has run for age seconds. It reports false if nothing is known yet.
func (o *Outlook) Rest(q *forecast.Question, age int64, c completion.Circumstances) (negotiate.Prospect, bool) {
	m := o.model.Load()
	if m == nil {
		return nil, false
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	p := m.ends.Rest(q, age, c)
	return &p, true
}
