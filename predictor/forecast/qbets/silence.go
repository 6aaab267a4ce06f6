package qbets

import (
	"math"

	"github.com/varq-project/varq/predictor/stats"
)

// silences are the newest silences that are over. The zero silences are none.
type silences struct {
	newest recent[past]
	sorted stats.Multiset // their lengths
	apart  int64          // the sum of past.apart
	tail   tail
	due    int // how many more are added before tail is estimated anew
}

// past is a silence that is over. In seconds.
type past struct {
	length uint32
	apart  uint32 // from the start before it to the one that ended it
}

const (
	mostSilences = 2000
	refits       = 32 // the tail is estimated anew when one silence in so many is new
)

// add adds a silence of a length, before which there was a gap, and forgets one
// when there are too many. It costs O(sqrt n) amortised.
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

// mean returns the mean length, and 0 of none.
func (s *silences) mean() float64 {
	n, sum := s.sorted.Through(math.MaxUint32)
	return float64(sum) / float64(max(1, n))
}

// tail says how the distribution of the lengths of silences goes on beyond a
// threshold u:
//
//	P[silence > u+y] = beyond (1 + shape y/scale)^(-1/shape)
//
// In the limit, excesses over a high threshold have this generalised Pareto
// distribution whatever that of the lengths is (Pickands, Balkema and de Haan). Of
// n silences the k longest have excesses Y. Both parameters are estimated by
// probability-weighted moments (Hosking and Wallis 1987):
//
//	shape = 2 - E[Y] / (E[Y] - 2 E[Y (1-F(Y))])    scale = E[Y] (1 - shape)
//
// but few excesses say little of either, and most silences have no length where
// jobs nearly always start at once. So beyond is (k+1)/(n+1), the probability that
// the next of n+1 exchangeable silences is one of those beyond; shape is drawn
// towards 1/2, where an excess has a mean and no variance, as if priorWeight
// excesses had shown that; and the mean of Y is taken as if priorExcesses more had
// been as long as the mean time between two starts, since where jobs start that
// often others end that often, which is what they wait for. That the scale is
// estimated makes the next excess less certain: if Y were exponential, and what is
// known of its mean had the gamma distribution of m excesses, the next would have
// the distribution above with the shape 1/m. So much is added to shape.
type tail struct {
	threshold, beyond, scale, shape float64
}

const (
	leastTail     = 20 // excesses, if there are so many silences of any length
	priorShape    = .5
	priorWeight   = 20
	priorExcesses = 4
)

// estimate estimates the tail from the longest tenth of the silences, or leastTail
// if that is more, but from none of no length. There must be one silence.
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
	// The lightest tail that is believed is exponential, the heaviest has just a mean.
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

// exceeded returns the length that a silence exceeds with a probability, but at
// least the threshold. It is not finite before there was an estimate.
func (t *tail) exceeded(prob float64) float64 {
	if t.shape == 0 {
		return math.Inf(1)
	}
	return t.threshold + t.scale/t.shape*max(0, math.Pow(t.beyond/prob, t.shape)-1)
}
