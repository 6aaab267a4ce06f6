// Package backtest scores forecasters on logs, lived through as they happened:
// each job is asked about when it was submitted, with nothing known but what had
// happened by then.
package backtest

import (
	"cmp"
	"slices"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/queue"
	"github.com/varq-project/varq/predictor/workload"
)

// Replay lives through the jobs of a log, in any order. What happens is told to
// the queue, and then to each observer. Just before a job is submitted that is
// going to start, asked is called: j is the truth, of which a forecaster must be
// told no more than its Request. Jobs submitted in the same second come in the
// order of the log.
//
// A job that was cancelled before it started waits until its End, and is left out
// where that is unknown.
func Replay(jobs []workload.Job, q *queue.Queue, observers []forecast.Observer, asked func(j *workload.Job)) {
	for _, e := range events(jobs) {
		j := &jobs[e.job]
		switch e.kind {
		case submission:
			if j.Start > 0 {
				asked(j)
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
		if j.End == 0 {
			continue
		}
		starts, ends := start, end
		if j.Start == j.Submit {
			starts = startAtOnce
		}
		if j.End == j.Start || j.Start == 0 && j.End == j.Submit {
			ends = endAtOnce
		}
		list = append(list, event{j.Submit, submission, int32(i)}, event{j.End, ends, int32(i)})
		if j.Start > 0 {
			list = append(list, event{j.Start, starts, int32(i)})
		}
	}
	slices.SortFunc(list, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind), cmp.Compare(a.job, b.job))
	})
	return list
}
