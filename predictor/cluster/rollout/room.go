package rollout

import "github.com/varq-project/varq/predictor/cluster/sched"

// Room is what a window ahead leaves to a task that has its processors when the window begins: Left
// of them, beside the running jobs and the first task of the queue, as far as these may still have
// theirs then.
type Room struct {
	From int64 // when the window begins
	Left int32
}

// Rooms are those of the windows ahead, in the order of time.
type Rooms []Room

// Admit reports whether the rooms suffice for a task that needs so many processors and may run
// until a time. It costs O(1) for each window that begins before that.
func (r Rooms) Admit(need int32, until int64) bool {
	for i := 0; i < len(r) && r[i].From < until; i++ {
		if r[i].Left < need {
			return false
		}
	}
	return true
}

// reserve is what the windows that are not over keep from a rollout's tasks.
type reserve struct {
	procs int32   // of the machine
	kept  int32   // of them, by the window that has begun
	until int64   // when that is over; sched.Never: none has begun
	list  Windows // those that have not begun
	left  Rooms   // by window of list, beside the running jobs alone
	rooms Rooms   // by window of list, beside the first task, too
}

// load begins before all windows, with the running jobs in the order of Planned. With w windows and
// r jobs it takes O(w + r).
func (w *reserve) load(list Windows, free int32, running []Running) {
	w.kept, w.until, w.list = 0, sched.Never, list
	if len(list) == 0 {
		w.left, w.rooms = w.left[:0], w.rooms[:0]
		return
	}
	w.left, w.rooms = resize(w.left, len(list)), resize(w.rooms, len(list))
	w.procs = free
	for i := range running {
		w.procs += running[i].Procs
	}
	left := w.procs
	for i, r := len(list)-1, len(running)-1; i >= 0; i-- {
		for ; r >= 0 && running[r].Planned > list[i].From; r-- {
			left -= running[r].Procs
		}
		w.left[i] = Room{list[i].From, left - list[i].kept(w.procs)}
	}
	w.beside(0, 0, 0)
}

// next returns when the next window begins or the one that has begun is over; sched.Never: none
// does.
func (w *reserve) next() int64 {
	if len(w.list) > 0 {
		return min(w.until, w.list[0].From)
	}
	return w.until
}

// enter goes on to a time, and returns how many more processors are kept then.
func (w *reserve) enter(now int64) (more int32) {
	for w.next() <= now {
		if more -= w.kept; w.until <= now {
			w.kept, w.until = 0, sched.Never
			continue
		}
		w.kept, w.until = w.list[0].kept(w.procs), w.list[0].To
		w.list, w.left, w.rooms = w.list[1:], w.left[1:], w.rooms[1:]
		more += w.kept
	}
	return more
}

// has counts the processors of a job that may run until planned: one that starts (positive), or
// ends.
func (w *reserve) has(procs int32, planned int64) {
	for i := 0; i < len(w.left) && w.left[i].From < planned; i++ {
		w.left[i].Left -= procs
		w.rooms[i].Left -= procs
	}
}

// beside makes the rooms those beside a first task that needs so many processors from a time on
// until another.
func (w *reserve) beside(need int32, from, until int64) {
	copy(w.rooms, w.left)
	for i := range w.rooms {
		if at := w.rooms[i].From; from <= at && at < until {
			w.rooms[i].Left -= need
		}
	}
}

// plan returns when a task can start at the latest, with so many processors free now, and how many
// are free then: once enough running jobs have reached their limits and no window is in its way.
func (w *reserve) plan(now int64, free int32, planned *releases, need int32, limit int64) (at int64, then int32) {
	all, kept, ahead, left := free+w.kept, w.kept, w.list, w.left
	for from, until, on := now, w.next(), w.until != sched.Never; ; on = !on {
		if at, then = planned.freed(now, all-kept, need); at < from {
			at, then = from, all-kept+planned.by(from)
		}
		if at < until && then >= need && left.Admit(need, at+limit) || until == sched.Never {
			return at, then
		}
		from = until
		switch {
		case !on: // and so the next window is
			kept, until = ahead[0].kept(w.procs), ahead[0].To
			ahead, left = ahead[1:], left[1:]
		case len(ahead) > 0:
			kept, until = 0, ahead[0].From
		default:
			kept, until = 0, sched.Never
		}
	}
}
