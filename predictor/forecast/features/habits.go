package features

// habits are how many jobs each user runs at once, and whether a user's jobs wait for one
// another: as they do if the user has reached a limit on running jobs, or if one job
// depends on another.
type habits struct{ by newest[int32, habit] }

type habit struct {
	most  float64 // the most jobs that ran at once, decaying
	ended int64   // when the last job ended, Unix seconds
	after mean    // over jobs that waited: 1 if a job started when another had just ended, else 0
}

// start takes in the start, at a time, of a user's job that had waited for wait seconds.
// running is the number of the user's jobs that run now.
func (h *habits) start(user int32, running int, at int64, wait float64) {
	const mostDecay, just = .999, 120
	v, _ := h.by.get(user)
	v.most = max(mostDecay*v.most, float64(running))
	if wait > 60 {
		after := 0.
		if at-v.ended < just {
			after = 1
		}
		v.after = v.after.with(after, .9)
	}
	h.by.set(user, v)
}

// end takes in the end, at a time, of a user's job.
func (h *habits) end(user int32, at int64) {
	v, _ := h.by.get(user)
	v.ended = at
	h.by.set(user, v)
}

// set sets the features of a user's habits. running is the number of the user's jobs that
// run now.
func (h *habits) set(v *Vector, user int32, running float64) {
	of, _ := h.by.get(user)
	v.set(userMost, of.most)
	v.set(userRoom, of.most-running)
	v.set(userAfter, of.after.sum/(of.after.weight+1))
}
