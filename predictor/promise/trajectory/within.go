package trajectory

import "github.com/varq-project/varq/predictor/workload"

// Within forecasts the job of r if it becomes eligible at r.Now, for each of some waits in seconds:
// the probability that it starts within the wait, as a strict reservation whose deadline is the
// end of the wait. So r.Deadline and r.HoldUntil do not count. A wait for which there can be no
// such reservation, whatever the forecast is, has probability 0. waits are in increasing order.
func (p *Planner) Within(r Request, waits []int64) []float64 {
	probs := make([]float64, len(waits))
	r.Deadline, r.HoldUntil = r.Now+waits[len(waits)-1], 0
	if p.admit(&r) != nil {
		return probs
	}
	b := p.allowed(&r)
	var c []workload.Candidate
	var of []int // for each candidate: its wait
	for i := len(waits) - 1; i >= 0; i-- {
		r.Deadline = r.Now + waits[i]
		r.HoldUntil = r.Deadline
		s := Submission{Begin: r.Now, Limit: r.enlarged(r.Now)}
		if budget := b.budget(&r, s); budget >= 0 && s.Limit <= b.longest {
			c = append(c, workload.Candidate{Submit: s.Begin, Limit: s.Limit, Budget: budget, Job: r.ID})
			of = append(of, i)
		}
	}
	if len(c) == 0 {
		return probs
	}
	est := make([]workload.Estimate, len(c))
	p.Forecaster.Forecast(r.All(), r.Now, c, est)
	for i := range est {
		if est[i].Down == "" {
			r.Deadline = r.Now + waits[of[i]]
			r.HoldUntil = r.Deadline
			slot, room := p.slot(&r, r.Deadline, est[i].Prob)
			probs[of[i]] = min(est[i].Prob, room.Within(r.start(c[i].Submit, c[i].Submit+c[i].Budget, est[i].Held, slot), slot))
		}
	}
	return probs
}
