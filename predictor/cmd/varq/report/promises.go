package report

import (
	"context"
	"slices"
	"strconv"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
)

// reportPromises asks varqd for the report about promises, and shows it.
func reportPromises(ctx context.Context, env *cli.Env, link *link.Link, q api.ReportQuery, columns []table.Column[api.ReportRow], style *options.Style) error {
	varqd, err := link.Dial()
	if err != nil {
		return err
	}
	report, err := varqd.Report(ctx, q)
	if err != nil {
		return err
	}
	if style.JSON {
		return cli.WriteJSON(env.Stdout, report)
	}
	return options.Show(env, columns, report.Rows, style, false)
}

// reportColumns has the columns of Table 3 of the paper, and the counts behind them. states
// are those that the report selects, or none for all.
func reportColumns(by string, states ...string) []table.Column[api.ReportRow] {
	type row = api.ReportRow
	columns := groupColumn(by, func(r row) string { return r.Group })
	number := func(name string, value func(row) string) {
		spare := 1 + slices.Index([]string{"Lost", "Goodput", "QoS", "Estimated", "Open", "Cancelled", "Low", "High", "Used", "Required"}, name)
		columns = append(columns, table.Column[row]{Name: name, Right: true, Spare: spare, Value: value})
	}
	count := func(name string, value func(row) int) {
		number(name, func(r row) string { return strconv.Itoa(value(r)) })
	}
	settled := func(name string, value func(row) string) {
		number(name, func(r row) string {
			if r.Kept+r.Missed == 0 {
				return cli.None
			}
			return value(r)
		})
	}
	delivered := func(name string, value func(row) float64) {
		settled(name, func(r row) string {
			both := slices.Contains(states, api.StateKept) && slices.Contains(states, api.StateMissed)
			if len(states) > 0 && !both {
				return cli.None // a share of the kept among the kept alone tells nothing
			}
			return cli.Share(value(r))
		})
	}
	count("Promises", func(r row) int { return r.Promises })
	count("Kept", func(r row) int { return r.Kept })
	count("Missed", func(r row) int { return r.Missed })
	count("Cancelled", func(r row) int { return r.Cancelled })
	count("Open", func(r row) int { return r.Open })
	settled("Promised", func(r row) string { return cli.Share(r.Promised) })
	settled("Estimated", func(r row) string { return cli.Share(r.Estimated) })
	delivered("Delivered", func(r row) float64 { return r.Delivered })
	delivered("Low", func(r row) float64 { return r.Low })
	delivered("High", func(r row) float64 { return r.High })
	number("Required", func(r row) string { return cli.NodeHours(r.Required) })
	number("Used", func(r row) string { return cli.NodeHours(r.Used) })
	number("Ratio", func(r row) string {
		if r.Required == 0 {
			return cli.None
		}
		return strconv.FormatFloat(r.Ratio, 'f', 2, 64)
	})
	delivered("QoS", func(r row) float64 { return r.QoS })
	number("Goodput", func(r row) string {
		if r.Used == 0 {
			return cli.None
		}
		return cli.Share(r.Goodput)
	})
	number("Lost", func(r row) string { return cli.NodeHours(r.Lost) })
	return columns
}
