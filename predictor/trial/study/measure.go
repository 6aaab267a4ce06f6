package study

import "math"

// results are what the cases of a study found.
type results struct {
	values map[Case]Values
	seeds  int // every case runs with each of the seeds 1 to seeds
}

func resultsOf(outcomes []Outcome, seeds int) results {
	r := results{make(map[Case]Values, len(outcomes)), seeds}
	for _, o := range outcomes {
		r.values[o.Case] = o.Values
	}
	return r
}

// measure computes one number from what the cases found with one seed. It is NaN
// where they did not find it.
type measure func(r results, seed uint64) float64

// of is the value that a case found under this name.
func of(name, value string) measure {
	return func(r results, seed uint64) float64 {
		if v, ok := r.values[Case{Name: name, Seed: seed}][value]; ok {
			return v
		}
		return math.NaN()
	}
}

// times multiplies a measure.
func (m measure) times(factor float64) measure {
	return func(r results, seed uint64) float64 { return factor * m(r, seed) }
}

// per divides a measure.
func (m measure) per(units float64) measure {
	return func(r results, seed uint64) float64 { return m(r, seed) / units }
}

// minus subtracts another measure.
func (m measure) minus(other measure) measure {
	return func(r results, seed uint64) float64 { return m(r, seed) - other(r, seed) }
}

// over is by how many per cent a measure is more than another.
func (m measure) over(other measure) measure {
	return func(r results, seed uint64) float64 { return more(m(r, seed), other(r, seed)) }
}

// more returns by how many per cent x is more than y.
func more(x, y float64) float64 { return 100 * (x/y - 1) }

// mean returns the mean of those x that are not NaN, or NaN.
func mean(x []float64) float64 {
	sum, n := 0., 0
	for _, v := range x {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(n)
}

// sample returns the measure with each seed for which it is known.
func (r results) sample(m measure) []float64 {
	var x []float64
	for seed := range r.seeds {
		if v := m(r, uint64(seed)+1); !math.IsNaN(v) {
			x = append(x, v)
		}
	}
	return x
}

// interval returns the mean of a measure over the seeds, and its confidence interval.
func (r results) interval(m measure) Interval { return intervalOf(r.sample(m)) }

// means returns the mean of each measure, for a figure. It is 0 where nothing is known.
func (r results) means(measures ...measure) []float64 {
	var all []float64
	for _, m := range measures {
		all = append(all, r.interval(m).Mean)
	}
	return all
}

// total returns the sum over the seeds of a measure that counts.
func (r results) total(m measure) int {
	n := 0
	for _, x := range r.sample(m) {
		n += int(x)
	}
	return n
}
