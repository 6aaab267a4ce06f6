// Package speedup computes how much faster a program runs on more processors. A speedup follows
// Amdahl's law, follows one of Downey's two-parameter curves, or is a table of measurements.
package speedup

import "strconv"

// Curve is the speedup of a program.
type Curve interface {
	// Of returns how many times faster the program runs on n processors than on
	// one; n is at least 1. It never falls as n grows, and unless it is measured it is at
	// most n.
	Of(n float64) float64
	// String returns the text that Parse reads.
	String() string
}

// Amdahl is the speedup of a program of which a part cannot be made parallel.
type Amdahl struct {
	Serial float64 // that part, as a fraction of the run time on one processor: 0 to 1
}

// Of is Amdahl's law.
func (a Amdahl) Of(n float64) float64 {
	return n / (1 + a.Serial*(n-1))
}

func (a Amdahl) String() string { return "amdahl:" + number(a.Serial) }

// Downey is the speedup of a program by the average and the variance of its
// parallelism (Downey 1997, section 2.1).
type Downey struct {
	A     float64 // average parallelism, at least 1: the speedup on unboundedly many processors
	Sigma float64 // roughly the squared coefficient of variation of parallelism, at least 0
}

// Of is equation 1 up to Sigma = 1 (low variance) and equation 2 from there on
// (high variance); at Sigma = 1 they agree. As Sigma grows it approaches the
// least speedup possible with average parallelism A, equation 3.
func (d Downey) Of(n float64) float64 {
	a, sigma := d.A, d.Sigma
	if sigma <= 1 {
		switch {
		case n <= a:
			return a * n / (a + sigma*(n-1)/2)
		case n < 2*a-1:
			return a * n / (sigma*(a-.5) + n*(1-sigma/2))
		}
		return a
	}
	if most := a + a*sigma - sigma; n < most {
		return n * a * (sigma + 1) / (most + n*sigma)
	}
	return a
}

func (d Downey) String() string { return "downey:" + number(d.A) + "," + number(d.Sigma) }

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
