package montecarlo

import (
	"slices"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
)

// future is one future of a machine without the job that is asked about, recorded such
// that any job can be put into it.
//
// A job that waits behind others changes nothing for anybody until it starts. So it
// starts at the first moment at which backfilling would have let it, or, at the latest,
// once all ahead of it have started and enough of them have ended. With jobs to come
// behind it this is not quite exact, in two small ways. Such a job may take what the
// asked one, unless it is first, would have been offered before; this shows the asked
// job too late. And jobs that end early make room that the asked one has taken already;
// this shows it too early.
type future struct {
	procs   int32
	tasks   []rollout.Task // in the order of the queue
	starts  []int64        // of the tasks
	places  []int32        // of the tasks, by submission
	ends    []rollout.Running
	moments []moment
}

// moment is what backfilling leaves from a time on, until the next moment: as
// rollout.Recorder's Passed says.
type moment struct {
	at, shadow  int64
	free, extra int32
}

// reset empties the future, of a machine of so many processors. Its memory is kept.
func (f *future) reset(procs int32) {
	f.procs, f.tasks, f.ends, f.moments = procs, f.tasks[:0], f.ends[:0], f.moments[:0]
}

// Ended implements rollout.Recorder.
func (f *future) Ended(r rollout.Running) { f.ends = append(f.ends, r) }

// Passed implements rollout.Recorder.
func (f *future) Passed(now, shadow int64, free, extra int32) {
	m := moment{now, shadow, free, extra}
	if last := len(f.moments) - 1; last >= 0 && f.moments[last].at == now {
		f.moments[last] = m
		return
	}
	f.moments = append(f.moments, m)
}

// start returns when a job would start, or sched.Never.
func (f *future) start(p rollout.Policy, asked rollout.Task) int64 {
	return min(f.turn(int32(p.Place(f.tasks, asked)), asked), f.backfilled(asked))
}

// turn returns when a job is the first of the queue, where it has a place, and has
// enough of the processors that those ahead of it hold by then.
func (f *future) turn(place int32, asked rollout.Task) int64 {
	turn := asked.Submit
	for _, i := range f.places {
		if f.tasks[i].Submit > turn {
			break
		}
		if i < place {
			turn = max(turn, f.starts[i])
		}
	}
	if turn == sched.Never {
		return sched.Never
	}
	held := int32(0)
	for _, r := range slices.Backward(f.ends) {
		if r.End <= turn {
			break
		}
		if r.Place < place && (r.Place < 0 || f.starts[r.Place] <= turn) {
			if held += r.Procs; held > f.procs-asked.Procs {
				return r.End
			}
		}
	}
	return turn
}

// backfilled returns when backfilling first lets a job start, or sched.Never.
func (f *future) backfilled(asked rollout.Task) int64 {
	for i, m := range f.moments {
		next := int64(sched.Never)
		if i+1 < len(f.moments) {
			next = f.moments[i+1].at
		}
		at := max(m.at, asked.Submit)
		if at < next && m.free >= asked.Procs && (m.extra >= asked.Procs || asked.Limit <= m.shadow-at) {
			return at
		}
	}
	return sched.Never
}
