package qbets

import (
	"math"

	"github.com/varq-project/varq/predictor/workload"
)

// waiting is a job that waits.
type waiting struct {
	request  workload.Request
	eligible int64    // Unix seconds
	home     *history // of the class that the job waits in
}

// Submitted takes in a job that waits from j.Eligible on. It replaces what is known of a job
// with the same ID. A job that is not eligible, as it is held or depends on another, must
// not be submitted yet. A job that is narrow or at a limit counts as none, since others may
// start before it.
func (p *Predictor) Submitted(j *workload.Job) {
	p.withdraw(j.ID)
	eligible := j.Eligible
	if eligible == 0 {
		eligible = j.Submit
	}
	if j.Narrow() || j.AtLimit || eligible <= 0 || eligible > math.MaxUint32 {
		return
	}
	w := &waiting{request: j.Request, eligible: eligible}
	p.waiting[j.ID] = w
	p.enqueue(w)
	for _, where := range waitsIn(&j.Request) {
		p.watch(where).waiting.Insert(uint32(eligible))
	}
}

// Changed takes in that a job that waits is at a limit, or is no longer, or that it requests
// something else.
func (p *Predictor) Changed(j *workload.Job) {
	if w := p.waiting[j.ID]; j.Start == 0 && ((w == nil) != (j.AtLimit || j.Narrow()) || w != nil && w.request != j.Request) {
		p.Submitted(j)
	}
}

// Started takes in a job that has started, as Learn does.
func (p *Predictor) Started(j *workload.Job) { p.Learn(*j) }

// Ended takes in a job that has ended, or that was cancelled while it waited.
func (p *Predictor) Ended(j *workload.Job) { p.withdraw(j.ID) }

// withdraw removes a job, if it is known, from those that wait.
func (p *Predictor) withdraw(id int64) {
	w := p.waiting[id]
	if w == nil {
		return
	}
	delete(p.waiting, id)
	w.home.waiting.Delete(uint32(w.eligible))
	for _, where := range waitsIn(&w.request) {
		p.watch(where).waiting.Delete(uint32(w.eligible))
	}
}

// enqueue adds a job to those that wait in its class.
func (p *Predictor) enqueue(w *waiting) {
	s := p.service(w.request.Queue())
	place := s.place(&w.request)
	w.home = s.history(&place)
	w.home.waiting.Insert(uint32(w.eligible))
}

// service returns the service of a queue. It makes one if there is none.
func (p *Predictor) service(queue string) *service {
	s := p.services[queue]
	if s == nil {
		s = &service{cell: p.cell}
		p.services[queue] = s
	}
	return s
}

// Learn takes in the wait of a job that has started. The job need not have been Submitted.
// Jobs must come in the order of their starts. Learn learns nothing from a job that has not
// started, whose times contradict each other, or that waited during an outage. From a job
// that is narrow or was at a limit it learns only that jobs start.
//
// It costs O(log n) amortised for a class of n waits. A call that splits or joins a class
// costs O(n log n) and visits each job that waits.
func (p *Predictor) Learn(job workload.Job) {
	p.withdraw(job.ID)
	if job.Narrow() || job.AtLimit {
		p.listen(&job, job.Start)
		return
	}
	seconds, ok := job.Wait()
	if !ok || seconds < 0 || seconds > math.MaxUint32 {
		return
	}
	eligible := job.Start - seconds
	p.listen(&job, eligible)
	if p.interrupted(eligible, job.Start, startsIn(&job.Request)...) {
		return
	}
	p.learnt++
	s := p.service(job.Queue())
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

// rank adds the rank of a wait among those of h to the account and the user of r.
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

// review reviews a class of a service. It finds new classes for the jobs that wait in a
// class that no longer exists.
func (p *Predictor) review(s *service, h *history) {
	for _, gone := range s.review(h, p.least, p.most) {
		if gone.waiting.Len() == 0 {
			continue
		}
		for _, w := range p.waiting {
			if w.home == gone {
				p.enqueue(w)
			}
		}
	}
}

// learn adds a wait to h. After a run of misses that is too long to be chance, it removes
// all waits older than the run, except those needed for a bound. Each wait that follows
// replaces one of these.
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
