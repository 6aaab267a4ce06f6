package outlook

import "github.com/varq-project/varq/predictor/workload"

// Room bounds the probability that the work of c runs from c.From on, beside running jobs and other
// claims, or that it is below least. Before the first Model serves there is no bound.
func (o *Outlook) Room(c workload.Claim, now int64, others []workload.Claim, least float64) workload.Room {
	m := o.model.Load()
	if m == nil {
		return workload.Room{Prob: 1}
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.predictor.Room(&c, now, others, least)
}
