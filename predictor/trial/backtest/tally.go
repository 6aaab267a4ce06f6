package backtest

import (
	"maps"
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/forecast/score/group"
	"github.com/varq-project/varq/predictor/stats"
)

// outcome is the true wait of a job, and what else scoring needs to know of the job.
type outcome struct {
	wait     float64          // seconds
	week     int64            // in which the wait began
	month    string           // of the submission
	v        float64          // from [0,1), uniform: ranks ties
	fallback score.Prediction // for the methods without a number
	groups   []group.Group    // of the job
}

// reply is the forecast of a method for a job, as far as it is scored.
type reply struct {
	answered  bool // whether there was a forecast
	quantiles []score.Quantile
	median    float64   // seconds; +Inf if there is none
	within    []float64 // probabilities, by budget
	lower     []float64 // lower bounds on them, by budget; empty if there are none
}

// read sets r to the forecast wait with the lower bounds lower.
func (r *reply) read(wait, lower score.Prediction, outcome *outcome, o *Options) {
	*r = reply{wait != nil, r.quantiles[:0], math.Inf(1), r.within[:0], r.lower[:0]}
	if wait == nil {
		return
	}
	r.quantiles = score.Quantiles(r.quantiles, wait, o.Quantiles, outcome.wait, outcome.v)
	r.median = wait.Quantile(.5)
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

// tally adds up the scores of one method.
type tally struct {
	options        *Options
	jobs, answered int
	quantiles      []quantileTally
	budgets        []budgetTally
	reliability    score.Reliability
	near           score.Nearness
	promises       [len(Promised)]promiseTally
	months         map[string]*monthTally
	groups         group.Tallies // nil in tallies of parts
}

type quantileTally struct {
	covered, plain score.Weekly
	pinball        float64
	ratios         ratios
}

type budgetTally struct {
	within stats.Count
	brier  float64
}

type promiseTally struct{ kept, band score.Weekly }

type monthTally struct {
	jobs    int
	covered []stats.Count // by quantile
	pinball []float64     // sums, by quantile
}

func newTally(o *Options) *tally {
	return &tally{
		options:   o,
		quantiles: make([]quantileTally, len(o.Quantiles)),
		budgets:   make([]budgetTally, len(o.Budgets)),
		months:    make(map[string]*monthTally),
	}
}

// add adds the scores of the forecast r of a job.
func (t *tally) add(o *outcome, r *reply) {
	month := t.months[o.month]
	if month == nil {
		month = &monthTally{covered: make([]stats.Count, len(t.quantiles)), pinball: make([]float64, len(t.quantiles))}
		t.months[o.month] = month
	}
	t.jobs++
	month.jobs++
	for i, q := range t.options.Quantiles {
		said := score.Quantile{Seconds: math.Inf(1)}
		if r.answered {
			said = r.quantiles[i]
		}
		s, x := &t.quantiles[i], said.Seconds
		if said.Known() {
			s.covered.At(o.week).Add(said.Covered)
			s.plain.At(o.week).Add(o.wait <= x)
			s.ratios.add((x + 60) / (o.wait + 60))
			month.covered[i].Add(said.Covered)
		} else {
			x = o.fallback.Quantile(q)
		}
		loss := score.Pinball(q, x, o.wait)
		s.pinball += loss
		month.pinball[i] += loss
	}
	median := r.median
	if !(score.Quantile{Seconds: median}).Known() {
		median = o.fallback.Quantile(.5)
	}
	t.near.Add(median, o.wait)
	if !r.answered {
		return
	}
	t.answered++
	if t.groups != nil {
		t.addGroups(o, r.quantiles)
	}
	for i, p := range r.within {
		came := o.wait <= float64(t.options.Budgets[i])
		t.budgets[i].within.Add(came)
		t.budgets[i].brier += score.Brier(p, came)
		t.reliability.Add(p, came)
	}
	for i, lower := range r.lower {
		came := o.wait <= float64(t.options.Budgets[i])
		for k, p := range Promised {
			if lower >= p {
				t.promises[k].kept.At(o.week).Add(came)
			}
			if lower >= p && lower < p+Band {
				t.promises[k].band.At(o.week).Add(came)
			}
		}
	}
}

// addGroups counts the quantiles that were said of a job in each of its groups.
func (t *tally) addGroups(o *outcome, said []score.Quantile) {
	for _, g := range group.WithForecast(o.groups, said) {
		t.groups.At(g, len(said)).Add(o.week, said)
	}
}

// score returns the Score of a method. mean is the mean wait of the jobs, in seconds.
func (t *tally) score(method string, mean float64) Score {
	jobs := float64(max(1, t.jobs))
	s := Score{Method: method, Jobs: t.jobs, Answered: float64(t.answered) / jobs}
	for i, q := range t.options.Quantiles {
		sums := &t.quantiles[i]
		pinball := sums.pinball / jobs
		s.Quantiles = append(s.Quantiles, QuantileScore{
			Quantile:     q,
			Coverage:     sums.covered.Proportion(),
			Plain:        sums.plain.Proportion(),
			Pinball:      pinball,
			Relative:     quotient(pinball, mean),
			Width:        sums.ratios.median(),
			SteadyMonths: t.steady(i, q),
		})
	}
	for i, budget := range t.options.Budgets {
		sums := &t.budgets[i]
		b := BudgetScore{Budget: budget, Brier: sums.brier / float64(max(1, t.answered)), BaseRate: sums.within.Share()}
		if worse := quotient(b.Brier, b.BaseRate*(1-b.BaseRate)); worse != nil {
			skill := 1 - *worse
			b.Skill = &skill
		}
		s.Budgets = append(s.Budgets, b)
	}
	s.Reliability, s.CalibrationError = t.reliability.Diagram(), t.reliability.Error()
	s.Near = t.near.Near(score.Said[score.SaidMedian])
	for i, p := range Promised {
		s.Promises = append(s.Promises, PromiseScore{p, t.promises[i].kept.Proportion(), t.promises[i].band.Proportion()})
	}
	if s.Promises[0].Kept.Of == 0 { // without promises of .5 or more there are none of .75 or .95
		s.Promises = nil
	}
	for _, name := range slices.Sorted(maps.Keys(t.months)) {
		month := t.months[name]
		m := Month{Month: name, Jobs: month.jobs}
		for _, c := range month.covered {
			m.Coverage = append(m.Coverage, c.Share())
		}
		for _, sum := range month.pinball {
			m.Pinball = append(m.Pinball, sum/float64(month.jobs))
		}
		s.Months = append(s.Months, m)
	}
	s.Worst = group.Worst(t.groups, t.options.Quantiles)
	return s
}

// steady returns QuantileScore.SteadyMonths of the i-th quantile, q.
func (t *tally) steady(i int, q float64) *float64 {
	var months stats.Count
	for _, m := range t.months {
		if m.jobs >= BusyMonth {
			c := m.covered[i]
			months.Add(c.Of > 0 && math.Abs(c.Share()-q) <= .05)
		}
	}
	return quotient(float64(months.N), float64(months.Of))
}

// quotient returns a/b, or nil if b is 0.
func quotient(a, b float64) *float64 {
	if b == 0 {
		return nil
	}
	q := a / b
	return &q
}
