package backtest

import (
	"maps"
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/stats"
)

// Score is how one method did on a log, or on a part of it.
//
// A method that does not answer, or names no number for a quantile, gets the pinball
// loss of the same quantile of the last 300 waits of any jobs, which is what anybody
// could have said. So the losses of all methods are about the same jobs, silence does
// not pay, and a little of it does not decide how a method compares. The coverage and
// the width are about the numbers named, and the scores of probabilities about the
// jobs answered, as is the base rate that they are held against.
type Score struct {
	Method    string          `json:"method"`
	Jobs      int             `json:"jobs"`
	Answered  float64         `json:"answered"` // share of the jobs
	Quantiles []QuantileScore `json:"quantiles"`
	Budgets   []BudgetScore   `json:"budgets"`
	// CalibrationError is the expected calibration error of the probabilities for
	// all budgets together: the mean distance, over the bins of Reliability and
	// weighted by their counts, from the mean probability to the share that came
	// true.
	CalibrationError float64 `json:"calibration_error"`
	// Reliability has the bins that are not empty.
	Reliability []Bin `json:"reliability"`
	// Promises is nil for a method that makes none.
	Promises []PromiseScore `json:"promises,omitempty"`
	// Months has the coverage of each month in which jobs were submitted.
	Months []Month `json:"months"`
}

// QuantileScore is how well one quantile was forecast.
type QuantileScore struct {
	Quantile float64 `json:"quantile"`
	// Coverage is the share of the waits that did not exceed the quantile, of those
	// for which it was a number. A wait that the forecast gave a probability of its
	// own, 0 s for instance, has the randomised rank u = F(w-) + V (F(w) - F(w-)),
	// with V uniform in [0,1), and counts if u is at most the quantile: so an exact
	// forecast has an exact coverage, whatever its ties.
	Coverage Proportion `json:"coverage"`
	// Plain is the same with all ties counted.
	Plain Proportion `json:"plain"`
	// Pinball is the mean loss, seconds: that of a forecast x of the q-quantile is
	// q (w-x) for a wait w of x or more and (1-q) (x-w) otherwise. Relative is the
	// same in parts of the mean wait; nil if that is 0.
	Pinball  float64  `json:"pinball"`
	Relative *float64 `json:"relative"`
	// Width is the median of (x+60)/(w+60), within half a percent.
	Width float64 `json:"width"`
	// SteadyMonths is the share of the months with BusyMonth jobs or more whose
	// coverage is within .05 of the quantile; nil if there is none.
	SteadyMonths *float64 `json:"steady_months"`
}

// BudgetScore is how well the probability of starting within a budget was forecast.
type BudgetScore struct {
	Budget int64   `json:"budget"` // seconds
	Brier  float64 `json:"brier"`  // mean squared distance from what came true
	// BaseRate is the share of the same jobs that started within the budget, and
	// Skill by how much of it the Brier score is better than that of forecasting the
	// base rate each time; nil if that is perfect.
	BaseRate float64  `json:"base_rate"`
	Skill    *float64 `json:"skill"`
}

// Bin is what came true of the probabilities in a twentieth of [0,1].
type Bin struct {
	Count int     `json:"count"`
	Mean  float64 `json:"mean"` // of the probabilities
	True  float64 `json:"true"` // share that came true
}

// PromiseScore is how promises were kept: of all jobs and budgets with a lower
// bound on the probability that is at least Prob, the share that came true.
type PromiseScore struct {
	Prob float64    `json:"prob"`
	Kept Proportion `json:"kept"`
}

// Month is the jobs that were submitted in one month, in UTC.
type Month struct {
	Month    string    `json:"month"` // 2006-01
	Jobs     int       `json:"jobs"`
	Coverage []float64 `json:"coverage"` // of each quantile; 0 where it was never a number
}

// Proportion is a share with its 95 % confidence interval (Clopper and Pearson's),
// as if each were independent of the others.
type Proportion struct {
	Of    int     `json:"of"`
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// BusyMonth is from how many jobs on a month's coverage is looked at.
const BusyMonth = 100

// bins is how many bins Reliability has at most.
const bins = 20

// Promised are the probabilities of Score.Promises.
var Promised = [...]float64{.5, .75, .95}

// outcome is what became of a job.
type outcome struct {
	wait    float64 // seconds
	month   string
	rank    float64    // V
	anybody Prediction // could have said this
}

// reply is what a method said of a job, as far as it is scored.
type reply struct {
	answered  bool
	quantiles []float64
	covered   []bool
	within    []float64 // for each budget
	lower     []float64 // the same of the lower bound; empty without one
}

// look fills r with what wait and lower say.
func (r *reply) look(wait, lower Prediction, outcome *outcome, o *Options) {
	*r = reply{wait != nil, r.quantiles[:0], r.covered[:0], r.within[:0], r.lower[:0]}
	if wait == nil {
		return
	}
	rank := math.NaN() // u, once it is needed
	for _, q := range o.Quantiles {
		x := wait.Quantile(q)
		covered := outcome.wait < x
		if outcome.wait == x {
			if math.IsNaN(rank) {
				below := wait.Below(outcome.wait)
				rank = below + outcome.rank*(wait.Within(outcome.wait)-below)
			}
			covered = rank <= q
		}
		r.quantiles, r.covered = append(r.quantiles, x), append(r.covered, covered)
	}
	for _, b := range o.Budgets {
		r.within = append(r.within, wait.Within(float64(b)))
	}
	if lower == wait {
		r.lower = append(r.lower, r.within...)
	} else if lower != nil {
		for _, b := range o.Budgets {
			r.lower = append(r.lower, lower.Within(float64(b)))
		}
	}
}

// tally adds up how one method does.
type tally struct {
	options        *Options
	jobs, answered int
	quantiles      []quantileTally
	budgets        []budgetTally
	bins           [bins]binTally
	promises       [len(Promised)]count
	months         map[string]*monthTally
}

type quantileTally struct {
	covered, plain count
	pinball        float64
	ratios         ratios
}

type budgetTally struct {
	within count
	brier  float64
}

type binTally struct {
	came count
	prob float64
}

type monthTally struct {
	jobs    int
	covered []count
}

// count is how many of some are so.
type count struct{ n, of int }

func (c *count) add(yes bool) {
	c.of++
	if yes {
		c.n++
	}
}

func (c count) share() float64 {
	if c.of == 0 {
		return 0
	}
	return float64(c.n) / float64(c.of)
}

func (c count) proportion() Proportion {
	low, high := stats.ProportionInterval(c.n, c.of, .95)
	return Proportion{Of: c.of, Share: c.share(), Low: low, High: high}
}

func newTally(o *Options) *tally {
	return &tally{
		options:   o,
		quantiles: make([]quantileTally, len(o.Quantiles)),
		budgets:   make([]budgetTally, len(o.Budgets)),
		months:    make(map[string]*monthTally),
	}
}

// add adds a job.
func (t *tally) add(o *outcome, r *reply) {
	month := t.months[o.month]
	if month == nil {
		month = &monthTally{covered: make([]count, len(t.quantiles))}
		t.months[o.month] = month
	}
	t.jobs++
	month.jobs++
	for i, q := range t.options.Quantiles {
		s := &t.quantiles[i]
		x := math.Inf(1)
		if r.answered {
			x = r.quantiles[i]
		}
		if x >= 0 && !math.IsInf(x, 1) {
			s.covered.add(r.covered[i])
			s.plain.add(o.wait <= x)
			s.ratios.add((x + 60) / (o.wait + 60))
			month.covered[i].add(r.covered[i])
		} else {
			x = o.anybody.Quantile(q)
		}
		s.pinball += max(q*(o.wait-x), (1-q)*(x-o.wait))
	}
	if !r.answered {
		return
	}
	t.answered++
	for i, budget := range t.options.Budgets {
		t.budget(i, r.within[i], o.wait <= float64(budget))
	}
	for i, lower := range r.lower {
		for k, p := range Promised {
			if lower >= p {
				t.promises[k].add(o.wait <= float64(t.options.Budgets[i]))
			}
		}
	}
}

// budget adds the probability p of a start within the i-th budget, and whether that
// came true.
func (t *tally) budget(i int, p float64, came bool) {
	truth := 0.
	if came {
		truth = 1
	}
	b := &t.budgets[i]
	b.within.add(came)
	b.brier += (p - truth) * (p - truth)
	bin := &t.bins[max(0, min(int(p*bins), bins-1))]
	bin.came.add(came)
	bin.prob += p
}

// score returns what was added up; mean is the mean wait of the jobs.
func (t *tally) score(method string, mean float64) Score {
	jobs := float64(max(1, t.jobs))
	s := Score{Method: method, Jobs: t.jobs, Answered: float64(t.answered) / jobs}
	for i, q := range t.options.Quantiles {
		sums := &t.quantiles[i]
		pinball := sums.pinball / jobs
		s.Quantiles = append(s.Quantiles, QuantileScore{
			Quantile:     q,
			Coverage:     sums.covered.proportion(),
			Plain:        sums.plain.proportion(),
			Pinball:      pinball,
			Relative:     quotient(pinball, mean),
			Width:        sums.ratios.median(),
			SteadyMonths: t.steady(i, q),
		})
	}
	answered := float64(max(1, t.answered))
	for i, budget := range t.options.Budgets {
		sums := &t.budgets[i]
		b := BudgetScore{Budget: budget, Brier: sums.brier / answered, BaseRate: sums.within.share()}
		if worse := quotient(b.Brier, b.BaseRate*(1-b.BaseRate)); worse != nil {
			skill := 1 - *worse
			b.Skill = &skill
		}
		s.Budgets = append(s.Budgets, b)
	}
	for _, b := range t.bins {
		if b.came.of > 0 {
			n := float64(b.came.of)
			bin := Bin{Count: b.came.of, Mean: b.prob / n, True: b.came.share()}
			s.Reliability = append(s.Reliability, bin)
			s.CalibrationError += math.Abs(bin.Mean-bin.True) * n / (answered * float64(len(t.budgets)))
		}
	}
	if t.promises != [len(Promised)]count{} {
		for i, p := range Promised {
			s.Promises = append(s.Promises, PromiseScore{p, t.promises[i].proportion()})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.months)) {
		month := t.months[name]
		m := Month{Month: name, Jobs: month.jobs}
		for _, c := range month.covered {
			m.Coverage = append(m.Coverage, c.share())
		}
		s.Months = append(s.Months, m)
	}
	return s
}

// steady returns the share of the busy months in which the i-th quantile, q, was
// covered nearly as it should be.
func (t *tally) steady(i int, q float64) *float64 {
	var months count
	for _, m := range t.months {
		if m.jobs >= BusyMonth {
			c := m.covered[i]
			months.add(c.of > 0 && math.Abs(c.share()-q) <= .05)
		}
	}
	return quotient(float64(months.n), float64(months.of))
}

// quotient returns a/b, or nil if b is 0.
func quotient(a, b float64) *float64 {
	if b == 0 {
		return nil
	}
	q := a / b
	return &q
}

// ratios counts positive numbers by their logarithm, in steps of a percent.
type ratios struct {
	counts []int32 // of the steps from first on
	first  int
	n      int
}

const logStep = .01

func (r *ratios) add(ratio float64) {
	step := int(math.Floor(math.Log(ratio) / logStep))
	switch {
	case r.n == 0:
		r.first, r.counts = step, []int32{0}
	case step < r.first:
		r.counts = append(make([]int32, r.first-step), r.counts...)
		r.first = step
	case step >= r.first+len(r.counts):
		r.counts = append(r.counts, make([]int32, step-r.first-len(r.counts)+1)...)
	}
	r.counts[step-r.first]++
	r.n++
}

// median returns the middle of the step that the median is in, or 0 if there is
// none.
func (r *ratios) median() float64 {
	left := r.n / 2
	for i, n := range r.counts {
		if left -= int(n); left < 0 {
			return math.Exp((float64(r.first+i) + .5) * logStep)
		}
	}
	return 0
}
