package forecast

import (
	"cmp"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/workload"
)

// Kind is what an Event tells an Observer.
type Kind uint8

// The kinds of events.
const (
	Ended Kind = iota
	Started
	Submitted
	Changed // see Changer
)

// Event is one thing that happens to a job.
type Event struct {
	At   int64 // Unix seconds
	Kind Kind
	Job  *workload.Job // may have times later than At; Tell hides them

	turn turn
}

// turn orders events in the same second.
type turn uint8

const (
	end turn = iota
	start
	submission
	startAtOnce // of a job submitted in the same second
	endAtOnce   // of a job that starts in the same second
)

// Events returns the events of jobs in the order of time. Jobs that begin to wait in the
// same second stay in the order given.
//
// A Pending or Running job has no Ended event. A job that was cancelled before it started
// waits until its End. Any other job without an End is left out.
func Events(jobs []workload.Job) []Event {
	list := make([]Event, 0, 3*len(jobs))
	for i := range jobs {
		j := &jobs[i]
		if j.End == 0 && j.State != workload.Pending && j.State != workload.Running {
			continue
		}
		at, starts, ends := j.Since(), start, end
		if j.Start > 0 {
			at = min(at, j.Start) // in case its times contradict each other
		}
		list = append(list, Event{at, Submitted, j, submission})
		if j.Start == at {
			starts = startAtOnce
		}
		if at = max(at, j.Start); j.End <= at {
			ends = endAtOnce
		}
		if j.Start > 0 {
			list = append(list, Event{j.Start, Started, j, starts})
		}
		if j.End > 0 {
			list = append(list, Event{max(at, j.End), Ended, j, ends})
		}
	}
	slices.SortStableFunc(list, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.turn, b.turn))
	})
	return list
}

// Tell tells first the queue and then each observer of the event. They see the job as it is
// known at that time.
func (e *Event) Tell(q *queue.Queue, observers ...Observer) {
	j := *e.Job
	switch e.Kind {
	case Submitted:
		j.Start, j.End, j.State = 0, 0, workload.Pending
		q.Submit(j)
		for _, o := range observers {
			o.Submitted(&j)
		}
	case Started:
		j.End, j.State = 0, workload.Running
		q.Start(j)
		for _, o := range observers {
			o.Started(&j)
		}
	case Changed:
		q.Change(&j)
		for _, o := range observers {
			if r, ok := o.(Changer); ok {
				r.Changed(&j)
			}
		}
	case Ended:
		q.Remove(j.ID)
		for _, o := range observers {
			o.Ended(&j)
		}
	}
}
