package study

import "math"

// results has the values of the cases of a study.
type results struct {
	values map[Case]Values
	seeds  int // the seeds of every case are 1 to seeds
}

func resultsOf(outcomes []Outcome, seeds int) results {
	r := results{make(map[Case]Values, len(outcomes)), seeds}
	for _, o := range outcomes {
		r.values[o.Case] = o.Values
	}
	return r
}

// measure computes one number from the values of the cases with one seed. It returns NaN if
// a value is missing.
type measure func(r results, seed uint64) float64

// value returns m(r, seed).
func (m measure) value(r results, seed uint64) float64 { return m(r, seed) }

// bounds returns what m's values lie between: anything.
func (measure) bounds() (low, high float64) { return math.Inf(-1), math.Inf(1) }

// share is a measure whose values are shares of a whole.
type share struct {
	measure
	whole float64
}

// shareOf returns the measure m as a share of a whole, which is 1, or 100 for per cent.
func (m measure) shareOf(whole float64) share { return share{m, whole} }

// bounds returns 0 and the whole.
func (s share) bounds() (low, high float64) { return 0, s.whole }

// quantity is a measure or a share.
type quantity interface {
	value(r results, seed uint64) float64
	// bounds returns the numbers between which all values lie.
	bounds() (low, high float64)
}

// of returns the measure of the value with this name of the case with the name.
func of(name, value string) measure {
	return func(r results, seed uint64) float64 {
		if v, ok := r.values[Case{Name: name, Seed: seed}][value]; ok {
			return v
		}
		return math.NaN()
	}
}

// times returns the measure m times factor.
func (m measure) times(factor float64) measure {
	return func(r results, seed uint64) float64 { return factor * m(r, seed) }
}

// per returns the measure m divided by units.
func (m measure) per(units float64) measure {
	return func(r results, seed uint64) float64 { return m(r, seed) / units }
}

// minus returns the measure m minus other.
func (m measure) minus(other measure) measure {
	return func(r results, seed uint64) float64 { return m(r, seed) - other(r, seed) }
}

// over returns the measure of the per cent by which m is above other.
func (m measure) over(other measure) measure {
	return func(r results, seed uint64) float64 { return more(m(r, seed), other(r, seed)) }
}

// partOf returns the measure of m as per cent of other. It is unknown where other is 0.
func (m measure) partOf(other measure) measure {
	return func(r results, seed uint64) float64 {
		whole := other(r, seed)
		if whole == 0 {
			return math.NaN()
		}
		return 100 * m(r, seed) / whole
	}
}

// more returns the per cent by which x is above y.
func more(x, y float64) float64 { return 100 * (x/y - 1) }

// mean returns the mean of the x that are not NaN, or NaN if there are none.
func mean(x []float64) float64 {
	sum, n := 0., 0
	for _, v := range x {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(n)
}

// sample returns the quantity for each seed with which it is known.
func (r results) sample(q quantity) []float64 {
	var x []float64
	for seed := range r.seeds {
		if v := q.value(r, uint64(seed)+1); !math.IsNaN(v) {
			x = append(x, v)
		}
	}
	return x
}

// interval returns the mean of a quantity over the seeds, and its confidence interval.
func (r results) interval(q quantity) Interval {
	return intervalOf(r.sample(q)).within(q.bounds())
}

// means returns the mean of each measure over the seeds. It is 0 if the measure is unknown.
func (r results) means(measures ...measure) []float64 {
	var all []float64
	for _, m := range measures {
		all = append(all, r.interval(m).Mean)
	}
	return all
}

// total returns the sum of a measure over the seeds. The measure must be a count.
func (r results) total(m measure) int {
	n := 0
	for _, x := range r.sample(m) {
		n += int(x)
	}
	return n
}
