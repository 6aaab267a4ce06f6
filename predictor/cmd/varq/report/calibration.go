package report

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/plot"
)

// calibrationFlags has the options of a report about forecasts.
type calibrationFlags struct {
	wanted                  bool
	plot, class, forecaster string
}

func addCalibration(cmd *cobra.Command) *calibrationFlags {
	f := &calibrationFlags{}
	flags := cmd.Flags()
	flags.BoolVar(&f.wanted, "calibration", false, "tell how far forecasts are to be believed")
	flags.StringVar(&f.class, "class", "", "forecasts for this `class` of jobs, as --by=class names it")
	flags.StringVar(&f.forecaster, "forecaster", "", "forecasts by this `name`")
	options.AddDiagram(cmd, &f.plot)
	return f
}

// check returns an error if options contradict each other. user is that of --user or --all.
func (f *calibrationFlags) check(user string, s api.Selection) error {
	if f.wanted {
		switch {
		case user != "":
			return errors.New("--calibration is about everybody's jobs: leave out --user and --all")
		case len(s.Accounts)+len(s.Names)+len(s.States) > 0:
			return errors.New("--calibration is about everybody's jobs, and not about promises: leave out --accounts, --name and --state")
		case len(s.Partitions) > 1:
			return errors.New("--partition: name one with --calibration, or compare them by --by=partition")
		}
		return options.CheckDiagram(f.plot)
	}
	for _, o := range []struct{ name, value string }{
		{"class", f.class}, {"forecaster", f.forecaster}, {"plot", f.plot},
	} {
		if o.value != "" {
			return fmt.Errorf("--%s goes with --calibration", o.name)
		}
	}
	return nil
}

// query returns the query for the time and the partition of a selection. A start of 0 stands
// for the default.
func (f *calibrationFlags) query(by string, s api.Selection, now int64) api.CalibrationQuery {
	if s.Start == 0 {
		s.Start = now - options.CalibrationTime
	}
	return api.CalibrationQuery{By: by, Start: s.Start, End: s.End, Forecaster: f.forecaster, Partition: strings.Join(s.Partitions, ""), Class: f.class}
}

// reportCalibration asks varqd for the scores of its forecasts and shows them. If picture is
// not empty, it draws them into that file.
func reportCalibration(ctx context.Context, env *cli.Env, link *link.Link, q api.CalibrationQuery, picture string, columns []table.Column[quantileRow], style *options.Style) error {
	varqd, err := link.Dial()
	if err != nil {
		return err
	}
	c, err := varqd.Calibration(ctx, q)
	if err != nil {
		return err
	}
	if err := showCalibration(env, c, q.Forecaster, columns, style, picture == ""); err != nil || picture == "" {
		return err
	}
	return drawCalibration(env, picture, c)
}

// showCalibration shows the scores of forecasts, as a table or as JSON. With the table comes a
// diagram of all forecasts, if it is asked for. asked is the forecaster that is asked about, empty
// for all.
func showCalibration(env *cli.Env, c api.Calibration, asked string, columns []table.Column[quantileRow], style *options.Style, diagrams bool) error {
	if style.JSON {
		return cli.WriteJSON(env.Stdout, c)
	}
	var rows []quantileRow
	for i := range c.Rows {
		for k := range c.Rows[i].Quantiles {
			rows = append(rows, quantileRow{&c.Rows[i], &c.Rows[i].Quantiles[k]})
		}
	}
	if err := options.Show(env, columns, rows, style, false); err != nil || !style.Plain() {
		return err
	}
	if err := showNear(env, c); err != nil {
		return err
	}
	showDrift(env, c)
	if err := showWorst(env, c, asked); err != nil {
		return err
	}
	if diagrams && c.By == "" && len(c.Rows) > 0 {
		fmt.Fprintf(env.Stdout, "\n%s", diagram(c.Rows))
	}
	return nil
}

// quantileRow is the row of one quantile of a forecaster.
type quantileRow struct {
	*api.CalibrationRow
	*api.QuantileCoverage
}

func calibrationColumns(by string) []table.Column[quantileRow] {
	type row = quantileRow
	columns := []table.Column[row]{{Name: "Forecaster", Value: func(r row) string { return r.Forecaster }}, {Name: "Of", Value: func(r row) string { return r.Of }}}
	columns = append(columns, groupColumn(by, func(r row) string { return r.Group })...)
	number := func(name string, value func(row) string) {
		columns = append(columns, table.Column[row]{Name: name, Right: true, Value: value})
	}
	number("Forecasts", func(r row) string { return strconv.Itoa(r.Forecasts) })
	number("Error", func(r row) string { return cli.Share(r.CalibrationError) })
	number("Brier", func(r row) string { return cli.Share(r.Brier) })
	number("Quantile", func(r row) string { return fmt.Sprint(r.Quantile) })
	number("Coverage", func(r row) string { return cli.Share(r.Covered) })
	number("Low", func(r row) string { return cli.Share(r.Low) })
	number("High", func(r row) string { return cli.Share(r.High) })
	number("Pinball", func(r row) string { return strconv.FormatFloat(r.Pinball, 'f', 0, 64) })
	return columns
}

// showDrift names the forecasters that have drifted.
func showDrift(env *cli.Env, c api.Calibration) {
	if len(c.Rows) == 0 {
		fmt.Fprintln(env.Stdout, "\nNo forecast was scored in this time.")
		return
	}
	if c.By == "month" {
		return
	}
	found := false
	fmt.Fprintln(env.Stdout)
	for _, r := range c.Rows {
		if r.Drift != "" {
			found = true
			fmt.Fprintf(env.Stdout, "%s %s.\n", rowName(&r), r.Drift)
		}
	}
	if !found {
		fmt.Fprintln(env.Stdout, "No forecaster has drifted.")
	}
}

// drawCalibration draws the reliability of all rows into the file path.
func drawCalibration(env *cli.Env, path string, c api.Calibration) error {
	picture := &plot.Reliability{Title: "Probabilities of a start, or of an end, in time"}
	for i := range c.Rows {
		curve := plot.Curve{Name: rowName(&c.Rows[i])}
		for _, b := range c.Rows[i].Reliability {
			curve.Points = append(curve.Points, score.Point(b))
		}
		picture.Curves = append(picture.Curves, curve)
	}
	switch err := plot.Save(path, picture); {
	case errors.Is(err, plot.ErrNothing):
		fmt.Fprintf(env.Stderr, "varq: %s is not drawn: no forecast was scored in this time\n", path)
	case err != nil:
		return fmt.Errorf("--plot: %w", err)
	}
	return nil
}
