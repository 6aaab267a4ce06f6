package montecarlo

import (
	"slices"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
)

// future records one future of a machine. The future does not have the job that is asked
// about, but the record tells when any job would have started in it.
//
// A job that waits behind others does not change their starts. So the job asked about
// starts at the first moment at which backfilling would have started it. At the latest it
// starts when all jobs ahead of it have started and enough of them have ended.
//
// If jobs arrive behind the job asked about, the start is not exact. In the record a later
// job may take processors that the scheduler would have offered to the job asked about:
// then the start is too late. And the record may offer processors that the job asked about
// would have taken before: then the start is too early.
type future struct {
	procs   int32
	tasks   []rollout.Task    // in the order of the queue
	starts  []int64           // of the tasks
	places  []int32           // indices of the tasks, by submission
	ends    []rollout.Running // in the order of their ends
	moments []moment
}

// moment has the arguments of rollout.Recorder.Passed. They hold until the next moment.
type moment struct {
	at, shadow  int64
	free, extra int32
}

// reset empties the future and sets its number of processors. It keeps the memory.
func (f *future) reset(procs int32) {
	f.procs, f.tasks, f.ends, f.moments = procs, f.tasks[:0], f.ends[:0], f.moments[:0]
}

// Ended implements rollout.Recorder.
func (f *future) Ended(r rollout.Running) { f.ends = append(f.ends, r) }

// Passed implements rollout.Recorder. There are no windows.
func (f *future) Passed(now, shadow int64, free, extra int32, _ rollout.Rooms) {
	m := moment{now, shadow, free, extra}
	if last := len(f.moments) - 1; last >= 0 && f.moments[last].at == now {
		f.moments[last] = m
		return
	}
	f.moments = append(f.moments, m)
}

// start returns when the job asked would start under the policy, or sched.Never.
func (f *future) start(p rollout.Policy, asked rollout.Task) int64 {
	return min(f.turn(int32(p.Place(f.tasks, asked)), asked), f.backfilled(asked))
}

// turn returns when a job with this place in the queue starts without backfilling: when all
// tasks ahead of it have started, and enough processors are free of their jobs.
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

// backfilled returns the first time at which backfilling would start the job, or
// sched.Never.
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
