package walltime

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// cells is the number of cells of a mixture. They divide the time from a job's age to its limit
// evenly in logarithms.
const cells = 128

// negligible is the weight below which no further category is looked at. On real logs the
// pinball loss hardly changes below it.
const negligible = .1

// mixture sums the weights of run times by cell, to make a Distribution.
type mixture struct {
	age, limit int64
	low, high  float64 // logarithms, of the age plus 1/2, where cells begin, and of the limit
	scale      float64 // cells to a unit of the logarithm
	weights    [cells]float64
	killed     float64 // weight at the limit
}

// add adds the logarithm of a run time that is longer than the age. A run time within 1e-9 of
// the limit counts as the limit, because logarithms are not exact.
func (m *mixture) add(run, weight float64) {
	if run > m.high-1e-9 {
		m.killed += weight
		return
	}
	m.weights[max(0, min(int((run-m.low)*m.scale), cells-1))] += weight
}

// distribution returns the distribution of the run times. Missing is what their weights lack to
// 1, and is greater than 0. It is spread evenly over the cells and the limit.
func (m *mixture) distribution(missing float64) Distribution {
	each := missing / (cells + 1)
	before := 1 - m.killed - each
	d := Distribution{before: float32(before), age: m.age, limit: m.limit}
	age, from, ratio := float64(m.age), float64(m.age)+.5, math.Exp(1/m.scale)
	d.quantiles[0] = .5
	i, sum, next := 1, 0., before/levels
	for _, w := range &m.weights {
		w += each
		to := from * ratio
		if next <= sum+w {
			slope := (to - from) / w
			for ; i < levels && next <= sum+w; i++ {
				d.quantiles[i] = float32(from - age + (next-sum)*slope)
				next = before / levels * float64(i+1)
			}
		}
		sum += w
		from = to
	}
	for ; i <= levels; i++ {
		d.quantiles[i] = float32(m.limit - m.age)
	}
	return d
}

// past returns the distribution of the run times of past jobs that are similar to j and ran for
// longer than age seconds.
//
// It begins with the category with the tightest interval. The m jobs of that category do not
// show all that can happen, so they get m/(m+doubt) of the weight. The next more general
// category divides the rest in the same way, until little is left. The last rest is spread
// evenly over the logarithms from the age to the limit, so that no run time is impossible.
// (This is the posterior mean of Dirichlet processes. Each has the next as its base, with a
// concentration of doubt.)
func (p *Predictor) past(j *sched.Job, age int64) Distribution {
	age = max(0, age)
	limit := max(j.Limit, age, 1)
	if limit == age {
		return Distribution{age: age, limit: limit}
	}
	m := mixture{age: age, limit: limit, low: math.Log(float64(age) + .5), high: math.Log(float64(limit))}
	m.scale = cells / (m.high - m.low)
	s := similarTo(j, p.categories.of(j))
	best, ok := p.surest(&s, age)
	if !ok {
		best.template = len(templates)
	}
	old, left := after(age), 1.
	for t := best.template; t < len(templates) && left > negligible; t++ {
		c := s.alike[t]
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
	return m.distribution(left)
}
