package speedup

import (
	"math"
	"sort"
)

// Least returns the least number of nodes, up to most, on which the speedup is at
// least need (Röblitz, Schintke and Wendler 2005, section 3.2.1). It reports false
// if there is none.
//
// Amdahl's law is solved for it in closed form (equation 4): a serial part allows a
// speedup below its reciprocal only. On any other curve, which never falls, it is
// searched for in logarithmic time, where the paper's Figure 2 counts up one by one.
// That figure's last test has the wrong direction: there is none if C > S.
func Least(c Curve, need float64, most int32) (nodes int32, ok bool) {
	if need <= 1 {
		return 1, most >= 1
	}
	if a, ok := c.(Amdahl); ok {
		return a.least(need, most)
	}
	n := sort.Search(int(most), func(i int) bool { return c.Of(float64(i+1)) >= need })
	return int32(n + 1), n < int(most)
}

// least is equation 4 of Röblitz, Schintke and Wendler, with need for
// S(np_ref) dur_new / dur_max. It allows for rounding: the speedup on what it returns is at
// least need as Of computes it.
func (a Amdahl) least(need float64, most int32) (nodes int32, ok bool) {
	rest := 1/need - a.Serial
	if !(rest > 0) {
		return 0, false
	}
	n := min(math.Ceil((1-a.Serial)/rest), float64(most)+1)
	for n > 1 && a.Of(n-1) >= need {
		n--
	}
	for n <= float64(most) && a.Of(n) < need {
		n++
	}
	if n > float64(most) {
		return 0, false
	}
	return int32(n), true
}
