package desk

import (
	"sort"

	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/promise/negotiate"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/workload"
)

// sometime is when a job becomes eligible that waits for others: at one of these times, ascending,
// each as likely as any other, or flow.Never.
type sometime []int64

// shares is how many times stand for all.
const shares = 16

// uncertain is a Forecaster of jobs that become eligible sometime, and not before their submission.
type uncertain struct {
	trajectory.Forecaster
	eligible sometime
}

// Forecast implements trajectory.Forecaster.
func (u uncertain) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	moved, each := make([]workload.Candidate, len(c)), make([]workload.Estimate, len(c))
	share := 1 / float64(len(u.eligible))
	clear(est)
	for k, at := range u.eligible {
		if at == flow.Never {
			break
		}
		same := k > 0
		for i := range c {
			wait := max(0, at-c[i].Submit)
			m := c[i]
			m.Submit, m.Budget = m.Submit+wait, m.Budget-wait
			same = same && m == moved[i]
			moved[i] = m
		}
		if !same {
			u.Forecaster.Forecast(r, now, moved, each)
		}
		for i := range est {
			if e := &est[i]; k == 0 {
				*e = each[i]
				e.Prob, e.Forecast, e.Bound, e.Held, e.Taken = 0, 0, 0, 0, 0
			}
			if moved[i].Budget < 0 {
				continue
			}
			e := &est[i]
			e.Prob += share * each[i].Prob
			e.Forecast += share * each[i].Forecast
			e.Bound += share * each[i].Bound
			e.Held += share * each[i].Held
			e.Taken += share * each[i].Taken
			e.Sample = min(e.Sample, each[i].Sample)
		}
	}
}

// mixed is the Prospect of something that begins after some seconds, each as likely as any other,
// or never.
type mixed struct {
	parts []delayed
	never int // how many parts more there are, which never begin
}

// share is the probability of each part.
func (m mixed) share() float64 { return 1 / float64(len(m.parts)+m.never) }

// Prob implements negotiate.Prospect.
func (m mixed) Prob(seconds float64) (prob float64) {
	for _, p := range m.parts {
		prob += m.share() * p.Prob(seconds)
	}
	return prob
}

// mostSteps bounds how many steps Within looks ahead.
const mostSteps = 1 << 32

// Within implements negotiate.Prospect.
func (m mixed) Within(prob float64, step int64) (int64, bool) {
	n := sort.Search(mostSteps, func(n int) bool { return m.Prob(float64(int64(n)*step)) >= prob })
	return int64(n) * step, n < mostSteps
}

// TimeOut implements negotiate.Prospect.
func (m mixed) TimeOut() (prob float64) {
	for _, p := range m.parts {
		prob = max(prob, p.TimeOut())
	}
	return prob
}

// Lost implements negotiate.Prospect.
func (m mixed) Lost(seconds float64) (prob float64) {
	for _, p := range m.parts {
		prob += m.share() * p.Lost(seconds)
	}
	return prob
}

// mix returns the ending of a job that becomes eligible sometime after now, from its endings at
// each of these times.
func (s sometime) mix(now int64, endings []ending) (all ending) {
	of := func(part func(*ending) negotiate.Prospect) negotiate.Prospect {
		m := mixed{never: len(s) - len(endings)}
		for i := range endings {
			m.parts = append(m.parts, delayed{part(&endings[i]), s[i] - now})
		}
		return m
	}
	all = endings[0]
	all.Prospect = of(func(e *ending) negotiate.Prospect { return e.Prospect })
	all.forecast = of(func(e *ending) negotiate.Prospect { return e.forecast })
	all.bound = of(func(e *ending) negotiate.Prospect { return e.bound })
	return all
}
