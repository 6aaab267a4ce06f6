package features

// habits are how many jobs users run at once, and whether they wait for each other,
// as they do where a user may run no more, or has one depend on another.
type habits struct{ by newest[int32, habit] }

type habit struct {
	most  float64 // jobs that ran at once, of late
	ended int64   // when the last one did
	after mean    // of those that waited: whether they started when one had just ended
}

// start takes in that one of a user's jobs, which now run, has started at a time
// after a wait in seconds.
func (h *habits) start(user int32, running int, at int64, wait float64) {
	const fade, just = .999, 120
	v, _ := h.by.get(user)
	v.most = max(fade*v.most, float64(running))
	if wait > 60 {
		after := 0.
		if at-v.ended < just {
			after = 1
		}
		v.after = v.after.with(after, .9)
	}
	h.by.set(user, v)
}

// end takes in that one of a user's jobs ended at a time.
func (h *habits) end(user int32, at int64) {
	v, _ := h.by.get(user)
	v.ended = at
	h.by.set(user, v)
}

// set sets the habits of a user who runs so many jobs.
func (h *habits) set(v *Vector, user int32, running float64) {
	of, _ := h.by.get(user)
	v.set(userMost, of.most)
	v.set(userRoom, of.most-running)
	v.set(userAfter, of.after.sum/(of.after.weight+1))
}
