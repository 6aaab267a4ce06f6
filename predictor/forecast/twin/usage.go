package twin

import (
	"math"
	"math/bits"
)

const (
	// sizes is how many sizes of a machine are held possible.
	sizes = 3
	// halfLife is the age, in seconds, at which usage counts half as much.
	halfLife = 90 * 24 * 3600
)

// rarely is, for each size, the share of the time in which more processors are in use.
// It is small for a machine that is seldom full. It is larger where logs err, nodes are
// lent, or jobs seem to overlap for a moment.
var rarely = [sizes]float64{.02, .001, .08}

// usage is for how long how many processors have been in use.
type usage struct {
	used  int32
	since int64
	// time is seconds by slot of processors. Weights grow with time, which makes what
	// was long ago count less.
	time  []float64
	total float64
}

// slot returns the slot of a number of processors: one for each number up to 511,
// and 256 for each doubling beyond.
func slot(procs int32) int {
	shift := max(0, bits.Len32(uint32(procs))-9)
	return shift*256 + int(procs>>shift)
}

// slotMost returns the largest number of processors of a slot.
func slotMost(slot int) int32 {
	shift := max(0, slot/256-1)
	return int32(slot-shift*256+1)<<shift - 1
}

// change counts processors that are in use from now on; fewer if negative.
func (u *usage) change(now int64, procs int32) {
	if u.time == nil {
		u.since = now
	}
	i := slot(u.used)
	if i >= len(u.time) {
		u.time = append(u.time, make([]float64, i+1-len(u.time))...)
	}
	if now > u.since {
		weight := float64(now-u.since) * math.Exp2(float64(now)/halfLife)
		u.time[i] += weight
		u.total += weight
		u.since = now
	}
	u.used = max(0, u.used+procs)
}

// full returns each size: the processors in use that are rarely exceeded, or 0 as long
// as little has been seen.
func (u *usage) full() (procs [sizes]int32) {
	beyond := 0.
	for i := len(u.time) - 1; i >= 0; i-- {
		beyond += u.time[i]
		for size, share := range rarely {
			if procs[size] == 0 && beyond > share*u.total {
				procs[size] = slotMost(i)
			}
		}
	}
	return procs
}
