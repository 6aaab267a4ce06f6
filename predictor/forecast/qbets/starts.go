package qbets

import (
	"math"

	"github.com/varq-project/varq/predictor/stats"
)

// starts watches the starts of jobs, of a partition or of the whole cluster, for silences:
// times in which no job starts although jobs wait.
//
// A silence begins with the newest start, or when the first of the waiting jobs became
// eligible if that was later. It ends with the next start. Its length is 0 if the job that
// starts did not wait. Such silences count, too: where they are the rule, a job that waits
// is a sign of an outage. Several starts at the same time end one silence.
//
// A silence is long by chance, or because an outage began after the newest start. Let S(y)
// be the probability that chance alone makes a silence longer than y. Let outages begin at
// the rate 1/A and have exponential lengths with the mean L. Let a silence have lasted for y,
// after a gap g in which no job waited. An outage that explains it began at a time u of the
// silence, before chance would have ended the silence, or in the gap and lasted until the
// first job came. Suppose that such an outage lasts until now, as the outages that matter
// are longer than it takes to notice them. The odds of an outage are then
//
//	(1/A) (∫_0^g exp(-v/L) dv + ∫_0^y S(u) du) / S(y)  <=  (min(g, L) + E[silence]) / (A S(y))
//
// A silence is taken to be an outage when the right side exceeds 1. This is so when the
// silence is longer than the length that silences exceed with the probability
// (min(g, L) + E[silence]) / A. A and L are constants, and S is learnt (see tail).
//
// False alarms are therefore rare. A silence is mistaken for an outage with the probability
// (min(g, L) + E[silence]) / A, and the mean time between starts is g + E[silence]. So on
// average there is at most about one mistake in a time A, for any cluster, if S is right.
// All partitions together make at most about one more.
//
// A silence that turns out to be an outage is added to the past silences with only the
// length at which it was noticed. So if a cluster becomes quiet for good, its longer
// silences are no longer taken for outages after some time.
type starts struct {
	newest   int64          // the time of the newest start, Unix seconds, or 0
	waiting  stats.Multiset // when each job that waits became eligible
	silences silences
}

const (
	outagesApart = 30 * 24 * hour // A
	outageLasts  = 6 * hour       // L
	leastOutage  = 10 * minute    // shorter outages do no harm
)

// silence is a time in which no job starts although jobs wait.
type silence struct {
	since   int64 // Unix seconds
	gap     int64 // seconds before since in which no job waited and none started
	waiting int   // the number of jobs that wait
}

// silence returns the present silence. It reports false when no job waits, or no start was
// seen yet.
func (s *starts) silence(now int64) (q silence, ok bool) {
	if s.waiting.Len() == 0 || s.newest == 0 {
		return silence{}, false
	}
	q.waiting, _ = s.waiting.Through(uint32(min(max(now, 0), math.MaxUint32)))
	q.since = max(s.newest, int64(s.waiting.Select(0)))
	q.gap = q.since - s.newest
	return q, q.waiting > 0
}

// outage returns the present silence, as far as it lies after a known outage that was over at
// resumed, and whether it is more probably another outage than chance. apart is the expected number
// of seconds between two outages.
func (s *starts) outage(now, resumed, apart int64) (q silence, ok bool) {
	q, ok = s.silence(now)
	q.since = max(q.since, resumed)
	return q, ok && now-q.since > s.longest(q.gap, apart)
}

// started takes in the start now of a job that became eligible at a time. The job need not
// have been seen waiting. started returns the silence that the start ends, which may have
// the length 0. It reports false if the start ends none: if it is the first start ever, or
// not the first at this time.
func (s *starts) started(eligible, now int64) (q silence, ok bool) {
	q.since = max(s.newest, eligible)
	if earlier, waits := s.silence(now); waits {
		q.since = min(q.since, earlier.since)
	}
	q.gap = q.since - s.newest
	ok = s.newest != 0 && now > s.newest
	s.newest = max(s.newest, now)
	return q, ok
}

// over takes in a silence that is over now, and reports whether it was an outage. It costs
// O(sqrt n) amortised for n silences.
func (s *starts) over(q silence, now, apart int64) (outage bool) {
	length := now - q.since
	if length > leastOutage { // saves the cost for the others, which are most
		longest := s.longest(q.gap, apart)
		length, outage = min(length, longest), length > longest
	}
	s.silences.add(q.gap, length)
	return outage
}

// longest returns the greatest length, in seconds, of a silence after a gap that is more
// probably chance than an outage. apart is the expected number of seconds between two
// outages. The cost is constant.
func (s *starts) longest(gap, apart int64) int64 {
	exposed := float64(min(gap, outageLasts)) + s.silences.mean()
	longest := s.silences.tail.exceeded(exposed / float64(apart))
	return int64(min(max(longest, leastOutage), math.MaxUint32))
}
