package twin

import (
	"math"
	"math/bits"
)

// sizes is how many sizes of a machine are held possible.
const sizes = 3

// rarely is, for each of them, the share of the time for which a machine is used beyond
// its size: little, if it is seldom full; more, if logs err, nodes are lent, or jobs
// overlap for a moment in what is told of them. What comes first is believed until
// something else is known.
var rarely = [sizes]float64{.02, .001, .08}

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

// full returns how many processors are in use when all are, by each size; 0 if little
// has been seen.
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
