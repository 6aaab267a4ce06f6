package twin

import (
	"sort"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
)

// record is a rollout of a whole queue to its end, from which follows when any further task would start. To ask a
// record costs O(m) with m moments at which processors are free, and hardly more than O(log n) with n jobs where the
// task starts soon.
//
// The task is taken to change nothing for the others until those ahead of it have started. That holds if it is behind
// all others: the answer is then that of a rollout with the task. Where others are behind it, some of them start before it in the
// record that would not if it was there.
type record struct {
	policy rollout.Policy
	procs  int32

	tasks   []rollout.Task // in the order of the queue
	ahead   []int64        // by place: when all tasks up to there have started
	moments []chance
	ended   []past // in the order of their ends
}

// chance is what a task behind all others could have from a moment on until the next one: free processors if it ended by shadow, or extra
// ones of them if not.
type chance struct {
	at, shadow  int64
	free, extra int32
}

// past is a job of a record, from its start, which is 0 if it ran from the beginning.
type past struct {
	start, end int64
	procs      int32
}

// make makes the record of a snapshot by a policy, in the memory of an earlier one.
func (r *record) make(s *Snapshot, p rollout.Policy, by runTimes) {
	r.policy, r.procs = p, s.Procs
	r.tasks, r.ahead, r.moments, r.ended = append(r.tasks[:0], s.Pending...), r.ahead[:0], r.moments[:0], r.ended[:0]
	p.Sort(r.tasks)
	latest := s.Now
	for _, start := range s.begin(p, r.tasks, by, r).Starts() {
		latest = max(latest, start)
		r.ahead = append(r.ahead, latest)
	}
}

// Ended implements [rollout.Recorder].
func (r *record) Ended(j rollout.Running) {
	p := past{end: j.End, procs: j.Procs}
	if j.Place >= 0 {
		p.start = j.End - r.tasks[j.Place].Run
	}
	r.ended = append(r.ended, p)
}

// Passed implements [rollout.Recorder].
func (r *record) Passed(now, shadow int64, free, extra int32) {
	m := chance{now, shadow, free, extra}
	switch n := len(r.moments); {
	case n > 0 && r.moments[n-1].at == now:
		r.moments[n-1] = m
	case n == 0 || free > 0 || r.moments[n-1].free > 0:
		r.moments = append(r.moments, m)
	}
}

// wait returns how long a task waits that joins the queue now, in seconds. It needs no more than r.procs.
func (r *record) wait(t *rollout.Task, now int64) int64 {
	head := now // when no task is ahead any more
	if place := r.policy.Place(r.tasks, *t); place > 0 {
		head = max(head, r.ahead[place-1])
	}
	if r.policy.Backfill != sched.NoBackfill {
		if at := r.gap(t, now, head); at < head {
			return at - now
		}
	}
	return r.room(t.Procs, head) - now
}

// gap returns when a task is first backfilled from now on, or head if it is not before then.
func (r *record) gap(t *rollout.Task, now, head int64) int64 {
	for i := max(0, sort.Search(len(r.moments), func(i int) bool { return r.moments[i].at > now })-1); i < len(r.moments); i++ {
		m := &r.moments[i]
		at := max(m.at, now)
		if at >= head {
			break
		}
		if t.Procs <= m.free && (t.Procs <= m.extra || t.Limit <= m.shadow-at) {
			return at
		}
	}
	return head
}

// room returns when so many processors are free from a time on, beside the jobs that have started until then.
func (r *record) room(procs int32, from int64) int64 {
	free := r.procs
	next := sort.Search(len(r.ended), func(i int) bool { return r.ended[i].end > from })
	for _, p := range r.ended[next:] {
		if p.start <= from {
			free -= p.procs
		}
	}
	if free >= procs {
		return from
	}
	for _, p := range r.ended[next:] {
		if p.start <= from {
			if free += p.procs; free >= procs {
				return p.end
			}
		}
	}
	return from // not reached: all are free in the end
}
