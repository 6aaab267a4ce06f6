package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
)

func newReport(env *Env, link *link) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report [options]",
		Short: "Compare what was promised or forecast with what came of it",
		Long: `Report compares the reservations' promises with what became of them, and what
they used with what their work required. Promised is the mean probability asked
for, Estimated the mean forecast; Delivered is the share that was kept, and lies
with 95 % confidence between Low and High. Required and Used are node-hours, and
Ratio is Used / Required.

It covers your own reservations, by their deadlines; operators may ask about
others' too. Columns, for --format: ` + table.Names(reportColumns("")) + `

With --calibration, it tells how far varqd's forecasts are to be believed: it
holds what each forecaster said, whenever a job began to wait, against how long
these jobs waited. A quantile is as good as its name if it covers that share of
the waits, and a probability if it comes true as often as it says: Error is how
far off they are in the mean. Forecasters that have drifted are named. It covers
everybody's jobs whose wait began in the last 30 days, or from --starttime on.
Columns: ` + table.Names(calibrationColumns("")),
		Example: `  varq report
  varq report --by=month -S 2026-01-01
  varq report --by=account --all -S now-7days -E now
  varq report --by=partition --format=Partition%-12,Promises,Delivered,Ratio
  varq report --by=user --all --parsable2 --noheader
  varq report --calibration
  varq report --calibration --by=class -p gpu -S now-7days
  varq report --calibration --plot=reliability.svg`,
		Args: cli.NoArguments,
	}
	by := cmd.Flags().String("by", "", "one line for each `group`: "+strings.Join(api.Groupings, ", ")+";\nwith --calibration "+strings.Join(api.CalibrationGroupings, ", "))
	whoseFlags := addWhose(cmd.Flags())
	from := cmd.Flags().StringP("starttime", "S", "", "deadlines from this `time` on, in any format of sacct")
	to := cmd.Flags().StringP("endtime", "E", "", "deadlines before this `time`")
	calibration := addCalibration(cmd)
	style := addStyle(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(slices.Concat(api.Groupings, api.CalibrationGroupings), cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		usage := func(err error) error { return cli.Usage(cmd, err) }
		whose, err := whoseFlags.user()
		if err != nil {
			return usage(err)
		}
		start, err := env.parsePast("--starttime", *from)
		if err != nil {
			return usage(err)
		}
		end, err := env.parsePast("--endtime", *to)
		if err != nil {
			return usage(err)
		}
		if err := calibration.check(whose); err != nil {
			return usage(err)
		}
		groupings := api.Groupings
		if calibration.wanted {
			groupings = api.CalibrationGroupings
		}
		if *by != "" && !slices.Contains(groupings, *by) {
			return usage(fmt.Errorf("--by: %q is none of %s", *by, strings.Join(groupings, ", ")))
		}
		if calibration.wanted {
			columns, err := choose(calibrationColumns(*by), style.format)
			if err != nil {
				return usage(err)
			}
			if start == 0 {
				start = env.Now() - calibrationTime
			}
			return env.reportCalibration(cmd.Context(), link, calibration.query(*by, start, end), calibration.plot, columns, style)
		}
		columns, err := choose(reportColumns(*by), style.format)
		if err != nil {
			return usage(err)
		}
		varqd, err := link.dial()
		if err != nil {
			return err
		}
		report, err := varqd.Report(cmd.Context(), api.ReportQuery{By: *by, Start: start, End: end, User: whose})
		if err != nil {
			return err
		}
		if style.json {
			return cli.WriteJSON(env.Stdout, report)
		}
		return table.Write(env.Stdout, columns, report.Rows, style.table())
	}
	return cmd
}

// reportColumns are Table 3 of the paper, with the counts that it rests on.
func reportColumns(by string) []table.Column[api.ReportRow] {
	type row = api.ReportRow
	var columns []table.Column[row]
	if by != "" {
		name := strings.ToUpper(by[:1]) + by[1:]
		columns = append(columns, table.Column[row]{Name: name, Value: func(r row) string { return r.Group }})
	}
	number := func(name string, value func(row) string) {
		columns = append(columns, table.Column[row]{Name: name, Right: true, Value: value})
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
	count("Promises", func(r row) int { return r.Promises })
	count("Kept", func(r row) int { return r.Kept })
	count("Missed", func(r row) int { return r.Missed })
	count("Cancelled", func(r row) int { return r.Cancelled })
	count("Open", func(r row) int { return r.Open })
	settled("Promised", func(r row) string { return cli.Share(r.Promised) })
	settled("Estimated", func(r row) string { return cli.Share(r.Estimated) })
	settled("Delivered", func(r row) string { return cli.Share(r.Delivered) })
	settled("Low", func(r row) string { return cli.Share(r.Low) })
	settled("High", func(r row) string { return cli.Share(r.High) })
	number("Required", func(r row) string { return nodeHours(r.Required) })
	number("Used", func(r row) string { return nodeHours(r.Used) })
	number("Ratio", func(r row) string {
		if r.Required == 0 {
			return cli.None
		}
		return strconv.FormatFloat(r.Ratio, 'f', 2, 64)
	})
	return columns
}
