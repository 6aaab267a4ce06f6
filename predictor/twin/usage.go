package twin

import (
	"math"
	"math/bits"
)

// rarely is the share of the time for which a machine is taken to be used beyond its
// full size: as jobs overlap for a moment in what is told of them, as nodes are
// lent, or as logs err.
const rarely = .02

// halfLife is after how many seconds a time counts half as much.
const halfLife = 90 * day

// usage is for how long how many processors have been in use.
type usage struct {
	used  int32
	since int64
	// time is for how long, by slots of processors, growing in weight so that what was
	// long ago counts less.
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

// change counts processors that are in use from a time on, or fewer.
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

// full returns how many processors are in use when all are, and 0 if little has
// been seen.
func (u *usage) full() int32 {
	beyond := 0.
	for i := len(u.time) - 1; i >= 0; i-- {
		if beyond += u.time[i]; beyond > rarely*u.total {
			return slotMost(i)
		}
	}
	return 0
}
