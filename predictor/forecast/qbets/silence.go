package qbets

import (
	"math"

	"github.com/varq-project/varq/predictor/stats"
)

// silences are the newest silences that are over. A silence is a time in which no job starts
// although jobs wait; see starts. The zero silences are empty.
type silences struct {
	newest recent[past]
	sorted stats.Multiset // their lengths
	apart  int64          // the sum of past.apart
	tail   tail
	due    int // tail is estimated anew after this many more silences
}

// past is a silence that is over. Both times are in seconds.
type past struct {
	length uint32
	apart  uint32 // from the start before the silence to the start that ended it
}

const (
	mostSilences = 2000
	refits       = 32 // tail is estimated anew when 1/refits of the silences are new
)

// add adds a silence, given its length and the gap before it in seconds. It forgets the
// oldest one when there are too many. It costs O(sqrt n) amortised.
func (s *silences) add(gap, length int64) {
	if s.newest.n == mostSilences {
		oldest := s.newest.drop()
		s.sorted.Delete(oldest.length)
		s.apart -= int64(oldest.apart)
	}
	p := past{
		length: uint32(min(length, math.MaxUint32)),
		apart:  uint32(min(gap+length, math.MaxUint32)),
	}
	s.newest.push(p)
	s.sorted.Insert(p.length)
	s.apart += int64(p.apart)
	if s.due--; s.due <= 0 {
		s.tail = s.estimate()
		s.due = s.sorted.Len() / refits
	}
}

// mean returns the mean length in seconds, or 0 without silences.
func (s *silences) mean() float64 {
	n, sum := s.sorted.Through(math.MaxUint32)
	return float64(sum) / float64(max(1, n))
}

// tail is the distribution of the lengths of silences beyond a threshold u:
//
//	P[silence > u+y] = beyond (1 + shape y/scale)^(-1/shape)
//
// In the limit, excesses over a high threshold have this generalised Pareto distribution,
// whatever the distribution of the lengths (Pickands, Balkema and de Haan). The k longest
// of n silences have excesses Y. Both parameters are estimated by probability-weighted
// moments (Hosking and Wallis 1987):
//
//	shape = 2 - E[Y] / (E[Y] - 2 E[Y (1-F(Y))])    scale = E[Y] (1 - shape)
//
// Few excesses say little about either parameter, and there are few where jobs nearly
// always start at once. So estimates are shrunk towards priors:
//
//   - beyond is (k+1)/(n+1): the probability that the next of n+1 exchangeable silences
//     is among the longest.
//   - shape is averaged with 1/2, which has the weight of priorWeight excesses. From that
//     shape on, an excess has no finite variance.
//   - E[Y] is averaged with priorExcesses excesses as long as the mean time between two
//     starts. Where jobs start that often, they also end that often, and waiting jobs
//     wait for that.
//
// Since scale is only estimated, the next excess is less certain. If Y were exponential and
// its mean had the gamma distribution that m excesses imply, the next excess would have the
// distribution above with a shape of 1/m. So 1/m is added to shape.
type tail struct {
	threshold, beyond, scale, shape float64
}

const (
	leastTail     = 20 // the least number of excesses, if that many silences are longer than 0
	priorShape    = .5
	priorWeight   = 20
	priorExcesses = 4
)

// estimate estimates the tail from the longest tenth of the silences, or from the longest
// leastTail if these are more. It leaves out silences of length 0. There must be at least
// one silence.
func (s *silences) estimate() tail {
	n := s.sorted.Len()
	k := min(n-s.sorted.Rank(0), max(n/10, leastTail))
	t := tail{beyond: float64(k+1) / float64(n+1)}
	if k < n {
		t.threshold = float64(s.sorted.Select(n - k - 1))
	}
	var sum, weighted float64 // k E[Y] and k E[Y (1-F(Y))]
	for i := range k {
		y := float64(s.sorted.Select(n-k+i)) - t.threshold
		sum += y
		weighted += y * (float64(k-i) - .65) / float64(k)
	}
	// shape is limited: at 0 the tail is exponential, from 1 on it has no finite mean.
	shape := 0.
	if d := sum - 2*weighted; d > 0 {
		shape = min(max(0, 2-sum/d), .99)
	}
	shape = (float64(k)*shape + priorWeight*priorShape) / float64(k+priorWeight)
	prior := float64(s.apart+outageLasts) / float64(n+1)
	mean := (sum + priorExcesses*prior) / float64(k+priorExcesses)
	t.scale = mean * (1 - shape)
	t.shape = shape + 1/float64(k+priorExcesses)
	return t
}

// exceeded returns the length, in seconds, that a silence exceeds with a probability, or the
// threshold if that is longer. It is +Inf for the zero tail.
func (t *tail) exceeded(prob float64) float64 {
	if t.shape == 0 {
		return math.Inf(1)
	}
	return t.threshold + t.scale/t.shape*max(0, math.Pow(t.beyond/prob, t.shape)-1)
}
