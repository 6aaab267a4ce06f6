// Package pending stores one value for each waiting job until the job's wait is over. Such a value
// is, for example, a forecast, to be scored once the wait is known.
package pending

import "maps"

// Most is the most jobs that a Sample stores.
const Most = 5000

// Sample is a bounded and fair sample of the jobs that wait: adaptive sampling
// (Wegman; Flajolet 1990). While at most Most jobs wait, it stores all of them. While more
// do, it stores each with the same probability: 1/2, 1/4, and so on.
//
// Invariant: every job stored has a hash that ends in depth zero bits. So whether a job is
// stored depends neither on when it came nor on how long it waits. If new jobs were turned
// away instead, only those that came early would be learnt from. If old ones were dropped,
// only short waits would be learnt from.
type Sample[T any] struct {
	jobs map[int64]T
	mask uint64 // the lowest depth bits, which must be 0 in a hash
}

// New returns an empty Sample.
func New[T any]() Sample[T] { return Sample[T]{jobs: map[int64]T{}} }

// hash spreads jobs evenly, even the jobs of one array (Knuth's multiplicative hashing).
func hash(job int64) uint64 { return uint64(job) * 0x9e3779b97f4a7c15 >> 32 }

// Wants reports whether Put would store a value of the job.
func (s *Sample[T]) Wants(job int64) bool { return hash(job)&s.mask == 0 }

// Put stores the value of a job if the sample wants the job. It replaces an earlier value.
func (s *Sample[T]) Put(job int64, value T) {
	if !s.Wants(job) {
		return
	}
	s.jobs[job] = value
	for len(s.jobs) > Most {
		s.mask = s.mask<<1 | 1
		maps.DeleteFunc(s.jobs, func(job int64, _ T) bool { return !s.Wants(job) })
	}
}

// Get returns the value of a job, and whether one is stored.
func (s *Sample[T]) Get(job int64) (value T, ok bool) {
	value, ok = s.jobs[job]
	return value, ok
}

// Take returns what Get does, and forgets the job.
func (s *Sample[T]) Take(job int64) (value T, ok bool) {
	if value, ok = s.jobs[job]; ok {
		delete(s.jobs, job)
		if len(s.jobs) < Most/4 {
			s.mask >>= 1
		}
	}
	return value, ok
}

// Len returns the number of jobs stored.
func (s *Sample[T]) Len() int { return len(s.jobs) }
