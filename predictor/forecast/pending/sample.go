// Package pending remembers something of jobs that wait until they no longer do: a
// forecast, say, which can be scored once the wait is known.
package pending

import "maps"

// Most is how many jobs a Sample remembers at most.
const Most = 5000

// Sample is a bounded and fair sample of the jobs that wait: adaptive sampling
// (Wegman; Flajolet 1990). While at most Most jobs wait, it takes in all of them, and
// while more do, each with the same probability: 1/2, 1/4, and so on.
//
// Invariant: it holds only jobs whose hash ends in depth zero bits. Whether a job is
// held thus depends neither on when it came nor on how long it waits. Were new jobs
// turned away instead, only those that came early would be learnt from; were old ones
// dropped, only short waits would be.
type Sample[T any] struct {
	jobs map[int64]T
	mask uint64 // the bits of a hash that must be 0: the lowest depth ones
}

// New returns an empty Sample.
func New[T any]() Sample[T] { return Sample[T]{jobs: map[int64]T{}} }

// hash spreads jobs evenly, those of one array too (Knuth's multiplicative hashing).
func hash(job int64) uint64 { return uint64(job) * 0x9e3779b97f4a7c15 >> 32 }

// Wants reports whether Put would hold the job.
func (s *Sample[T]) Wants(job int64) bool { return hash(job)&s.mask == 0 }

// Put remembers something of a job, if that is in the sample, in place of what was
// remembered of it before.
func (s *Sample[T]) Put(job int64, of T) {
	if !s.Wants(job) {
		return
	}
	s.jobs[job] = of
	for len(s.jobs) > Most {
		s.mask = s.mask<<1 | 1
		maps.DeleteFunc(s.jobs, func(job int64, _ T) bool { return !s.Wants(job) })
	}
}

// Get returns what is remembered of a job, and whether anything is.
func (s *Sample[T]) Get(job int64) (of T, ok bool) {
	of, ok = s.jobs[job]
	return of, ok
}

// Take is Get, and forgets the job.
func (s *Sample[T]) Take(job int64) (of T, ok bool) {
	if of, ok = s.jobs[job]; ok {
		delete(s.jobs, job)
		if len(s.jobs) < Most/4 {
			s.mask >>= 1
		}
	}
	return of, ok
}

// Len returns how many jobs are remembered.
func (s *Sample[T]) Len() int { return len(s.jobs) }
