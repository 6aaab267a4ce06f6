package qbets

import (
	"math"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/stats"
)

// history has the past waits of one class, in general since the last change point, and the
// jobs of the class that wait now.
type history struct {
	class    Class
	recent   recent[observation] // in the order of job starts
	sorted   stats.Multiset      // the waits
	counts   histogram           // of the waits
	log      stats.Lag1          // of the logarithms of the waits
	runs     runs
	stale    int   // the number of oldest waits that are from before the last change point
	changed  int64 // the time of the last change point, Unix seconds, or 0
	reviewed int   // the number of waits learnt since the last review

	waiting stats.Multiset // when each job that waits became eligible, Unix seconds
}

// observation is a wait and what the clustering needs to know of its job.
type observation struct {
	wait   uint32 // seconds
	limit  uint32 // seconds
	amount uint32 // the size, in the class's unit
	order  uint32 // the number of the wait among all that were learnt
}

func (h *history) len() int { return h.recent.n }

// at returns the i-th wait; 0 is the oldest.
func (h *history) at(i int) *observation { return h.recent.at(i) }

// push appends a wait.
func (h *history) push(o observation) {
	h.recent.push(o)
	h.sorted.Insert(o.wait)
	h.counts[delay.Index(float64(o.wait))]++
	h.log.Push(logWait(o.wait))
}

// drop forgets the oldest wait. There must be two or more.
func (h *history) drop() {
	h.stale = max(0, h.stale-1)
	wait := h.recent.drop().wait
	h.sorted.Delete(wait)
	h.counts[delay.Index(float64(wait))]--
	h.log.Drop(logWait(h.at(0).wait))
}

// cut forgets all but the newest n waits, if there are more.
func (h *history) cut(n int) {
	if n >= h.len() {
		return
	}
	kept := make([]observation, n)
	for i := range kept {
		kept[i] = *h.at(h.len() - n + i)
	}
	h.recent = recent[observation]{}
	h.sorted, h.log, h.counts = stats.Multiset{}, stats.Lag1{}, histogram{}
	for _, o := range kept {
		h.push(o)
	}
}

// overdue returns how many of the jobs that wait have, at a time now, waited for longer than
// a budget. Both are in seconds, and the budget is not negative.
func (h *history) overdue(now, budget int64) int {
	if h.waiting.Len() == 0 || now-budget <= 0 {
		return 0
	}
	n, _ := h.waiting.Through(uint32(min(now-budget-1, math.MaxUint32)))
	return n
}

// logWait returns the logarithm of a wait plus a second. Many waits are 0.
func logWait(w uint32) float64 { return math.Log1p(float64(w)) }
