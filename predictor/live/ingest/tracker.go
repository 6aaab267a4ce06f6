package ingest

import (
	"context"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/workload"
)

// Model observes a cluster. It is an outlook.Model, except in tests. One goroutine at a
// time calls its methods.
type Model interface {
	// Learn learns past jobs, given in any order, before the model serves. It calls
	// progress with the percentage that is done.
	Learn(ctx context.Context, jobs []workload.Job, progress func(percent int64)) error
	// Observe observes an event.
	Observe(e *forecast.Event)
	// Hear takes in news of the cluster.
	Hear(n expert.News)
	// Queue returns the queue as the model knows it. Only Learn and Observe change it.
	Queue() *queue.Queue
	// Serve replaces the model that has served so far by this one.
	Serve()
}

// tracker turns snapshots of the queue and records of accounting into the events that a
// model observes. Snapshots and records are incomplete and late, and report the same jobs.
//
// Invariants: the model observes each submission, start and end at most once. Its queue is
// that of the last snapshot, changed by what accounting has reported since.
type tracker struct {
	Model
	at int64 // when the last snapshot was taken; before the first, the end of coverage
	// the model has learnt the newest jobs of the past only, and there are more to learn
	learning bool
}

// newRuns returns the running jobs of a snapshot that do not run in the model's queue.
func (t *tracker) newRuns(s *snapshot) []workload.Job {
	_, running := s.jobs()
	var runs []workload.Job
	for i := range running {
		if j := &running[i]; !t.has(j) {
			runs = append(runs, *j)
		}
	}
	return runs
}

// has reports whether j waits or runs in the model's queue with the same times.
func (t *tracker) has(j *workload.Job) bool {
	known := t.Queue().Job(j.ID)
	return known != nil && known.Submit == j.Submit && known.Start == j.Start && (j.Start != 0 || known.Since() == j.Since())
}

// differ reports whether a job that waits has changed in what forecast.Changer is told.
func differ(a, b *workload.Job) bool {
	asks := b.Request
	asks.Line = a.Line // which the model sets
	return a.Count() != b.Count() || a.Request != asks || a.AtLimit != b.AtLimit || a.QOSFull != b.QOSFull || a.Priority != b.Priority || !slices.Equal(a.On, b.On)
}

// waits reports whether j waits in the model's queue.
func (t *tracker) waits(j *workload.Job) bool {
	known := t.Queue().Job(j.ID)
	return known != nil && known.Submit == j.Submit && known.Start == 0
}

// observeSnapshot feeds to the model what has changed since the last snapshot. Started are
// the runs that the history did not know before. The model has observed any other run
// before, unless its job still waits in the model's queue. A job that is gone is taken to
// have ended at the time of the last snapshot, and so before the starts for which it made
// room.
func (t *tracker) observeSnapshot(s *snapshot, started map[run]bool) {
	waiting, running := s.jobs()
	stays := make(map[int64]bool, len(waiting)+len(running))
	var changed []workload.Job
	// Of jobs that were submitted in the same second, those came first that run.
	for i := range running {
		j := &running[i]
		waited := t.waits(j)
		if stays[j.ID] = waited || t.has(j); waited || !stays[j.ID] && started[runOf(j)] {
			changed = append(changed, *j)
		} else if known := t.Queue().Job(j.ID); stays[j.ID] && (known.Limit != j.Limit || known.Given < j.Given || !slices.Equal(known.On, j.On)) {
			// Accounting may have told of the job first, and does not tell that it shares no nodes.
			t.Observe(&forecast.Event{At: s.at, Kind: forecast.Changed, Job: j})
		}
	}
	for i := range waiting {
		j := &waiting[i]
		if stays[j.ID] = t.has(j); !stays[j.ID] {
			changed = append(changed, *j)
		} else if known := t.Queue().Job(j.ID); differ(j, &known.Job) {
			t.Observe(&forecast.Event{At: s.at, Kind: forecast.Changed, Job: j})
		}
	}
	leave := func(known *queue.Job) {
		if stays[known.ID] {
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

// observeAccounting feeds jobs of accounting to the model: those in the model's queue, and
// those whose runs are in started, which the history did not know before. If a job came and
// went between two snapshots, the model observes it as if it had come at the time of the
// last one. All its times are shifted alike, so that its wait and its run time remain.
func (t *tracker) observeAccounting(jobs []workload.Job, started map[run]bool) {
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
		if begun < t.at-overlap { // snapshots would have shown it waiting: it did not wait so long
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

// observe feeds to the model the events of jobs that it has not observed. A submission
// before the last snapshot counts only while the job waits: once it has started, it is too
// late to forecast its wait.
func (t *tracker) observe(jobs []workload.Job) {
	for _, e := range forecast.Events(jobs) {
		j := e.Job
		var skip bool
		switch e.Kind {
		case forecast.Submitted:
			skip = t.has(j) || t.waits(j) && j.Start != 0 || j.State != workload.Pending && e.At < t.at
		case forecast.Started:
			skip = t.has(j)
		case forecast.Ended:
			skip = !t.has(j)
		}
		if !skip {
			t.Observe(&e)
		}
	}
}
