// Package report is the command that compares what was promised or forecast with what came of it.
package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
)

// New returns the command report.
func New(env *cli.Env, link *link.Link) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report [options]",
		Short: "Compare what was promised or forecast with what came of it",
		Long: `Report compares the reservations' promises with what became of them, and what
they used with what their work required. Promised is the mean probability asked
for, Estimated the mean forecast; Delivered is the share that was kept, and lies
with 95 % confidence between Low and High: weeks are taken for independent of one
another, or promises if their deadlines lie in fewer than 5 weeks. Required and Used
are node-hours, and Ratio is Used / Required.

It covers your own reservations that jobs have taken up, or still may, by their
deadlines; operators may ask about others' too. --starttime, --accounts, --partition
and --state narrow that as they do in sacct; with only some states, there is no
Delivered.
Columns, for --format:
` + cli.Wrap(table.Names(reportColumns(""))) + `

With --calibration, it tells how far varqd's forecasts are to be believed: it
holds what each forecaster said, whenever a job began to wait, against how long
these jobs waited and, where Of is end, after how long they had ended. A quantile is
as good as its name if it covers that share of the jobs, and a probability if it
comes true as often as it says: Error is how far off they are in the mean. The
interval of the coverage, from Low to High, takes weeks for independent of one
another; fewer than 5 of them tell little, and it is wide. Forecasters that have
drifted are named, and groups of jobs for which forecasts are off by more than
chance: of a month, hour, queue, size, limit or user, a place in a burst of jobs of
the same kind, or a width of the forecast. It covers everybody's jobs whose wait
began in the last 30 days, or from --starttime on. Where Of is pending, it is about
how much longer jobs wait that wait already: by varqd (pending), by Slurm's own
estimate (slurm), and of jobs that wait for others as varqd tells it (dependent),
and as it does before it corrects that by what came of such forecasts (courses).
Columns:
` + cli.Wrap(table.Names(calibrationColumns(""))) + `

With --shadow, it tells what varqd would have promised, on a cluster where it only
watches (plan.mode: shadow in varq.yaml): for a random sample of the jobs that began
to wait, whether a start within 1, 4 or 12 hours would have been promised, and kept,
and for how many node-hours nodes would have idled before the work.
Columns:
` + cli.Wrap(table.Names(shadowColumns())),
		Example: `  varq report
  varq report --by=month -S 2026-01-01
  varq report --by=account --all -S now-7days -E now
  varq report -A physics -p batch,gpu -S now-1week
  varq report --by=partition --format=Partition%-12,Promises,Delivered,Ratio
  varq report --by=user --all --parsable2 --noheader
  varq report --calibration
  varq report --calibration --by=class -p gpu -S now-7days
  varq report --calibration --plot=reliability.svg
  varq report --shadow -S now-14days`,
		Args: cli.NoArguments,
	}
	by := cmd.Flags().String("by", "", "one line for each `group`: "+strings.Join(api.Groupings, ", ")+";\nwith --calibration "+strings.Join(api.CalibrationGroupings, ", "))
	whose := options.AddWhose(cmd.Flags(), options.Reservations)
	selecting := options.AddSelection(cmd)
	calibration := addCalibration(cmd)
	shadow := cmd.Flags().Bool("shadow", false, "what would have been promised and kept, where varqd only watches")
	style := options.AddStyle(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("by", cli.Complete(slices.Concat(api.Groupings, api.CalibrationGroupings)...))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		usage := func(err error) error { return cli.Usage(cmd, err) }
		user, err := whose.User()
		if err != nil {
			return usage(err)
		}
		selection, err := selecting.Read(env)
		if err != nil {
			return usage(err)
		}
		if err := calibration.check(user, selection); err != nil {
			return usage(err)
		}
		if *shadow {
			if calibration.wanted || *by != "" || user != "" || len(selection.Accounts)+len(selection.Partitions)+len(selection.Names)+len(selection.States) > 0 {
				return usage(errors.New("--shadow goes together with neither --calibration nor --by, --user, --all, --accounts, --partition, --name and --state"))
			}
			columns, err := options.Choose(shadowColumns(), style.Format)
			if err != nil {
				return usage(err)
			}
			return reportShadow(cmd.Context(), env, link, api.ShadowQuery{Start: selection.Start, End: selection.End}, columns, style)
		}
		groupings := api.Groupings
		if calibration.wanted {
			groupings = api.CalibrationGroupings
		}
		if *by != "" && !slices.Contains(groupings, *by) {
			return usage(fmt.Errorf("--by: %q is none of %s", *by, strings.Join(groupings, ", ")))
		}
		if calibration.wanted {
			columns, err := options.Choose(calibrationColumns(*by), style.Format)
			if err != nil {
				return usage(err)
			}
			return reportCalibration(cmd.Context(), env, link, calibration.query(*by, selection, env.Now()), calibration.plot, columns, style)
		}
		columns, err := options.Choose(reportColumns(*by, selection.States...), style.Format)
		if err != nil {
			return usage(err)
		}
		return reportPromises(cmd.Context(), env, link, api.ReportQuery{By: *by, User: user, Selection: selection}, columns, style)
	}
	return cmd
}
