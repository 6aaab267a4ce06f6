package forecast

import "maps"

// mostAwaited bounds how many forecasts are remembered of jobs that still wait.
const mostAwaited = 5000

// awaited is what was said of jobs that still wait, to learn from when it is known
// how long they did. Of too many it keeps one in two, in four and so on: which ones
// must depend neither on how long they wait nor on when they came. If no others were
// taken in while many wait, what is learnt in the meantime would be of those alone;
// if old ones made room, it would be of short waits.
type awaited[T any] struct {
	said map[int64]T
	left uint64 // of a job's lot, the bits that must be 0
}

func newAwaited[T any]() awaited[T] { return awaited[T]{said: map[int64]T{}} }

// lot spreads jobs evenly, those of one array too (Knuth's multiplicative hashing).
func lot(job int64) uint64 { return uint64(job) * 0x9e3779b97f4a7c15 >> 32 }

// wants reports whether the job is one of those to keep.
func (a *awaited[T]) wants(job int64) bool { return lot(job)&a.left == 0 }

// put takes in what was said of a job.
func (a *awaited[T]) put(job int64, said T) {
	if !a.wants(job) {
		return
	}
	a.said[job] = said
	for len(a.said) > mostAwaited {
		a.left = a.left<<1 | 1
		maps.DeleteFunc(a.said, func(job int64, _ T) bool { return !a.wants(job) })
	}
}

// take returns what was said of a job, if it was kept, and forgets it.
func (a *awaited[T]) take(job int64) (said T, ok bool) {
	if said, ok = a.said[job]; ok {
		delete(a.said, job)
		if len(a.said) < mostAwaited/4 {
			a.left >>= 1
		}
	}
	return said, ok
}
