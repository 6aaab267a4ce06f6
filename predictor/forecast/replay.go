package forecast

import (
	"cmp"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/workload"
)

// Replay lives through jobs, given in any order, as Events says. What happens is
// told to the queue, and then to each observer. Just before a job begins to wait
// that is going to start, asked is called: j is the truth, of which a forecaster
// must be told no more than its Request. An error of asked ends the replay, and is
// returned.
func Replay(jobs []workload.Job, q *queue.Queue, observers []Observer, asked func(j *workload.Job) error) error {
	for _, e := range Events(jobs) {
		if e.Kind == Submitted && e.Job.Start > 0 {
			if err := asked(e.Job); err != nil {
				return err
			}
		}
		e.Tell(q, observers...)
	}
	return nil
}

// Kind is what happens to a job, as an Observer is told it.
type Kind uint8

// All that happens.
const (
	Ended Kind = iota
	Started
	Submitted
)

// Event is what happens to a job, of which more may be known than is told then.
type Event struct {
	At   int64
	Kind Kind
	Job  *workload.Job

	turn turn
}

// turn is the order in which things happen at one moment.
type turn uint8

const (
	end turn = iota
	start
	submission
	startAtOnce // of a job submitted at the same moment
	endAtOnce   // of a job that starts at the same moment
)

// Events returns what happens to jobs, in its order. Jobs that begin to wait in the
// same second come in the order given.
//
// A job that is Pending or Running still waits or runs in the end. One that was
// cancelled before it started waits until its End. Others whose End is unknown
// are left out.
func Events(jobs []workload.Job) []Event {
	list := make([]Event, 0, 3*len(jobs))
	for i := range jobs {
		j := &jobs[i]
		if j.End == 0 && j.State != workload.Pending && j.State != workload.Running {
			continue
		}
		at, starts, ends := j.Since(), start, end
		if j.Start > 0 {
			at = min(at, j.Start) // where its times contradict one another
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

// Tell tells the queue, and then each observer, what happens, and no more.
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
	case Ended:
		q.Remove(j.ID)
		for _, o := range observers {
			o.Ended(&j)
		}
	}
}
