package qbets

import (
	"math"

	"github.com/varq-project/varq/predictor/stats"
)

// starts watches the starts of jobs, of a partition or of the whole cluster, for
// silences in which nothing starts although jobs wait.
//
// A silence begins with the newest start, or when the job that has waited longest
// became eligible if that was later, and ends with the next start. It has no length
// when that job did not wait, as most do where there is room: these count too, for
// they are why a job that waits there is news. Starts at the same time end one
// silence together.
//
// Two things make a silence long: chance, or an outage that began after the newest
// start. Let S(y) be the probability that chance alone makes a silence longer than
// y, outages begin at the rate 1/A, and last for L on average, exponentially. Of a
// silence that has lasted for y after a gap g in which nobody waited, the odds that
// it is an outage are
//
//	(1/A) (∫_0^g exp(-v/L) dv + ∫_0^y S(u) du) / S(y)  <=  (min(g, L) + E[silence]) / (A S(y))
//
// if one that began, at u, before the silence would have ended, or in the gap and
// was not over when the first job came, lasts until now: the outages that matter
// are longer than it takes to notice them. A silence is held for an outage when the
// right side exceeds 1, which is when it is longer than the length exceeded with the
// probability (min(g, L) + E[silence]) / A. A and L are what is to be expected before
// anything is known of a cluster, and S is learnt (see tail).
//
// How often chance is mistaken for an outage follows. A silence is mistaken with
// the probability (min(g, L) + E[silence]) / A, and g + E[silence] is the mean time from
// start to start: at most about once in A on average, whatever the cluster, as far
// as S is right. The partitions, each of which might be down alone, share one more A.
//
// A silence which turns out to be an outage counts from then on as one of just the
// length at which that was noticed: a cluster that has truly become quiet is
// believed after some time.
type starts struct {
	newest   int64
	waiting  stats.Multiset // when each job that waits became eligible
	silences silences
}

const (
	outagesApart = 30 * 24 * hour // A
	outageLasts  = 6 * hour       // L
	leastOutage  = 10 * minute    // a shorter one does no harm
)

// silence is a time in which nothing starts although jobs wait.
type silence struct {
	since   int64
	gap     int64 // seconds before it in which nobody waited and nothing started
	waiting int   // jobs
}

// silence returns the silence now. It reports false when no job waits, or none was
// seen starting.
func (s *starts) silence(now int64) (q silence, ok bool) {
	if s.waiting.Len() == 0 || s.newest == 0 {
		return silence{}, false
	}
	q.waiting, _ = s.waiting.Through(uint32(min(max(now, 0), math.MaxUint32)))
	q.since = max(s.newest, int64(s.waiting.Select(0)))
	q.gap = q.since - s.newest
	return q, q.waiting > 0
}

// outage is silence once that is more probably an outage, of which the next is to
// be expected so many seconds apart.
func (s *starts) outage(now, apart int64) (q silence, ok bool) {
	q, ok = s.silence(now)
	return q, ok && now-q.since > s.longest(q.gap, apart)
}

// started takes in the start of a job that was eligible since a time and that
// need not have been seen waiting. It returns the silence that it ends, which is
// now and may have no length, and whether there was any: of several starts at a
// time, only the first ends one.
func (s *starts) started(eligible, now int64) (q silence, ok bool) {
	q.since = max(s.newest, eligible)
	if earlier, waits := s.silence(now); waits {
		q.since = min(q.since, earlier.since)
	}
	q.gap = q.since - s.newest
	ok = s.newest != 0 && now > s.newest // what was before the first is not known
	s.newest = max(s.newest, now)
	return q, ok
}

// heard takes in a silence that is over now, and reports whether it was an outage.
// It costs O(sqrt n) amortised for n silences.
func (s *starts) heard(q silence, now, apart int64) (outage bool) {
	length := now - q.since
	if length > leastOutage { // the others, which are most, cost less
		longest := s.longest(q.gap, apart)
		length, outage = min(length, longest), length > longest
	}
	s.silences.add(q.gap, length)
	return outage
}

// longest returns the greatest length of a silence that is more probably chance
// than an outage, after a gap and where so many seconds lie between two outages.
// The cost is constant.
func (s *starts) longest(gap, apart int64) int64 {
	exposed := float64(min(gap, outageLasts)) + s.silences.mean()
	longest := s.silences.tail.exceeded(exposed / float64(apart))
	return int64(min(max(longest, leastOutage), math.MaxUint32))
}
