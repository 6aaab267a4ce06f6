package evaluate

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/forecast/score/group"
	"github.com/varq-project/varq/predictor/trial/backtest"
)

// show writes the scores as tables. budgets are the names of the budgets.
func (e *evaluated) show(w io.Writer, budgets []string) error {
	for i, log := range e.Logs {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := log.show(w, budgets); err != nil {
			return err
		}
	}
	if len(e.Logs) > 1 {
		fmt.Fprintf(w, "\nPinball loss in parts of the best baseline's on %d logs, geometric mean (worst)\n", len(e.Logs))
		if err := table.Write(w, summaryColumns(e.Summary), e.Summary, table.Style{}); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\nEvaluated in %.3f s\n", e.Seconds)
	return err
}

// outcome names what was forecast.
func (l *evaluatedLog) outcome() string {
	if l.Completion {
		return "time until the end"
	}
	if l.Pending {
		return "rest of the wait"
	}
	if l.Flows {
		return "time until the end of a flow"
	}
	return "wait"
}

// show writes the tables of one log.
func (l *evaluatedLog) show(w io.Writer, budgets []string) error {
	machine := ""
	if l.Procs > 0 {
		machine = fmt.Sprintf(" on %s processors", cli.Thousands(int(l.Procs)))
	}
	fmt.Fprintf(w, "%s%s: %s jobs scored, after %s of warm-up; mean %s %s\n",
		l.Source, machine, cli.Thousands(l.Jobs), cli.Thousands(l.Warmup), l.outcome(), cli.Rounded(l.MeanWait))
	write := func(title string, columns []table.Column[backtest.Score]) error {
		fmt.Fprintf(w, "\n%s\n", title)
		return table.Write(w, columns, l.Scores, table.Style{})
	}
	for i, q := range l.quantiles() {
		if err := write(fmt.Sprintf("The %v quantile of the %s", q, l.outcome()), quantileColumns(&l.Part, i)); err != nil {
			return err
		}
	}
	event := "a start"
	if l.Completion {
		event = "an end"
	}
	if err := write("The probability of "+event+" in time: Brier score", briefColumns(budgets, func(b backtest.BudgetScore) string { return cli.Share(b.Brier) })); err != nil {
		return err
	}
	if err := write("The same: skill against the base rate", briefColumns(budgets, func(b backtest.BudgetScore) string { return perhaps(b.Skill) })); err != nil {
		return err
	}
	if err := write("The same: calibration, and promises kept at each lower bound, or in the band above it", promiseColumns()); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nHow near the median of the %s came, beside forecasts that know nothing of the job\n", l.outcome())
	if err := table.Write(w, nearColumns(), l.near(), table.Style{}); err != nil {
		return err
	}
	for parts := range chunkBy(l.Parts, func(p *backtest.Part) string { return p.By }) {
		fmt.Fprintf(w, "\nBy %s\n", parts[0].By)
		var rows []partRow
		for _, p := range parts {
			for i := range p.Scores {
				rows = append(rows, partRow{p, &p.Scores[i]})
			}
		}
		if err := table.Write(w, partColumns(parts[0].By, l.quantiles()), rows, table.Style{}); err != nil {
			return err
		}
	}
	s := l.judged()
	if s == nil {
		return nil
	}
	if len(s.Worst) > 0 {
		fmt.Fprintf(w, "\nGroups of %d jobs or more of which %s is most off\n", group.Least, s.Method)
		if err := table.Write(w, groupColumns(l.quantiles()), s.Worst, table.Style{}); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", l.verdict(s))
	return err
}

// groupColumns returns the columns of groups, with the coverage of each quantile and its interval.
func groupColumns(quantiles []float64) []table.Column[group.Coverage] {
	columns := []table.Column[group.Coverage]{
		{Name: "By", Value: func(g group.Coverage) string { return g.By }},
		{Name: "Group", Value: func(g group.Coverage) string { return g.Value }},
		{Name: "Jobs", Right: true, Value: func(g group.Coverage) string { return cli.Thousands(g.Jobs) }},
	}
	for i, q := range quantiles {
		columns = append(columns, table.Column[group.Coverage]{Name: fmt.Sprintf("Cover%g", 100*q), Value: func(g group.Coverage) string { return interval(g.Coverage[i]) }})
	}
	return columns
}

// interval writes a share with its interval, or cli.None if it is of nothing.
func interval(p score.Proportion) string {
	if p.Of == 0 {
		return cli.None
	}
	return cli.Interval(p.Share, p.Low, p.High)
}

// quantiles returns the scored quantiles.
func (l *evaluatedLog) quantiles() []float64 {
	var all []float64
	for _, q := range l.Scores[0].Quantiles {
		all = append(all, q.Quantile)
	}
	return all
}

// chunkBy yields the runs of neighbours that have the same key.
func chunkBy[T any](all []T, key func(T) string) func(yield func([]T) bool) {
	return func(yield func([]T) bool) {
		for len(all) > 0 {
			n := slices.IndexFunc(all, func(v T) bool { return key(v) != key(all[0]) })
			if n < 0 {
				n = len(all)
			}
			if !yield(all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}

type scoreColumn = table.Column[backtest.Score]

func methodColumn() scoreColumn {
	return scoreColumn{Name: "Method", Value: func(s backtest.Score) string { return s.Method }}
}

// quantileColumns returns the columns with the scores of the i-th quantile.
func quantileColumns(p *backtest.Part, i int) []scoreColumn {
	columns := []scoreColumn{methodColumn()}
	number := func(name string, value func(backtest.Score, backtest.QuantileScore) string) {
		columns = append(columns, scoreColumn{Name: name, Right: true, Value: func(s backtest.Score) string { return value(s, s.Quantiles[i]) }})
	}
	type quantile = backtest.QuantileScore
	number("Answered", func(s backtest.Score, _ quantile) string { return cli.Share(s.Answered) })
	number("Coverage", func(_ backtest.Score, q quantile) string { return shareOf(q.Coverage, q.Coverage.Share) })
	number("Low", func(_ backtest.Score, q quantile) string { return shareOf(q.Coverage, q.Coverage.Low) })
	number("High", func(_ backtest.Score, q quantile) string { return shareOf(q.Coverage, q.Coverage.High) })
	number("Plain", func(_ backtest.Score, q quantile) string { return shareOf(q.Plain, q.Plain.Share) })
	number("Months", func(_ backtest.Score, q quantile) string { return perhaps(q.SteadyMonths) })
	number("Pinball", func(_ backtest.Score, q quantile) string { return strconv.FormatFloat(q.Pinball, 'f', 0, 64) })
	number("Relative", func(_ backtest.Score, q quantile) string { return perhaps(q.Relative) })
	number("ToBest", func(s backtest.Score, _ quantile) string { return perhaps(p.AgainstBest(&s, i)) })
	number("ByMonth", func(s backtest.Score, _ quantile) string { return perhaps(p.ByMonth(&s, i)) })
	number("Width", func(_ backtest.Score, q quantile) string {
		if q.Coverage.Of == 0 {
			return cli.None
		}
		return strconv.FormatFloat(q.Width, 'f', 2, 64)
	})
	return columns
}

// briefColumns returns a column with one number for each budget.
func briefColumns(budgets []string, value func(backtest.BudgetScore) string) []scoreColumn {
	columns := []scoreColumn{methodColumn()}
	for i, budget := range budgets {
		columns = append(columns, scoreColumn{Name: budget, Right: true, Value: func(s backtest.Score) string {
			if s.Answered == 0 {
				return cli.None
			}
			return value(s.Budgets[i])
		}})
	}
	return columns
}

// promiseColumns returns the columns with the calibration of probabilities.
func promiseColumns() []scoreColumn {
	columns := []scoreColumn{
		methodColumn(),
		{Name: "Error", Right: true, Value: calibrationError},
	}
	for i, p := range backtest.Promised {
		kept := func(name string, promises func(*backtest.PromiseScore) score.Proportion) {
			columns = append(columns, scoreColumn{Name: fmt.Sprintf("%s%g", name, 100*p), Right: true, Value: func(s backtest.Score) string {
				if s.Promises == nil || promises(&s.Promises[i]).Of == 0 {
					return cli.None
				}
				made := promises(&s.Promises[i])
				return fmt.Sprintf("%s of %s", cli.Share(made.Share), cli.Thousands(made.Of))
			}})
		}
		kept("Kept", func(p *backtest.PromiseScore) score.Proportion { return p.Kept })
		kept("Band", func(p *backtest.PromiseScore) score.Proportion { return p.Band })
	}
	return columns
}

// near returns how near the medians of the methods came, and then the trivial forecasts.
func (l *evaluatedLog) near() (rows []score.Near) {
	for _, s := range l.Scores {
		near := s.Near
		near.Said = s.Method
		rows = append(rows, near)
	}
	return append(rows, l.Trivial...)
}

func nearColumns() []table.Column[score.Near] {
	columns := []table.Column[score.Near]{{Name: "Method", Value: func(n score.Near) string { return n.Said }}}
	number := func(name string, value func(score.Near) float64) {
		columns = append(columns, table.Column[score.Near]{Name: name, Right: true, Value: func(n score.Near) string {
			if n.Forecasts == 0 {
				return cli.None
			}
			return cli.Share(value(n))
		}})
	}
	number("In1min", func(n score.Near) float64 { return n.WithinMinute })
	number("In10min", func(n score.Near) float64 { return n.Within10Minutes })
	number("Factor2", func(n score.Near) float64 { return n.WithinFactor2 })
	number("LogError", func(n score.Near) float64 { return n.LogError })
	return columns
}

func calibrationError(s backtest.Score) string {
	if s.Answered == 0 {
		return cli.None
	}
	return cli.Share(s.CalibrationError)
}

// partRow is the score of one method on a part of a log.
type partRow struct {
	*backtest.Part
	score *backtest.Score
}

func partColumns(by string, quantiles []float64) []table.Column[partRow] {
	columns := []table.Column[partRow]{
		{Name: strings.ToUpper(by[:1]) + by[1:], Value: func(r partRow) string { return r.Value }},
		{Name: "Jobs", Right: true, Value: func(r partRow) string { return cli.Thousands(r.Jobs) }},
		{Name: "MeanWait", Right: true, Value: func(r partRow) string { return cli.Rounded(r.MeanWait) }},
		{Name: "Method", Value: func(r partRow) string { return r.score.Method }},
		{Name: "Answered", Right: true, Value: func(r partRow) string { return cli.Share(r.score.Answered) }},
	}
	for i, q := range quantiles {
		columns = append(columns,
			table.Column[partRow]{Name: fmt.Sprintf("Cover%g", 100*q), Right: true, Value: func(r partRow) string {
				c := r.score.Quantiles[i].Coverage
				return shareOf(c, c.Share)
			}},
			table.Column[partRow]{Name: fmt.Sprintf("Rel%g", 100*q), Right: true, Value: func(r partRow) string { return perhaps(r.score.Quantiles[i].Relative) }})
	}
	return append(columns, table.Column[partRow]{Name: "Error", Right: true, Value: func(r partRow) string { return calibrationError(*r.score) }})
}

func summaryColumns(all []backtest.Summary) []table.Column[backtest.Summary] {
	columns := []table.Column[backtest.Summary]{{Name: "Method", Value: func(s backtest.Summary) string { return s.Method }}}
	for i, q := range all[0].Quantiles {
		columns = append(columns, table.Column[backtest.Summary]{Name: fmt.Sprint(q.Quantile), Right: true, Value: func(s backtest.Summary) string {
			q := s.Quantiles[i]
			if q.Logs == 0 {
				return cli.None
			}
			return fmt.Sprintf("%s (%s)", cli.Share(q.Mean), cli.Share(q.Worst))
		}})
	}
	return columns
}

// shareOf writes x, a number about a proportion, or cli.None if the proportion is of nothing.
func shareOf(p score.Proportion, x float64) string {
	if p.Of == 0 {
		return cli.None
	}
	return cli.Share(x)
}

// perhaps writes a number as cli.Share does, or cli.None if it is nil.
func perhaps(x *float64) string {
	if x == nil {
		return cli.None
	}
	return cli.Share(*x)
}
