// Package fit finds the speedup of a program from its past runs: how long each run took, and on how
// many nodes. Runs of one size take different times, because their inputs differ. So the answer is
// a curve with a confidence interval, and the scatter of the runs around the curve.
package fit

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/varq-project/varq/predictor/forecast/speedup"
	"github.com/varq-project/varq/predictor/stats"
)

// What a fit needs.
const (
	LeastRuns  = 5
	LeastSizes = 2
	// MostRuns is how many runs are used at most: the last ones given.
	MostRuns = 300
)

// Confidence is the level of the intervals. In simulations they have the truth in .84 to .93 of the
// cases.
const Confidence = .9

// resamples is the number of resamples behind an interval.
const resamples = 399

// ErrTooLittle is the error of a Fit to too few runs, or to runs of one size.
var ErrTooLittle = errors.New("too little to go by")

// Run is a run of the program to its end.
type Run struct {
	Nodes   int32
	Seconds float64
}

// Model is what runs of a program tell of its run time R(n) on n nodes:
//
//	ln R(n) = ln Work - ln Curve(n) + a residual
type Model struct {
	// Curve is the fitted speedup, of Amdahl or of Downey.
	Curve speedup.Curve
	// Work is the median run time on one node by the curve, in seconds. It is extrapolated if no
	// run was that small.
	Work float64
	// Runs are those used, in increasing order of nodes and then of seconds.
	Runs []Run
	// Residuals are those of Runs, in increasing order: the logarithm of what a run took over what
	// the curve says. One that is further than far standard deviations from 0 is counted by Far,
	// and taken to be that far.
	Residuals []float64
	Far       int

	resampled []candidate
	widen     float64 // what the interval is stretched by, as Student's is for few runs
}

// Fit fits a Model by robust least squares of logarithms: Huber's loss, so that single runs
// with a huge input, or on a slow node, count for little. Of Amdahl's and Downey's curve it takes
// the one with the lesser AICc by that loss (Ronchetti 1985: both with the scale of the larger
// model); Downey's is only tried if runs have three sizes or more.
//
// The error wraps ErrTooLittle, or says which run makes no sense. Fit costs O(n) for each of
// some 100,000 steps.
func Fit(runs []Run, random *rand.Rand) (*Model, error) {
	for _, r := range runs {
		if r.Nodes < 1 || !(r.Seconds > 0) || math.IsInf(r.Seconds, 1) {
			return nil, fmt.Errorf("a run of %v s on %d nodes cannot be", r.Seconds, r.Nodes)
		}
	}
	runs = slices.Clone(runs[max(0, len(runs)-MostRuns):])
	slices.SortFunc(runs, compare)
	d := newData(runs)
	switch {
	case len(runs) < LeastRuns:
		return nil, fmt.Errorf("%w: %s; a fit needs %d or more, of %d sizes or more", ErrTooLittle, plural(len(runs), "run"), LeastRuns, LeastSizes)
	case len(d.sizes) < LeastSizes:
		return nil, fmt.Errorf("%w: all %d runs had %s; a fit needs %d sizes or more", ErrTooLittle, len(runs), plural(int(d.sizes[0]), "node"), LeastSizes)
	}
	all := d.candidates()
	best := all[0]
	m := &Model{Curve: best.curve, Work: math.Exp(best.work), Runs: runs, Residuals: d.residuals(best)}
	for i, r := range m.Residuals {
		if most := far * best.scale; math.Abs(r) > most {
			m.Residuals[i] = math.Copysign(most, r)
			m.Far++
		}
	}
	m.resample(d, all, random)
	sort.Float64s(m.Residuals)
	return m, nil
}

// far is by how many standard deviations a run may lie from the curve, in the logarithm, and still
// tell of others: of 370 normal ones, one lies further.
const far = 3

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// resample fits curves to runs that lie about a candidate's as the real ones do: each has its
// fitted time and a residual drawn from all of them (the bootstrap of residuals, Efron 1979), made
// larger for the degrees of freedom that the fit has used up. Each candidate has as many resamples
// as is to be said for it (Burnham and Anderson 2002, section 4.3): which curve is the program's is
// not known either.
func (m *Model) resample(d *data, all []candidate, random *rand.Rand) {
	n := len(m.Runs)
	free := float64(n - all[0].family.parameters - 1)
	m.widen = stats.StudentQuantile((1+Confidence)/2, free) / stats.NormalQuantile((1+Confidence)/2)
	again := data{sizes: d.sizes, of: d.of, times: make([]float64, n)}
	for _, c := range all {
		residuals := d.residuals(c)
		inflate := math.Sqrt(float64(n) / float64(n-c.family.parameters-1))
		for range int(math.Round(resamples * c.weight)) {
			for i := range again.times {
				again.times[i] = c.at(d.sizes[d.of[i]]) + inflate*residuals[random.IntN(n)]
			}
			m.resampled = append(m.resampled, again.near(c.family, [][]float64{c.place}, c.scale))
		}
	}
}

// At returns the median run time on n nodes in seconds, and its interval of Confidence: for the
// curve, not for a run. It costs O(resamples).
func (m *Model) At(n int32) (median, low, high float64) {
	here := candidate{curve: m.Curve, work: math.Log(m.Work)}.at(n)
	others := make([]float64, len(m.resampled))
	for i, c := range m.resampled {
		others[i] = c.at(n)
	}
	sort.Float64s(others)
	end := func(p float64) float64 {
		return math.Exp(here + m.widen*(stats.EmpiricalQuantile(p, others)-here))
	}
	median = math.Exp(here)
	return median, min(median, end((1-Confidence)/2)), max(median, end((1+Confidence)/2))
}

// Times returns how long runs on n nodes take, in seconds and in increasing order: as long as the
// past ones would have, but for Far ones, each equally likely.
func (m *Model) Times(n int32) []float64 {
	median := m.Work / m.Curve.Of(float64(n))
	times := make([]float64, len(m.Residuals))
	for i, r := range m.Residuals {
		times[i] = median * math.Exp(r)
	}
	return times
}

// Enough returns a time in which a run on n nodes ends, as far as the past ones tell: the upper end
// of the interval times what the longest run took more than the curve says. A Far one would have
// been stopped.
func (m *Model) Enough(n int32) float64 {
	_, _, high := m.At(n)
	return high * math.Exp(max(0, m.Residuals[len(m.Residuals)-1]))
}

// Turn returns the size with the shortest runs, if those of the largest size take longer by more
// than chance: their medians differ by more than two standard errors. No curve here can say that,
// and what it says of sizes above that one is too good. It returns 0 otherwise.
func (m *Model) Turn() int32 {
	groups := map[int32][]float64{}
	for _, r := range m.Runs { // in the order of seconds
		groups[r.Nodes] = append(groups[r.Nodes], math.Log(r.Seconds))
	}
	var pooled []float64
	middle := func(n int32) float64 { return median(groups[n]) }
	var sizes []int32
	for n, times := range groups {
		sizes = append(sizes, n)
		for _, t := range times {
			pooled = append(pooled, math.Abs(t-middle(n)))
		}
	}
	slices.Sort(sizes)
	best, last := sizes[0], sizes[len(sizes)-1]
	for _, n := range sizes {
		if middle(n) < middle(best) {
			best = n
		}
	}
	sort.Float64s(pooled)
	free := max(1, len(m.Runs)-len(sizes))
	scale := normal * median(pooled) * math.Sqrt(float64(len(m.Runs))/float64(free))
	// The median of k normal variables has 1.2533 times the standard error of their mean.
	const ofMedian = 1.2533
	of := func(n int32) float64 { return 1 / float64(len(groups[n])) }
	if middle(last)-middle(best) > 2*ofMedian*max(scale, leastScale)*math.Sqrt(of(best)+of(last)) {
		return best
	}
	return 0
}

// compare orders runs by nodes and then by seconds.
func compare(a, b Run) int {
	switch {
	case a.Nodes != b.Nodes:
		return int(a.Nodes) - int(b.Nodes)
	case a.Seconds < b.Seconds:
		return -1
	case a.Seconds > b.Seconds:
		return 1
	}
	return 0
}

// median returns the median of sorted numbers.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
