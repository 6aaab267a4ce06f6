package rollout

// Window is a stretch of time, From included and To not (Unix seconds), in which a Machine is closed: no task runs into it, and none starts
// in it. A job that ran from the beginning may run through it.
type Window struct{ From, To int64 }

// Windows are in the order of time and do not overlap.
type Windows []Window

// Since returns the windows that are not over at a time.
func (w Windows) Since(at int64) Windows {
	for len(w) > 0 && w[0].To <= at {
		w = w[1:]
	}
	return w
}

// Open returns the first time, from another on, at which a task with a limit (seconds) may start.
func (w Windows) Open(at, limit int64) int64 {
	for i := range w {
		if w[i].From-limit < at && at < w[i].To {
			at = w[i].To
		}
	}
	return at
}

// Before returns the windows that have begun by a time.
func (w Windows) Before(at int64) Windows {
	for len(w) > 0 && w[len(w)-1].From > at {
		w = w[:len(w)-1]
	}
	return w
}

// For returns when no task with a limit (seconds) may start.
func (w Windows) For(limit int64) Windows {
	if len(w) == 0 || limit <= 1 {
		return w
	}
	var no Windows
	for _, is := range w {
		is.From -= limit - 1 // what starts a second earlier ends in time
		if last := len(no) - 1; last >= 0 && is.From <= no[last].To {
			no[last].To = is.To
		} else {
			no = append(no, is)
		}
	}
	return no
}

// Closed returns how many seconds between two times are in windows.
func (w Windows) Closed(from, to int64) (seconds int64) {
	for i := range w {
		seconds += max(0, min(to, w[i].To)-max(from, w[i].From))
	}
	return seconds
}
