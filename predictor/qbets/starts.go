package qbets

import (
	"math"

	"github.com/varq-project/varq/predictor/stats"
)

// starts watches the starts of jobs, of a partition or of the whole cluster, for
// silences in which nothing starts although jobs wait.
//
// A silence begins with the newest start, or when the job that has waited longest
// became eligible if that was later. On a full machine it may well be long, so
// that how long is too long can only be learnt from its past: from the newest
// silences, of which the longest tenth says how their distribution goes on beyond
// what was seen. Their excesses over a threshold u, the longest of the other nine
// tenths, have in the limit the generalised Pareto distribution (Pickands, Balkema
// and de Haan), whatever the distribution of silences is:
//
//	P[silence > u+y] = 1/10 (1 + xi y/sigma)^(-1/xi)
//
// Its two parameters are estimated by probability-weighted moments (Hosking and
// Wallis 1987). A silence is an outage once this is less than rarity, and it is
// longer than every other: once in so many silences that occur anyway something
// else is taken for one. That is the rarity of the runs of misses that make a
// change point.
//
// A silence which turns out to be an outage counts from then on as one of just the
// length at which that was noticed: a cluster that has truly become quiet is
// believed after some time.
type starts struct {
	newest   int64
	waiting  stats.Multiset // when each job that waits became eligible
	silences recent[uint32]
	sorted   stats.Multiset // the silences, by length
}

const (
	rarity       = 1e-5
	mostSilences = 2000
	leastTail    = 50 // excesses that two parameters are estimated from
)

// silence returns since when nothing has started although jobs wait, and how many
// they are. It reports false when none does.
func (s *starts) silence(now int64) (since int64, waiting int, ok bool) {
	if s.waiting.Len() == 0 {
		return 0, 0, false
	}
	waiting, _ = s.waiting.Through(uint32(min(max(now, 0), math.MaxUint32)))
	return max(s.newest, int64(s.waiting.Select(0))), waiting, waiting > 0
}

// outage is silence while it lasts for longer than can be chance.
func (s *starts) outage(now int64) (since int64, waiting int, ok bool) {
	since, waiting, ok = s.silence(now)
	return since, waiting, ok && s.believed(now-since) < now-since
}

// started takes in the start of a job that was eligible since a time and that
// need not have been seen waiting. It returns since when there was silence, which
// may be now.
func (s *starts) started(eligible, now int64) (since int64) {
	since = max(s.newest, eligible)
	if earlier, _, waits := s.silence(now); waits {
		since = min(since, earlier)
	}
	if s.newest == 0 {
		since = now // what was before is not known
	}
	s.newest = max(s.newest, now)
	return min(since, now)
}

// heard takes in the length of a silence that is over, and reports whether it was
// an outage.
func (s *starts) heard(length int64) (outage bool) {
	if length <= 0 {
		return false
	}
	believed := s.believed(length)
	if s.silences.n == mostSilences {
		s.sorted.Delete(s.silences.drop())
	}
	s.silences.push(uint32(min(believed, math.MaxUint32)))
	s.sorted.Insert(uint32(min(believed, math.MaxUint32)))
	return believed < length
}

// believed returns the length of a silence, or the greatest length that can be
// chance if it is longer. The cost is constant, and small unless the silence is
// longer than any other.
func (s *starts) believed(length int64) int64 {
	n := s.sorted.Len()
	k := n / 10
	if k < leastTail || length <= int64(s.sorted.Select(n-1)) {
		return length
	}
	threshold := float64(s.sorted.Select(n - k - 1))
	var mean, weighted float64 // E[Y] and E[Y (1-F(Y))]
	for j := range k {
		y := float64(s.sorted.Select(n-k+j)) - threshold
		mean += y
		weighted += y * (float64(k-j) - .65) / float64(k)
	}
	mean, weighted = mean/float64(k), weighted/float64(k)
	// xi = 2 - mean/(mean - 2 weighted), but the lightest tail that is believed is
	// exponential and the heaviest has just a mean: mean = sigma/(1-xi).
	shape := 0.
	if d := mean - 2*weighted; d > 0 {
		shape = min(max(0, 2-mean/d), .99)
	}
	scale, odds := mean*(1-shape), .1/rarity
	excess := scale * math.Log(odds)
	if shape > 1e-6 {
		excess = scale / shape * (math.Pow(odds, shape) - 1)
	}
	return min(length, int64(max(threshold+excess, float64(s.sorted.Select(n-1)))))
}
