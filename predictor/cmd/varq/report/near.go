package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/forecast/score"
)

// nearRow is how near one kind of forecast came. name is the forecaster's, or what was said by a
// forecast that knows nothing of the job.
type nearRow struct {
	name, of, group string
	api.Near
}

// showNear shows how near the medians came. There is nothing to show where an older varqd counts
// nothing of it.
func showNear(env *cli.Env, c api.Calibration) error {
	rows := nearRows(c.Rows)
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprint(env.Stdout, "\nHow near medians came, beside forecasts that know nothing of the job\n")
	return table.Write(env.Stdout, nearColumns(c.By), rows, table.Style{})
}

// nearRows returns the medians of the forecasters of each outcome, and after these the forecasts
// that know nothing of the job: once where several forecasters were asked about the same jobs.
func nearRows(all []api.CalibrationRow) (rows []nearRow) {
	var trivial []nearRow
	for i, r := range all {
		for _, n := range r.Near {
			row := nearRow{n.Said, r.Of, r.Group, n}
			switch {
			case n.Said == score.Said[score.SaidMedian]:
				row.name = r.Forecaster
				rows = append(rows, row)
			case !slices.Contains(trivial, row):
				trivial = append(trivial, row)
			}
		}
		if i+1 == len(all) || all[i+1].Of != r.Of {
			rows, trivial = append(rows, trivial...), nil
		}
	}
	return rows
}

func nearColumns(by string) []table.Column[nearRow] {
	columns := []table.Column[nearRow]{{Name: "Forecaster", Value: func(r nearRow) string { return r.name }}, {Name: "Of", Value: func(r nearRow) string { return r.of }}}
	columns = append(columns, groupColumn(by, func(r nearRow) string { return r.group })...)
	number := func(name string, value func(nearRow) string) {
		columns = append(columns, table.Column[nearRow]{Name: name, Right: true, Value: value})
	}
	number("Forecasts", func(r nearRow) string { return strconv.Itoa(r.Forecasts) })
	number("In1min", func(r nearRow) string { return cli.Share(r.WithinMinute) })
	number("In10min", func(r nearRow) string { return cli.Share(r.Within10Minutes) })
	number("Factor2", func(r nearRow) string { return cli.Share(r.WithinFactor2) })
	number("LogError", func(r nearRow) string { return cli.Share(r.LogError) })
	return columns
}
