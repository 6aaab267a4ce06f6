package outlook

import "github.com/varq-project/varq/predictor/workload"

// Room bounds the probability that the work of a job like r runs from a time on, beside running
// jobs and claims; r.Limit is that of the work. id is that of the job if it has been submitted
// already, and 0 otherwise. Before the first Model serves there is no bound.
func (o *Outlook) Room(r workload.Request, id, now, at int64, claims []workload.Claim) workload.Room {
	m := o.model.Load()
	if m == nil {
		return workload.Room{Prob: 1}
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.predictor.Room(&r, id, now, at, claims)
}
