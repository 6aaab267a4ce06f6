package web

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// believed is the forecaster on whose forecasts promises rest.
const believed = "blend"

// paramDays is for how many days back the page tells of forecasts.
const paramDays = "days"

// vague is how wide an interval of a share is from which nothing follows.
const vague = .2

// periods are its values. The first is the default.
var periods = []int64{30, 90, 365}

const day = 86400

// honestyPage tells how far forecasts and promises came true.
type honestyPage struct {
	From, To  string
	Days      int64
	Periods   []int64
	Verdicts  []string // of forecasts of waits
	Diagrams  []diagram
	Months    []monthRow
	Quantiles []string // the heads of Months
	Worst     []worstRow
	Promises  []promiseRow
}

type monthRow struct {
	Month     string
	Forecasts string
	Covered   []string
}

type worstRow struct {
	By, Group, Jobs string
	Covered         string
}

type promiseRow struct{ Month, Promises, Open, Cancelled, Kept, Missed, Promised, Delivered string }

// honesty answers with how far what was forecast, and what was promised to the user, came true.
func (s *site) honesty(r *http.Request) (*page, error) {
	days := periods[0]
	if text := r.URL.Query().Get(paramDays); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || !slices.Contains(periods, n) {
			return nil, api.Fault(api.ErrInvalid, fmt.Sprintf("days: %.40q is none of 30, 90 and 365", text))
		}
		days = n
	}
	now := s.env.Now()
	whole, err := s.varqd.Calibration(r.Context(), api.CalibrationQuery{Start: now - days*day})
	if err != nil {
		return nil, err
	}
	months, err := s.varqd.Calibration(r.Context(), api.CalibrationQuery{By: "month", Start: now - 365*day, Forecaster: believed})
	if err != nil {
		return nil, err
	}
	promises, err := s.varqd.Report(r.Context(), api.ReportQuery{By: "month"})
	if err != nil {
		return nil, err
	}
	body := honestyPage{
		From: slurmtime.Format(now-days*day, s.env.Zone), To: slurmtime.Format(now, s.env.Zone), Days: days, Periods: periods,
		Promises: promiseRows(promises.Rows),
	}
	for i := range whole.Rows {
		row := &whole.Rows[i]
		if row.Forecaster != believed && row.Of != api.OfEnd {
			continue
		}
		body.Verdicts = append(body.Verdicts, verdicts(row)...)
		if d := newDiagram(row); d != nil {
			body.Diagrams = append(body.Diagrams, *d)
		}
	}
	body.months(months.Rows)
	for _, g := range whole.Worst {
		if g.Forecaster == believed || g.Of == api.OfEnd {
			body.Worst = append(body.Worst, worst(&g))
		}
	}
	return &page{Title: "How good is it?", Here: "honesty", Template: "honesty", Body: body}, nil
}

// verdicts says of each quantile whether it has held as often as it says.
func verdicts(row *api.CalibrationRow) []string {
	var list []string
	what := "waits"
	if row.Of == api.OfEnd {
		what = "times until the end"
	}
	for _, q := range row.Quantiles {
		verdict := "more than chance off"
		switch {
		case q.High-q.Low > vague:
			verdict = "too few to tell"
		case q.Low <= q.Quantile && q.Quantile <= q.High:
			verdict = "honest, as far as these can tell"
		case q.Covered > q.Quantile:
			verdict = "on the safe side by more than chance"
		}
		list = append(list, fmt.Sprintf("%g: of %s %s, %s were within what was said with %g (95 %% interval %s to %s): %s.",
			q.Quantile, cli.Thousands(row.Forecasts), what, cli.Share(q.Covered), q.Quantile, cli.Share(q.Low), cli.Share(q.High), verdict))
	}
	return list
}

// months sets the coverage by month, of waits.
func (p *honestyPage) months(rows []api.CalibrationRow) {
	for i := range rows {
		row := &rows[i]
		if row.Of == api.OfEnd {
			continue
		}
		if p.Quantiles == nil {
			for _, q := range row.Quantiles {
				p.Quantiles = append(p.Quantiles, fmt.Sprintf("%g", q.Quantile))
			}
		}
		m := monthRow{Month: row.Group, Forecasts: cli.Thousands(row.Forecasts)}
		for _, q := range row.Quantiles {
			m.Covered = append(m.Covered, cli.Interval(q.Covered, q.Low, q.High))
		}
		p.Months = append(p.Months, m)
	}
}

func worst(g *api.GroupCoverage) worstRow {
	w := worstRow{By: g.By, Group: g.Value, Jobs: cli.Thousands(g.Jobs)}
	if g.Value == "" {
		w.Group = "another user"
	}
	for i, q := range g.Quantiles {
		if i > 0 {
			w.Covered += "; "
		}
		w.Covered += fmt.Sprintf("%g held in %s", q.Quantile, cli.Interval(q.Covered, q.Low, q.High))
	}
	return w
}

func promiseRows(rows []api.ReportRow) []promiseRow {
	var list []promiseRow
	for _, r := range rows {
		p := promiseRow{
			r.Group, strconv.Itoa(r.Promises), strconv.Itoa(r.Open), strconv.Itoa(r.Cancelled), strconv.Itoa(r.Kept), strconv.Itoa(r.Missed), cli.None, cli.None,
		}
		if r.Kept+r.Missed > 0 {
			p.Promised, p.Delivered = prob.Format(r.Promised), cli.Interval(r.Delivered, r.Low, r.High)
		}
		list = append(list, p)
	}
	return list
}
