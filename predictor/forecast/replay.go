package forecast

import (
	"cmp"
	"slices"

	"github.com/varq-project/varq/predictor/queue"
	"github.com/varq-project/varq/predictor/workload"
)

// Replay lives through jobs, given in any order. What happens is told to the queue,
// and then to each observer. Just before a job begins to wait that is going to
// start, asked is called: j is the truth, of which a forecaster must be told no
// more than its Request. An error of asked ends the replay, and is returned. Jobs
// that begin to wait in the same second come in the order given.
//
// A job that is Pending or Running still waits or runs in the end. One that was
// cancelled before it started waits until its End. Others whose End is unknown
// are left out.
func Replay(jobs []workload.Job, q *queue.Queue, observers []Observer, asked func(j *workload.Job) error) error {
	for _, e := range events(jobs) {
		j := &jobs[e.job]
		switch e.kind {
		case submission:
			if j.Start > 0 {
				if err := asked(j); err != nil {
					return err
				}
			}
			waiting := *j
			waiting.Start, waiting.End, waiting.State = 0, 0, workload.Pending
			q.Submit(waiting)
			for _, o := range observers {
				o.Submitted(&waiting)
			}
		case start, startAtOnce:
			running := *j
			running.End, running.State = 0, workload.Running
			q.Start(running)
			for _, o := range observers {
				o.Started(&running)
			}
		case end, endAtOnce:
			q.Remove(j.ID)
			for _, o := range observers {
				o.Ended(j)
			}
		}
	}
	return nil
}

// kind is what happens, in the order in which it happens at one moment.
type kind uint8

const (
	end kind = iota
	start
	submission
	startAtOnce // of a job submitted at the same moment
	endAtOnce   // of a job that starts at the same moment
)

type event struct {
	at   int64
	kind kind
	job  int32 // index
}

// events returns what happens, in its order.
func events(jobs []workload.Job) []event {
	list := make([]event, 0, 3*len(jobs))
	for i := range jobs {
		j := &jobs[i]
		ended := j.End != 0
		if !ended && j.State != workload.Pending && j.State != workload.Running {
			continue
		}
		begins, starts, ends := eligible(j), start, end
		if j.Start > 0 {
			begins = min(begins, j.Start) // where its times contradict one another
		}
		if j.Start == begins {
			starts = startAtOnce
		}
		over := max(j.End, j.Start, begins)
		if over == max(j.Start, begins) {
			ends = endAtOnce
		}
		list = append(list, event{begins, submission, int32(i)})
		if j.Start > 0 {
			list = append(list, event{j.Start, starts, int32(i)})
		}
		if ended {
			list = append(list, event{over, ends, int32(i)})
		}
	}
	slices.SortFunc(list, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind), cmp.Compare(a.job, b.job))
	})
	return list
}
