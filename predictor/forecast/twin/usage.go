package twin

import (
	"math"
	"math/bits"
)

const (
	// sizeCount is how many estimates of a pool's size are tried.
	sizeCount = 3
	// halfLife is the age, in seconds, at which usage counts half as much.
	halfLife = 90 * 24 * 3600
)

// exceeded is, for each estimate of a size, the share of the time in which more
// processors are in use. A small share suits a pool that is seldom full. A larger one
// suits logs that err, nodes that are lent, and jobs that seem to overlap for a moment.
var exceeded = [sizeCount]float64{.02, .001, .08}

// usage is for how long how many processors have been in use.
type usage struct {
	used  int32 // since then
	since int64
	// time is the weighted seconds by slot of processors, and total is their sum. A
	// newer second weighs more.
	time  []float64
	total float64
}

// slot returns the slot of a number of processors. Up to 511 each number has its own.
// Beyond, there are 256 slots for each doubling.
func slot(procs int32) int {
	shift := max(0, bits.Len32(uint32(procs))-9)
	return shift*256 + int(procs>>shift)
}

// slotMost returns the largest number of processors of a slot.
func slotMost(slot int) int32 {
	shift := max(0, slot/256-1)
	return int32(slot-shift*256+1)<<shift - 1
}

// change adds procs (negative removes) to the processors in use from now on.
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

// sizes returns each estimate of the size: the number of processors that the usage
// exceeds for a share of the time given by exceeded, rounded up to the end of a slot. All
// are 0 until processors have been in use for a second.
func (u *usage) sizes() (procs [sizeCount]int32) {
	beyond := 0.
	for i := len(u.time) - 1; i >= 0; i-- {
		beyond += u.time[i]
		for size, share := range exceeded {
			if procs[size] == 0 && beyond > share*u.total {
				procs[size] = slotMost(i)
			}
		}
	}
	return procs
}
