package qbets

import (
	"math"

	"github.com/varq-project/varq/predictor/workload"
)

// waiting is a job that waits.
type waiting struct {
	request  workload.Request
	eligible int64
	home     *history
}

// Submitted takes in a job that waits from j.Eligible on. A job that cannot
// start, being held or waiting for another, does not wait. One that is known
// already is taken anew.
func (p *Predictor) Submitted(j *workload.Job) {
	p.withdraw(j.ID)
	eligible := j.Eligible
	if eligible == 0 {
		eligible = j.Submit
	}
	if eligible <= 0 || eligible > math.MaxUint32 {
		return
	}
	w := &waiting{request: j.Request, eligible: eligible}
	p.waiting[j.ID] = w
	p.house(w)
	for _, s := range p.watch(j.Partition) {
		s.waiting.Insert(uint32(eligible))
	}
}

// Started takes in a job that has started: it is Learn.
func (p *Predictor) Started(j *workload.Job) { p.Learn(*j) }

// Ended takes in a job that has ended, or that was cancelled while it waited.
func (p *Predictor) Ended(j *workload.Job) { p.withdraw(j.ID) }

// withdraw forgets a job that waits no more.
func (p *Predictor) withdraw(id int64) {
	w := p.waiting[id]
	if w == nil {
		return
	}
	delete(p.waiting, id)
	w.home.waiting.Delete(uint32(w.eligible))
	for _, s := range p.watch(w.request.Partition) {
		s.waiting.Delete(uint32(w.eligible))
	}
}

// house lets a job wait in its class.
func (p *Predictor) house(w *waiting) {
	s := p.service(w.request.Partition)
	place := s.place(&w.request)
	w.home = s.history(&place)
	w.home.waiting.Insert(uint32(w.eligible))
}

// service returns what a partition offers.
func (p *Predictor) service(partition string) *service {
	s := p.services[partition]
	if s == nil {
		s = &service{cell: p.cell}
		p.services[partition] = s
	}
	return s
}

// Learn takes in the wait of a job that has started, whether or not it was seen
// waiting. Jobs come in the order of their starts. A job that has not started, or
// whose times contradict one another, teaches nothing; neither does one that
// waited during an outage.
//
// It costs O(log n) amortised for a class of n waits. Where a class is split or
// joined, O(n log n) and a look at each job that waits come at once.
func (p *Predictor) Learn(job workload.Job) {
	p.withdraw(job.ID)
	seconds, ok := job.Wait()
	if !ok || seconds < 0 || seconds > math.MaxUint32 {
		return
	}
	eligible := job.Start - seconds
	p.listen(&job, eligible)
	if p.interrupted(job.Partition, eligible, job.Start) {
		return
	}
	p.learnt++
	s := p.service(job.Partition)
	place := s.place(&job.Request)
	h := s.history(&place)
	p.rank(h, &job.Request, uint32(seconds))
	p.learn(h, observation{
		wait:   uint32(seconds),
		limit:  uint32(min(place.limit, math.MaxUint32)),
		amount: uint32(place.amount),
		order:  uint32(p.learnt),
	}, job.Start)
	if h.reviewed++; h.due(p.least) {
		p.review(s, h)
	}
}

// rank lets those whose job it was learn how it was served, compared with others
// of its class.
func (p *Predictor) rank(h *history, r *workload.Request, wait uint32) {
	if h.len() < p.least {
		return
	}
	rank := h.rank(wait)
	for _, key := range tenantsOf(r) {
		if key.named() {
			t := p.tenants.get(key)
			t.seen = p.learnt
			t.learn(rank, mostRanks*p.least, p.least, len(p.tenants))
		}
	}
}

// review reviews a class of a service, and finds new ones for the jobs that wait
// in a class which is no more.
func (p *Predictor) review(s *service, h *history) {
	for _, gone := range s.review(h, p.least, p.most) {
		if gone.waiting.Len() == 0 {
			continue
		}
		for _, w := range p.waiting {
			if w.home == gone {
				p.house(w)
			}
		}
	}
}

// learn adds a wait to h. After a run of misses that is too long to be chance,
// only the newest waits stay, as few as still yield a bound. Those of them that
// are older than the run stay no longer than they must: each wait that follows
// takes the place of one.
func (p *Predictor) learn(h *history, o observation, start int64) {
	run := h.runs.observe(h, &p.indices, o.wait)
	if h.len() == p.most || h.stale > 0 && h.len() >= p.least {
		h.drop()
	}
	h.push(o)
	if run > 0 {
		h.cut(max(p.least, run))
		h.stale = max(0, h.len()-run)
		h.runs = runs{}
		h.changed = start
	}
}
