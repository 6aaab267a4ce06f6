package web

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// paramDays is for how many days back the page tells of forecasts.
const paramDays = "days"

// periods are its values. The first is the default.
var periods = []int64{30, 90, 365}

// An interval of a share that is wider than mute is not worth showing.
const mute = .9

// enoughWeeks is on how many weeks an interval must rest to be no wider than it need be, as
// api.CalibrationRow says.
const enoughWeeks = 5

const day = 86400

// honestyPage tells how far forecasts and promises came true.
type honestyPage struct {
	From, To  string
	Days      int64
	Periods   []int64
	Verdicts  []verdict
	Diagrams  []diagram
	Months    []monthRow
	Quantiles []string // the heads of Months
	Worst     []worstRow
	Promises  []promiseRow
}

// verdict is whether the quantiles of one kind of forecast have held as often as they say.
type verdict struct {
	Of   string   // which times they are of, and how many
	Held []string // of each quantile, how often it held
	Few  string   // why that tells little, or ""
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
	months, err := s.varqd.Calibration(r.Context(), api.CalibrationQuery{By: "month", Start: now - 365*day, Forecaster: told.Believed})
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
		if row.Forecaster != told.Believed && row.Of != api.OfEnd {
			continue
		}
		body.Verdicts = append(body.Verdicts, newVerdict(row))
		if d := newDiagram(row); d != nil {
			body.Diagrams = append(body.Diagrams, *d)
		}
	}
	body.months(months.Rows)
	for _, g := range whole.Worst {
		if g.Forecaster == told.Believed || g.Of == api.OfEnd {
			body.Worst = append(body.Worst, worst(&g))
		}
	}
	return &page{Title: "How good is it?", Here: "honesty", Template: "honesty", Body: body}, nil
}

// newVerdict returns the verdict on a row. Where there are too few weeks there is none on a single
// quantile.
func newVerdict(row *api.CalibrationRow) verdict {
	v := verdict{Of: cli.Thousands(row.Forecasts) + " waits"}
	if row.Of == api.OfEnd {
		v.Of = cli.Thousands(row.Forecasts) + " times until the end (a job's wait and its run together, on which --finish-by rests)"
	}
	few := 0 < row.Weeks && row.Weeks < enoughWeeks
	if few {
		v.Few = fmt.Sprintf("Too few weeks to tell whether that is honest: what happens in one week is alike, as jobs share a full queue or an outage, and these are of about %s. From %d on there is a verdict.",
			cli.Count(row.Weeks, "week", "weeks"), enoughWeeks)
	}
	for _, q := range row.Quantiles {
		held := fmt.Sprintf("with %g: %s", q.Quantile, cli.Share(q.Covered))
		if q.High-q.Low <= mute {
			held += fmt.Sprintf(" (95 %% interval %s to %s)", cli.Share(q.Low), cli.Share(q.High))
		}
		if !few {
			held += fmt.Sprintf(": %s", score.Judge(q.Low, q.High, q.Quantile))
		}
		v.Held = append(v.Held, held)
	}
	return v
}

// interval shows a share with its interval, unless that says nothing.
func interval(share, low, high float64) string {
	if high-low > mute {
		return cli.Share(share)
	}
	return cli.Interval(share, low, high)
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
			m.Covered = append(m.Covered, interval(q.Covered, q.Low, q.High))
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
			p.Promised, p.Delivered = prob.Format(r.Promised), interval(r.Delivered, r.Low, r.High)
		}
		list = append(list, p)
	}
	return list
}
