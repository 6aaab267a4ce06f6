package ingest

import (
	"math/rand/v2"
	"sync"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/workload"
)

// present is the queue as it is known to be, and the forecasters that have lived
// through what led to it. Only who holds Ingest.storing, or has made it and not
// shown it yet, tells it anything.
type present struct {
	// mu guards everything. It is held for one event at a time, so that forecasts,
	// which share it, never wait for many.
	mu        sync.RWMutex
	queue     queue.Queue
	predictor *forecast.Predictor
	own       []*own
	starts    int
	newest    int64 // start

	last    int64 // when the queue was last looked at
	covered int64 // until when accounting was known to begin with
}

// newPresent returns an empty queue and forecasters that know nothing, in a
// cluster as it is now.
func newPresent(s *site, confidence float64, others []forecast.Forecaster) *present {
	p := &present{}
	members := make([]forecast.Forecaster, len(others))
	for i, f := range others {
		p.own = append(p.own, &own{Forecaster: f})
		members[i] = p.own[i]
	}
	// What is forecast must not depend on chance: the same past, the same answers.
	p.predictor = forecast.Standard(&p.queue, twin.Options{Machine: s.machine()}, rand.New(rand.NewPCG(1, 1)), members...)
	p.predictor.SetConfidence(confidence)
	s.tell(p)
	return p
}

// own is a site's own forecaster, who learns the past elsewhere: it is told and
// asked nothing until it is open.
type own struct {
	forecast.Forecaster
	open bool
}

// Forecast implements forecast.Forecaster.
func (o *own) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	if !o.open {
		*a = forecast.Answer{}
		return false
	}
	return o.Forecaster.Forecast(q, a)
}

// Submitted implements forecast.Observer.
func (o *own) Submitted(j *workload.Job) {
	if o.open {
		o.Forecaster.Submitted(j)
	}
}

// Started implements forecast.Observer.
func (o *own) Started(j *workload.Job) {
	if o.open {
		o.Forecaster.Started(j)
	}
}

// Ended implements forecast.Observer.
func (o *own) Ended(j *workload.Job) {
	if o.open {
		o.Forecaster.Ended(j)
	}
}

// open lets the site's own forecasters take part.
func (p *present) open() {
	for _, o := range p.own {
		o.open = true
	}
}

// Submitted implements forecast.Observer: the predictor is told, as of starts and
// ends.
func (p *present) Submitted(j *workload.Job) { p.predictor.Submitted(j) }

// Started implements forecast.Observer.
func (p *present) Started(j *workload.Job) {
	p.starts++
	p.newest = max(p.newest, j.Start)
	p.predictor.Started(j)
}

// Ended implements forecast.Observer.
func (p *present) Ended(j *workload.Job) { p.predictor.Ended(j) }

// unseen returns the jobs of a look that run and are not known to.
func (p *present) unseen(l *look) []workload.Job {
	_, running := l.jobs()
	var unseen []workload.Job
	for i := range running {
		if j := &running[i]; !p.has(j) {
			unseen = append(unseen, *j)
		}
	}
	return unseen
}

// has reports whether j waits or runs in the queue just as it is.
func (p *present) has(j *workload.Job) bool {
	known := p.queue.Job(j.ID)
	return known != nil && known.Submit == j.Submit && known.Start == j.Start && (j.Start != 0 || known.Since() == j.Since())
}

// waits reports whether the queue has j as one that waits.
func (p *present) waits(j *workload.Job) bool {
	known := p.queue.Job(j.ID)
	return known != nil && known.Submit == j.Submit && known.Start == 0
}

// looked tells of what has changed since the last look. A start that is not fresh
// was told before, unless its job was known to wait. Whoever is gone has left just
// after the last look, before the starts that made room for.
func (p *present) looked(l *look, fresh map[run]bool) {
	waiting, running := l.jobs()
	here := make(map[int64]bool, len(waiting)+len(running))
	var changed []workload.Job
	for i := range waiting {
		j := &waiting[i]
		if here[j.ID] = p.has(j); !here[j.ID] {
			changed = append(changed, *j)
		}
	}
	for i := range running {
		j := &running[i]
		waited := p.waits(j)
		if here[j.ID] = waited || p.has(j); waited || !here[j.ID] && fresh[runOf(j)] {
			changed = append(changed, *j)
		}
	}
	leave := func(known *queue.Job) {
		if here[known.ID] {
			return
		}
		j := known.Job
		j.End, j.State = max(p.last, j.Start, j.Since()), workload.Unknown
		changed = append(changed, j)
	}
	for j := range p.queue.Pending() {
		leave(j)
	}
	for j := range p.queue.Running() {
		leave(j)
	}
	p.tell(changed)
	p.last = l.at
}

// accounted tells of jobs of accounting that are fresh or of which the queue knows.
// A job that came and went between two looks is told as if it had come just after
// the last: its times move, and its wait and run time stay.
func (p *present) accounted(jobs []workload.Job, fresh map[run]bool) {
	var changed []workload.Job
	for _, j := range jobs {
		if j.Start == 0 && j.End == 0 {
			continue
		}
		if p.waits(&j) || p.has(&j) {
			changed = append(changed, j)
			continue
		}
		if !fresh[runOf(&j)] {
			continue
		}
		begun := j.Since()
		if begun < p.last-overlap { // it cannot have come since, but was not seen waiting
			begun = j.Start
		}
		if late := p.last - begun; late > 0 && j.End != 0 {
			j.Submit, j.Start, j.End = j.Submit+late, j.Start+late, j.End+late
			if j.Eligible != 0 {
				j.Eligible += late
			}
		}
		changed = append(changed, j)
	}
	p.tell(changed)
}

// tell tells of what happens to jobs, as far as it is not known. That a job began
// to wait before the last look is told only if it still waits: it is too late to
// ask for how long it will.
func (p *present) tell(jobs []workload.Job) {
	for _, e := range forecast.Events(jobs) {
		j := e.Job
		var known bool
		switch e.Kind {
		case forecast.Submitted:
			known = p.has(j) || p.waits(j) && j.Start != 0 || j.State != workload.Pending && e.At < p.last
		case forecast.Started:
			known = p.has(j)
		case forecast.Ended:
			known = !p.has(j)
		}
		if !known {
			p.mu.Lock()
			e.Tell(&p.queue, p)
			p.mu.Unlock()
		}
	}
}
