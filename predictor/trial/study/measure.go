package study

import "math"

// Results has the values of the cases of a study.
type Results struct {
	values map[Case]Values
	seeds  int // the seeds of every case are 1 to seeds
}

// ResultsOf returns the values of the outcomes, of whose cases the seeds are 1 to seeds.
func ResultsOf(outcomes []Outcome, seeds int) Results {
	r := Results{make(map[Case]Values, len(outcomes)), seeds}
	for _, o := range outcomes {
		r.values[o.Case] = o.Values
	}
	return r
}

// Measure computes one number from the values of the cases with one seed. It returns NaN if
// a value is missing.
type Measure func(r Results, seed uint64) float64

// value returns m(r, seed).
func (m Measure) value(r Results, seed uint64) float64 { return m(r, seed) }

// bounds returns what m's values lie between: anything.
func (Measure) bounds() (low, high float64) { return math.Inf(-1), math.Inf(1) }

// Share is a measure whose values are shares of a whole.
type Share struct {
	Measure
	whole float64
}

// ShareOf returns the measure m as a share of a whole, which is 1, or 100 for per cent.
func (m Measure) ShareOf(whole float64) Share { return Share{m, whole} }

// bounds returns 0 and the whole.
func (s Share) bounds() (low, high float64) { return 0, s.whole }

// Quantity is a measure or a share.
type Quantity interface {
	value(r Results, seed uint64) float64
	// bounds returns the numbers between which all values lie.
	bounds() (low, high float64)
}

// Of returns the measure of the value with this name of the case with the name.
func Of(name, value string) Measure {
	return func(r Results, seed uint64) float64 {
		if v, ok := r.values[Case{Name: name, Seed: seed}][value]; ok {
			return v
		}
		return math.NaN()
	}
}

// Times returns the measure m times factor.
func (m Measure) Times(factor float64) Measure {
	return func(r Results, seed uint64) float64 { return factor * m(r, seed) }
}

// Per returns the measure m divided by units.
func (m Measure) Per(units float64) Measure {
	return func(r Results, seed uint64) float64 { return m(r, seed) / units }
}

// Minus returns the measure m minus other.
func (m Measure) Minus(other Measure) Measure {
	return func(r Results, seed uint64) float64 { return m(r, seed) - other(r, seed) }
}

// Over returns the measure of the per cent by which m is above other.
func (m Measure) Over(other Measure) Measure {
	return func(r Results, seed uint64) float64 { return More(m(r, seed), other(r, seed)) }
}

// PartOf returns the measure of m as per cent of other. It is unknown where other is 0.
func (m Measure) PartOf(other Measure) Measure {
	return func(r Results, seed uint64) float64 {
		whole := other(r, seed)
		if whole == 0 {
			return math.NaN()
		}
		return 100 * m(r, seed) / whole
	}
}

// More returns the per cent by which x is above y.
func More(x, y float64) float64 { return 100 * (x/y - 1) }

// Mean returns the mean of the x that are not NaN, or NaN if there are none.
func Mean(x []float64) float64 {
	sum, n := 0., 0
	for _, v := range x {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(n)
}

// Sample returns the quantity for each seed with which it is known.
func (r Results) Sample(q Quantity) []float64 {
	var x []float64
	for seed := range r.seeds {
		if v := q.value(r, uint64(seed)+1); !math.IsNaN(v) {
			x = append(x, v)
		}
	}
	return x
}

// Interval returns the mean of a quantity over the seeds, and its confidence interval.
func (r Results) Interval(q Quantity) Interval {
	return intervalOf(r.Sample(q)).within(q.bounds())
}

// Means returns the mean of each measure over the seeds. It is 0 if the measure is unknown.
func (r Results) Means(measures ...Measure) []float64 {
	var all []float64
	for _, m := range measures {
		all = append(all, r.Interval(m).Mean)
	}
	return all
}

// Total returns the sum of a measure over the seeds. The measure must be a count.
func (r Results) Total(m Measure) int {
	n := 0
	for _, x := range r.Sample(m) {
		n += int(x)
	}
	return n
}
