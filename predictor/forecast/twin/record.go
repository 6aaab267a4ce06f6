package twin

import (
	"cmp"
	"slices"
	"sort"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
)

// record is a rollout of a whole queue to its end, from which follows when any further task would
// start. To ask a record costs O(m) with m moments at which processors are free, and hardly more
// than O(log n) with n jobs where the task starts soon.
//
// The task is taken to change nothing for the others until those ahead of it have started. That
// holds if it is behind all others: the answer is then that of a rollout with the task. Where
// others are behind it, some of them start before it in the record that would not if it was there.
type record struct {
	policy  rollout.Policy
	procs   int32
	windows rollout.Windows
	machine *rollout.Machine // for a rollout of one task

	tasks   []rollout.Task // in the order of the queue
	work    []int64        // by place: the processor-seconds of all tasks up to there
	ahead   []int64        // by place: when all tasks up to there have started
	moments []chance
	rooms   rollout.Rooms // of all moments
	ended   []past        // in the order of their ends
	started []begun       // in the order of their starts
	atFirst int32         // processors free before anything starts or ends
	begins  int32         // of them, those that tasks take at once
}

// chance is what a task behind all others could have from a moment on until the next one: free
// processors if it ended by shadow, or extra ones of them if not, within the rooms of the windows
// ahead.
type chance struct {
	at, shadow  int64
	free, extra int32
	rooms       [2]int32 // from and to, in record.rooms
}

// past is a job of a record, from its start, which is 0 if it ran from the beginning.
type past struct {
	start, end int64
	planned    int64 // when it would reach its limit
	procs      int32
	freed      int32 // by those that have ended by then, in all
}

// begun is the start of a job of a record.
type begun struct {
	at    int64
	procs int32 // of those that have started by then, in all
}

// make makes the record of a snapshot by a policy, in the memory of an earlier one.
func (r *record) make(s *Snapshot, p rollout.Policy, by runTimes) {
	r.policy, r.procs, r.atFirst, r.windows, r.machine = p, s.Procs, s.Free, s.reserved().Since(s.Now), &s.twin.rollout
	r.tasks, r.work, r.ahead = append(r.tasks[:0], s.Pending...), r.work[:0], r.ahead[:0]
	r.moments, r.rooms, r.ended, r.started = r.moments[:0], r.rooms[:0], r.ended[:0], r.started[:0]
	p.Sort(r.tasks)
	latest, work := s.Now, int64(0)
	for i, start := range s.begin(p, r.tasks, nil, by, r).Starts() {
		latest = max(latest, start)
		work += int64(r.tasks[i].Procs) * r.tasks[i].Run
		r.ahead, r.work = append(r.ahead, latest), append(r.work, work)
		r.started = append(r.started, begun{start, r.tasks[i].Procs})
	}
	slices.SortFunc(r.started, func(a, b begun) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.procs, b.procs)) })
	for i := 1; i < len(r.started); i++ {
		r.started[i].procs += r.started[i-1].procs
	}
	r.begins = r.atFirst - r.free(s.Now)
}

// Ended implements [rollout.Recorder].
func (r *record) Ended(j rollout.Running) {
	p := past{end: j.End, planned: j.Planned, procs: j.Procs, freed: j.Procs}
	if j.Place >= 0 {
		p.start = j.End - r.tasks[j.Place].Run
	}
	if n := len(r.ended); n > 0 {
		p.freed += r.ended[n-1].freed
	}
	r.ended = append(r.ended, p)
}

// Passed implements [rollout.Recorder].
func (r *record) Passed(now, shadow int64, free, extra int32, ahead rollout.Rooms) {
	n := len(r.moments)
	if n > 0 && r.moments[n-1].at == now {
		n--
		r.moments, r.rooms = r.moments[:n], r.rooms[:r.moments[n].rooms[0]]
	}
	if n > 0 && free <= 0 && r.moments[n-1].free <= 0 {
		return
	}
	m := chance{now, shadow, free, extra, [2]int32{int32(len(r.rooms)), int32(len(r.rooms))}}
	if free > 0 {
		r.rooms = append(r.rooms, ahead...)
		m.rooms[1] = int32(len(r.rooms))
	}
	r.moments = append(r.moments, m)
}

// indexAt returns the index of the moment that lasts at a time, or 0 if none does.
func (r *record) indexAt(at int64) int {
	return max(0, sort.Search(len(r.moments), func(i int) bool { return r.moments[i].at > at })-1)
}

// wait returns how long a task waits that joins the queue when it is submitted, now or later, in
// seconds, when so many processors are free now. The task needs no more than r.procs. What is free
// besides what the record says is taken to remain so, and what newcomers ahead of the task need to
// be kept for them. The job that id names is not one of them.
func (r *record) wait(t *rollout.Task, now int64, free int32, newcomers map[int64]rollout.Task, id int64) int64 {
	joins := max(now, t.Submit)
	head := joins // when no task is ahead any more
	if place := r.policy.Place(r.tasks, *t); place > 0 {
		head = max(head, r.ahead[place-1])
	}
	kept := int64(0)
	for other, o := range newcomers {
		if other != id && r.policy.Compare(o, *t) <= 0 {
			kept += int64(o.Procs)
		}
	}
	need := t.Procs + int32(min(kept, int64(r.procs))) - r.more(now, free)
	if r.policy.Backfill != sched.NoBackfill {
		for i := r.indexAt(joins); i < len(r.moments); i++ {
			m := &r.moments[i]
			at := max(m.at, joins)
			if at >= head {
				break
			}
			if need <= m.free && (need <= m.extra || t.Limit <= m.shadow-at) && r.rooms[m.rooms[0]:m.rooms[1]].Admit(need, at+t.Limit) {
				return at - joins
			}
		}
	}
	return r.room(need, head, t.Limit) - joins
}

// more returns how many more processors are free than would be if all had come as in the record.
// What began at once in it may have had to wait for something that the record does not know.
func (r *record) more(now int64, free int32) int32 { return free - r.begins - r.free(now) }

// free returns how many processors are free at a time.
func (r *record) free(at int64) int32 {
	free := r.atFirst
	if n := r.endedBy(at); n > 0 {
		free += r.ended[n-1].freed
	}
	if n := sort.Search(len(r.started), func(i int) bool { return r.started[i].at > at }); n > 0 {
		free -= r.started[n-1].procs
	}
	return free
}

// before returns the processor-seconds of the tasks that have this priority or a higher one. The
// record must be in the order of priority.
func (r *record) before(priority int64) int64 {
	n := sort.Search(len(r.tasks), func(i int) bool { return r.tasks[i].Priority < priority })
	if n == 0 {
		return 0
	}
	return r.work[n-1]
}

// endedBy returns how many jobs have ended by a time.
func (r *record) endedBy(at int64) int {
	return sort.Search(len(r.ended), func(i int) bool { return r.ended[i].end > at })
}

// room returns when so many processors are free for a task with a limit (seconds), from a time on,
// beside the jobs that have started until then.
func (r *record) room(procs int32, from, limit int64) int64 {
	if len(r.windows.Since(from)) > 0 {
		return r.roomBesideWindows(procs, from, limit)
	}
	at, free := from, r.free(from)
	for _, p := range r.ended[r.endedBy(from):] {
		if free >= procs {
			break
		}
		if p.start <= from {
			free, at = free+p.procs, p.end
		}
	}
	return at
}

// roomBesideWindows is room while windows are ahead: a rollout of the task alone tells. With n jobs
// it costs O(n log n).
func (r *record) roomBesideWindows(procs int32, from, limit int64) int64 {
	var running []rollout.Running
	for _, p := range r.ended[r.endedBy(from):] {
		if p.start <= from {
			running = append(running, rollout.Running{Planned: p.planned, End: p.end, Procs: p.procs, Place: -1})
		}
	}
	slices.SortFunc(running, func(a, b rollout.Running) int { return cmp.Compare(a.Planned, b.Planned) })
	task := []rollout.Task{{Submit: from, Limit: limit, Run: limit, Procs: max(0, min(procs, r.procs))}}
	r.machine.Windows = r.windows
	r.machine.Load(sched.NoBackfill, from, r.free(from), running, task, nil, nil)
	return r.machine.StartOf(0)
}
