package walltime

import (
	"math"

	"github.com/varq-project/varq/predictor/sched"
)

// cells is the number of steps, even in the logarithm, between a job's age and its
// limit, in which past run times are gathered.
const cells = 128

// negligible is a weight that is not worth a look at one more category.
const negligible = .1

// mixture gathers run times with weights, to make a Distribution of them.
type mixture struct {
	weights    [cells]float64
	killed     float64 // weight at the limit
	low, scale float64 // where cells begin, as a logarithm of seconds, and how many there are to one
	high       float64 // logarithm of the limit
}

// add adds a run time, as a logarithm, that is longer than the age. A thousandth of
// a millionth makes up for logarithms not being exact.
func (m *mixture) add(run, weight float64) {
	if run > m.high-1e-9 {
		m.killed += weight
		return
	}
	m.weights[max(0, min(int((run-m.low)*m.scale), cells-1))] += weight
}

// even adds a weight that is spread evenly over the cells and the limit.
func (m *mixture) even(weight float64) {
	each := weight / (cells + 1)
	for i := range m.weights {
		m.weights[i] += each
	}
	m.killed += each
}

// distribution returns what has been gathered; the weights sum up to 1, and none
// is 0.
func (m *mixture) distribution(limit int64) (d Distribution) {
	d.limit = limit
	before := 0.
	for _, w := range m.weights {
		before += w
	}
	d.before = float32(before)
	from, ratio := math.Exp(m.low), math.Exp(1/m.scale)
	d.quantiles[0] = float32(from)
	i, sum := 1, 0.
	for _, w := range m.weights {
		to := from * ratio
		for i < levels && float64(i)*before <= (sum+w)*levels {
			d.quantiles[i] = float32(from + (to-from)*(float64(i)*before/levels-sum)/w)
			i++
		}
		sum += w
		from = to
	}
	for ; i <= levels; i++ {
		d.quantiles[i] = float32(limit)
	}
	return d
}

// past returns the run times of past jobs that are similar to j and ran for longer
// than age seconds.
//
// It begins with the category whose interval is the tightest. Its m jobs do not tell
// all that can happen: they get m/(m+doubt) of the weight, and the next more general
// category disposes of the rest in the same way, until little is left. That is spread
// evenly over the logarithms from the age to the limit, so that nothing is
// impossible. (It is the posterior mean of Dirichlet processes, each of which has
// the next as its base and is believed as if it were of doubt jobs.)
func (p *Predictor) past(j *sched.Job, age int64) Distribution {
	age = max(0, age)
	limit := max(j.Limit, age, 1)
	if limit == age {
		return Distribution{limit: limit}
	}
	m := mixture{low: math.Log(float64(age) + .5), high: math.Log(float64(limit))}
	m.scale = cells / (m.high - m.low)
	s := p.similar(j)
	best, ok := p.surest(&s, age)
	if !ok {
		best.template = len(templates)
	}
	old, left := after(age), 1.
	for t := best.template; t < len(templates) && left > negligible; t++ {
		c := s.categories[t]
		if c == nil {
			continue
		}
		_, unit := s.units(templates[t].by)
		n := doubt
		for i := range c.jobs {
			if c.jobs[i].run > old-unit {
				n++
			}
		}
		each := left / float64(n)
		for i := range c.jobs {
			if run := c.jobs[i].run; run > old-unit {
				m.add(run+unit, each)
			}
		}
		left = each * doubt
	}
	m.even(left)
	return m.distribution(limit)
}
