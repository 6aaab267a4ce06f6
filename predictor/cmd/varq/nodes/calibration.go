package nodes

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/plot"
)

// calibration is a report about forecasts of failures.
type calibration struct {
	wanted           bool
	plot, start, end string
}

func addCalibration(cmd *cobra.Command) *calibration {
	c := &calibration{}
	flags := cmd.Flags()
	flags.BoolVar(&c.wanted, "calibration", false, "tell how far these risks are to be believed")
	flags.StringVarP(&c.start, "starttime", "S", "", "forecasts from this `time` on, in any format of sacct")
	flags.StringVarP(&c.end, "endtime", "E", "", "forecasts until the day of this `time`")
	options.AddDiagram(cmd, &c.plot)
	return c
}

// query returns the query, or an error if options contradict each other.
func (c *calibration) query(env *cli.Env, cmd *cobra.Command) (q api.NodesCalibrationQuery, err error) {
	for _, name := range []string{"starttime", "endtime", "plot"} {
		if !c.wanted && cmd.Flags().Changed(name) {
			return q, fmt.Errorf("--%s goes with --calibration", name)
		}
	}
	for _, name := range []string{"nodelist", "most"} {
		if c.wanted && cmd.Flags().Changed(name) {
			return q, fmt.Errorf("--calibration is about all nodes: leave out --%s", name)
		}
	}
	if err := options.CheckDiagram(c.plot); err != nil {
		return q, err
	}
	q.Start = env.Now() - options.CalibrationTime
	if c.start != "" {
		if q.Start, err = env.PastTime("--starttime", c.start); err != nil {
			return q, err
		}
	}
	if q.End, err = env.PastTime("--endtime", c.end); err != nil {
		return q, err
	}
	window := api.Selection{Start: q.Start, End: q.End}
	return q, api.ByOption(window.Check(), env.Moment)
}

// run asks varqd for the scores of its forecasts of failures, and shows and draws them.
func (c *calibration) run(ctx context.Context, env *cli.Env, link *link.Link, q api.NodesCalibrationQuery, columns []table.Column[api.NodesCalibrationRow], style *options.Style) error {
	varqd, err := link.Dial()
	if err != nil {
		return err
	}
	answer, err := varqd.NodesCalibration(ctx, q)
	if err != nil {
		return err
	}
	if err := showCalibration(env, answer, columns, style); err != nil || c.plot == "" {
		return err
	}
	return drawCalibration(env, c.plot, answer)
}

// showCalibration shows the scores, as tables or as JSON. The second table has the risks that
// varqd has told.
func showCalibration(env *cli.Env, c api.NodesCalibration, columns []table.Column[api.NodesCalibrationRow], style *options.Style) error {
	if style.JSON {
		return cli.WriteJSON(env.Stdout, c)
	}
	if err := options.Show(env, columns, c.Rows, style, false); err != nil || !style.Plain() {
		return err
	}
	if len(c.Rows) == 0 {
		fmt.Fprintln(env.Stdout, "\n"+noFailureScored+".")
		return nil
	}
	for _, row := range c.Rows {
		if row.Forecaster != told.Believed {
			continue
		}
		fmt.Fprintln(env.Stdout, "\nHow often the risks that varq nodes shows came true:")
		fmt.Fprintln(env.Stdout)
		return options.Show(env, riskColumns(), row.Reliability, style, false)
	}
	return nil
}

const noFailureScored = "No forecast of a failure was scored in this time"

// chance writes a probability that may be small.
func chance(p float64) string { return strconv.FormatFloat(p, 'f', 5, 64) }

func riskColumns() []table.Column[api.RiskBin] {
	return []table.Column[api.RiskBin]{
		table.Number("Forecasts", func(b api.RiskBin) string { return strconv.Itoa(b.Count) }),
		table.Number("Risk", func(b api.RiskBin) string { return chance(b.Mean) }),
		table.Number("Failed", func(b api.RiskBin) string { return chance(b.Failed) }),
		table.Number("Low", func(b api.RiskBin) string { return chance(b.Low) }),
		table.Number("High", func(b api.RiskBin) string { return chance(b.High) }),
	}
}

func calibrationColumns() []table.Column[api.NodesCalibrationRow] {
	type row = api.NodesCalibrationRow
	columns := []table.Column[row]{table.Text("Forecaster", func(r row) string { return r.Forecaster })}
	number := func(name string, known func(row) bool, value func(row) string) {
		columns = append(columns, table.Number(name, func(r row) string {
			if !known(r) {
				return cli.None
			}
			return value(r)
		}))
	}
	always := func(row) bool { return true }
	failed := func(r row) bool { return r.Failed > 0 }
	sure := func(r row) bool { return len(r.Interval) == 2 }
	number("Forecasts", always, func(r row) string { return strconv.Itoa(r.Forecasts) })
	number("Failed", always, func(r row) string { return strconv.Itoa(r.Failed) })
	number("Expected", always, func(r row) string { return strconv.FormatFloat(r.Expected, 'f', 1, 64) })
	number("Gain", failed, func(r row) string { return cli.Share(r.Gain) })
	number("Low", sure, func(r row) string { return cli.Share(r.Interval[0]) })
	number("High", sure, func(r row) string { return cli.Share(r.Interval[1]) })
	number("Precision", func(r row) bool { return r.Alarms > 0 }, func(r row) string { return cli.Share(r.Precision) })
	for i, name := range []string{"Recall", "6h", "1d", "7d"} {
		number(name, func(r row) bool { return r.Failures > 0 && i < len(r.Ahead) }, func(r row) string { return cli.Share(r.Ahead[i].Share) })
	}
	return columns
}

// drawCalibration draws how often the risks of all rows came true into the file path.
func drawCalibration(env *cli.Env, path string, c api.NodesCalibration) error {
	picture := &plot.Risks{Title: "How often nodes failed within a day"}
	for _, row := range c.Rows {
		curve := plot.RiskCurve{Name: row.Forecaster}
		for _, b := range row.Reliability {
			curve.Points = append(curve.Points, score.RiskPoint{Count: b.Count, Mean: b.Mean, True: b.Failed, Low: b.Low, High: b.High})
		}
		picture.Curves = append(picture.Curves, curve)
	}
	switch err := plot.Save(path, picture); {
	case errors.Is(err, plot.ErrNothing):
		fmt.Fprintf(env.Stderr, "varq: %s is not drawn: no forecast of a failure was scored in this time\n", path)
	case err != nil:
		return fmt.Errorf("--plot: %w", err)
	}
	return nil
}
