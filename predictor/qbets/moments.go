package qbets

import (
	"math"

	"github.com/varq-project/varq/predictor/delay"
)

// moments are what the clustering needs to know of a number of waits: sums of
// whole numbers, which can be added and taken away without an error.
//
// The model is a log-normal with an atom at 0. A wait is either none at all,
// with a probability of its own, or its logarithm is normal; the logarithm is
// taken on the scale of [delay.Index], whose steps are even near 0 and grow with
// the delay from there. That is as good as any model that the comparison of two
// groups needs: it is quick, and what it must see is a shift in the share of jobs
// that start at once, in the location of the other waits, or in their spread. The
// bounds themselves assume no model.
type moments struct {
	n, zeros    int
	sum, square int64 // of the delay.Index of the others
}

// parameters is how many numbers the model has: the share of zeros, mean and
// variance.
const parameters = 3

func (m *moments) add(wait uint32)  { m.count(wait, 1) }
func (m *moments) take(wait uint32) { m.count(wait, -1) }

func (m *moments) count(wait uint32, times int) {
	m.n += times
	if wait == 0 {
		m.zeros += times
		return
	}
	i := int64(delay.Index(float64(wait)))
	m.sum += int64(times) * i
	m.square += int64(times) * i * i
}

// and returns the moments of the waits of both.
func (m moments) and(o moments) moments {
	return moments{m.n + o.n, m.zeros + o.zeros, m.sum + o.sum, m.square + o.square}
}

// less returns the moments of the waits of m that are not o's.
func (m moments) less(o moments) moments {
	return moments{m.n - o.n, m.zeros - o.zeros, m.sum - o.sum, m.square - o.square}
}

// logLikelihood returns the logarithm of the greatest likelihood that the model
// can give to the waits. A standard deviation below one step of the scale is
// taken for one: what nobody can see is no evidence.
func (m moments) logLikelihood() float64 {
	positive := float64(m.n - m.zeros)
	l := share(float64(m.zeros), float64(m.n)) + share(positive, float64(m.n))
	if positive == 0 {
		return l
	}
	deviations := max(0, float64(m.square)-float64(m.sum)*float64(m.sum)/positive)
	variance := max(1, deviations/positive)
	return l - positive/2*math.Log(2*math.Pi*variance) - deviations/(2*variance)
}

// share is the logarithm of the likelihood of k of n.
func share(k, n float64) float64 {
	if k == 0 {
		return 0
	}
	return k * math.Log(k/n)
}

// gain returns by how much the likelihood of two groups of waits rises when each
// has a distribution of its own.
func gain(a, b moments) float64 {
	return a.logLikelihood() + b.logLikelihood() - a.and(b).logLikelihood()
}

// independent returns how many independent observations tell as much of a mean as
// n of lag-1 autocorrelation rho: n(1-rho)/(1+rho), the limit for an AR(1)
// series. Jobs that are submitted together wait together, and a hundred of them
// are hardly more evidence than one.
func independent(n int, rho float64) float64 {
	rho = min(max(rho, 0), .99)
	return float64(n) * (1 - rho) / (1 + rho)
}
