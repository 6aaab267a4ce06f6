package rollout

// Window is a stretch of time, From included and To not (Unix seconds), in which a Machine has only
// Left of each Of processors for its tasks, and none if Left is 0. It starts no task that would
// have one of the others in that time. A job that ran from the beginning may run through it.
type Window struct {
	From, To int64
	Left, Of int32
}

// serving is the least share of the processors that serve a queue. A smaller one serves hardly any
// of those that wait.
const serving = 1. / 16

// Closes reports whether a window closes a Machine: what it leaves serves hardly any of those that
// wait.
func (w *Window) Closes() bool { return w.share() < serving }

// share returns the share of the processors that is left.
func (w *Window) share() float64 { return float64(w.Left) / float64(max(1, w.Of)) }

// kept returns how many of so many processors are not left.
func (w *Window) kept(procs int32) int32 {
	return procs - int32(int64(procs)*int64(w.Left)/int64(max(1, w.Of)))
}

// Windows are in the order of time and do not overlap.
type Windows []Window

// Since returns the windows that are not over at a time.
func (w Windows) Since(at int64) Windows {
	for len(w) > 0 && w[0].To <= at {
		w = w[1:]
	}
	return w
}

// Before returns the windows that have begun by a time.
func (w Windows) Before(at int64) Windows {
	for len(w) > 0 && w[len(w)-1].From > at {
		w = w[:len(w)-1]
	}
	return w
}

// Closing returns those of the windows that close a Machine.
func (w Windows) Closing() Windows {
	var closing Windows
	for i := range w {
		if w[i].Closes() {
			closing = append(closing, w[i])
		}
	}
	return closing
}

// For returns what is left to a task with a limit (seconds), by when it starts: the least of what
// any window that it may run into leaves.
func (w Windows) For(limit int64) Windows {
	if len(w) == 0 || limit <= 1 {
		return w
	}
	// what starts a second earlier ends in time
	from := func(i int) int64 { return w[i].From - limit + 1 }
	var of Windows
	for at, first := from(0), 0; first < len(w); {
		least, next := first, first+1
		for ; next < len(w) && from(next) <= at; next++ {
			if w[next].share() < w[least].share() {
				least = next
			}
		}
		is := Window{at, w[first].To, w[least].Left, w[least].Of}
		if next < len(w) {
			is.To = min(is.To, from(next))
		}
		if last := len(of) - 1; last >= 0 && of[last].To == is.From && of[last].share() == is.share() {
			of[last].To = is.To
		} else {
			of = append(of, is)
		}
		at = is.To
		for first < len(w) && w[first].To <= at {
			first++
		}
		if first < len(w) {
			at = max(at, from(first))
		}
	}
	return of
}

// Closed returns how many seconds less a Machine serves in windows between two times, because of
// what they leave: half of a window's seconds if that leaves half of the processors.
func (w Windows) Closed(from, to int64) (seconds int64) {
	for i := range w {
		if in := min(to, w[i].To) - max(from, w[i].From); in > 0 {
			seconds += in - in*int64(w[i].Left)/int64(max(1, w[i].Of))
		}
	}
	return seconds
}
