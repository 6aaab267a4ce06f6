package recalibration

const (
	// sharedOutcomes is the number of outcomes that the curve of all users counts for in the
	// curve of one.
	sharedOutcomes = 100.
	// mostUsers is the most users remembered. When there are more, the one whose newest
	// outcome is oldest is forgotten.
	mostUsers = 1000
)

// users are what was learnt from the outcomes of each user.
type users struct {
	byName   map[string]*user
	outcomes int // of all users
}

type user struct {
	pits   [len(decays)]histogram // by memory; they decay with her own outcomes
	sample sample                 // of the memory with the shorter half-life
	lower  lowerBound             // as of her newest outcome
	part   feedback               // her part of the corrections
	newest int                    // which of all users' outcomes was her newest
}

// learn takes in the PIT of a user's outcome.
func (all *users) learn(name string, pit float64) *user {
	u := all.byName[name]
	if u == nil {
		if len(all.byName) >= mostUsers {
			all.forget()
		}
		u = new(user)
		for k, decay := range decays {
			u.pits[k] = newHistogram(decay, 0)
		}
		all.byName[name] = u
	}
	for k := range u.pits {
		u.pits[k].learn(pit, 1)
	}
	u.sample.learn(decays[0])
	all.outcomes++
	u.newest = all.outcomes
	return u
}

// forget forgets the user whose newest outcome is oldest.
func (all *users) forget() {
	var oldest string
	newest := all.outcomes + 1
	for name, u := range all.byName {
		if u.newest < newest {
			oldest, newest = name, u.newest
		}
	}
	delete(all.byName, oldest)
}

// curve returns the user's curve for a memory, given that of all users for a stratum: her
// PITs are joined by sharedOutcomes ones with the distribution of all.
func (u *user) curve(memory int, shared *curve, f *feedback) *curve {
	h, own := &u.pits[memory], new(curve)
	n, sum, inverse := h.total/h.newest, 0., f.inverse()
	for i, weight := range h.weights {
		sum += weight
		own[i+1] = max(own[i], (n*min(inverse.at(sum/h.total), 1)+sharedOutcomes*shared[i+1])/(n+sharedOutcomes))
	}
	own[bins] = 1
	return own
}
