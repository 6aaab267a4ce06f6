package ingest

import (
	"context"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/workload"
)

// Model observes a cluster, as outlook.Model does. The methods are called by one
// goroutine at a time.
type Model interface {
	// Learn observes past jobs, given in any order, before the model serves. Progress
	// is called with the share of them that is done, in percent.
	Learn(ctx context.Context, jobs []workload.Job, progress func(percent int64)) error
	// Observe observes an event, and Outage that an outage has begun or is over.
	Observe(e *forecast.Event)
	Outage(o qbets.Outage)
	// Queue is the queue as the model knows it. Only Learn and Observe change it.
	Queue() *queue.Queue
	// Serve lets the model take the place of the one before.
	Serve()
}

// tracker turns snapshots of the queue and records of accounting into the events that a
// model observes. Both are incomplete and late, and both report the same jobs.
//
// Invariants: the model observes each submission, start and end once. Its queue is that
// of the last snapshot, but for jobs that accounting has reported since.
type tracker struct {
	Model
	at int64 // when the last snapshot was taken
}

// unseen returns the running jobs of a snapshot that do not run in the model's queue.
func (t *tracker) unseen(s *snapshot) []workload.Job {
	_, running := s.jobs()
	var unseen []workload.Job
	for i := range running {
		if j := &running[i]; !t.has(j) {
			unseen = append(unseen, *j)
		}
	}
	return unseen
}

// has reports whether j waits or runs in the model's queue with the same times.
func (t *tracker) has(j *workload.Job) bool {
	known := t.Queue().Job(j.ID)
	return known != nil && known.Submit == j.Submit && known.Start == j.Start && (j.Start != 0 || known.Since() == j.Since())
}

// waits reports whether j waits in the model's queue.
func (t *tracker) waits(j *workload.Job) bool {
	known := t.Queue().Job(j.ID)
	return known != nil && known.Submit == j.Submit && known.Start == 0
}

// snapshot observes what has changed since the last snapshot. Started are the runs that
// the history did not know before. Any other run was observed before, and counts only if
// its job still waits in the model's queue. A job that is gone has left just after the
// last snapshot, and so before the starts for which it made room.
func (t *tracker) snapshot(s *snapshot, started map[run]bool) {
	waiting, running := s.jobs()
	unchanged := make(map[int64]bool, len(waiting)+len(running))
	var changed []workload.Job
	for i := range waiting {
		j := &waiting[i]
		if unchanged[j.ID] = t.has(j); !unchanged[j.ID] {
			changed = append(changed, *j)
		}
	}
	for i := range running {
		j := &running[i]
		waited := t.waits(j)
		if unchanged[j.ID] = waited || t.has(j); waited || !unchanged[j.ID] && started[runOf(j)] {
			changed = append(changed, *j)
		}
	}
	leave := func(known *queue.Job) {
		if unchanged[known.ID] {
			return
		}
		j := known.Job
		j.End, j.State = max(t.at, j.Start, j.Since()), workload.Unknown
		changed = append(changed, j)
	}
	for j := range t.Queue().Pending() {
		leave(j)
	}
	for j := range t.Queue().Running() {
		leave(j)
	}
	t.observe(changed)
	t.at = s.at
}

// accounting observes jobs of accounting: those in the model's queue, and those whose
// runs are in started, which the history did not know before. A job that came and went
// between two snapshots is observed as if it had come just after the last. Its times are
// shifted, so that its wait and its run time stay what they were.
func (t *tracker) accounting(jobs []workload.Job, started map[run]bool) {
	var changed []workload.Job
	for _, j := range jobs {
		if j.Start == 0 && j.End == 0 {
			continue
		}
		if t.waits(&j) || t.has(&j) {
			changed = append(changed, j)
			continue
		}
		if !started[runOf(&j)] {
			continue
		}
		begun := j.Since()
		if begun < t.at-overlap { // too long ago to have come since, but never seen waiting
			begun = j.Start
		}
		if late := t.at - begun; late > 0 && j.End != 0 {
			j.Submit, j.Start, j.End = j.Submit+late, j.Start+late, j.End+late
			if j.Eligible != 0 {
				j.Eligible += late
			}
		}
		changed = append(changed, j)
	}
	t.observe(changed)
}

// observe has the model observe what happens to jobs, but for what it knows. A wait that
// began before the last snapshot is observed only while it lasts: afterwards it is too
// late to forecast it.
func (t *tracker) observe(jobs []workload.Job) {
	for _, e := range forecast.Events(jobs) {
		j := e.Job
		var known bool
		switch e.Kind {
		case forecast.Submitted:
			known = t.has(j) || t.waits(j) && j.Start != 0 || j.State != workload.Pending && e.At < t.at
		case forecast.Started:
			known = t.has(j)
		case forecast.Ended:
			known = !t.has(j)
		}
		if !known {
			t.Observe(&e)
		}
	}
}
