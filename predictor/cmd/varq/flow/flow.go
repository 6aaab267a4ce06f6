// Package flow has the command that tells when jobs of which some wait for others will have ended,
// all of them.
package flow

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/prob"
)

// New returns the command flow.
func New(env *cli.Env, link *link.Link) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "flow [options] JOBID...",
		Short: "Tell when jobs that wait for one another will all have ended",
		Long: `Flow forecasts when the last of some jobs ends: of those that you name, of those
that they wait for (sbatch --dependency), and of those that wait for them.

  Start     the job starts before this time as likely as not (the median)
  End       the job ends before this time as likely as not
  Late      the job ends before this time in nine cases of ten
  Critical  the probability that the whole waits for this job: if it took an hour
            less, all would have ended so much of an hour sooner
  After     the jobs that it waits for

The end of the whole is not a sum: jobs that wait in the same queue are late
together, and of branches the longest counts. A job that others need to succeed may
fail, by what became of past jobs like it.

A forecast is not a promise.

All columns, for --format:
` + cli.Wrap(table.Names(allColumns(env))),
		Example: `  varq flow 4711
  varq flow 4711 4715 --json
  varq flow --jobs=4711,4715`,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	named := flags.StringArrayP("jobs", "j", nil, "these `jobs`, separated by commas")
	style := options.AddStyle(flags)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		jobs, err := options.ParseJobs(append(*named, args...))
		switch {
		case err != nil:
			return cli.Usage(cmd, err)
		case len(jobs) == 0:
			return cli.Usage(cmd, errors.New("name jobs of the flow: varq flow 4711"))
		}
		columns, err := options.Choose(allColumns(env), style.Format)
		if err != nil {
			return cli.Usage(cmd, err)
		}
		query := api.WhenQuery{Jobs: jobs, Flow: true}
		if err := query.Check(); err != nil {
			return cli.Usage(cmd, api.ByOption(err, env.Moment))
		}
		varqd, err := link.DialForecaster(cmd.Context(), env)
		if err != nil {
			return err
		}
		answer, err := varqd.When(cmd.Context(), query)
		switch {
		case err != nil:
			return err
		case answer.Flow == nil:
			return errors.New("varqd is older than this varq, and knows no flows")
		case style.JSON:
			return cli.WriteJSON(env.Stdout, answer.Flow)
		case len(answer.Flow.Jobs) == 0:
			fmt.Fprintln(env.Stderr, "varq: no such job is in the queue, or it is not yours to see")
			return cli.ErrNo
		}
		if style.Plain() {
			fmt.Fprintln(env.Stdout, headline(env, answer.Flow))
		}
		if err := options.Show(env, columns, answer.Flow.Jobs, style, false); err != nil || !style.Plain() {
			return err
		}
		return varqd.Caveat(cmd.Context(), env, answer.AsOf)
	}
	return cmd
}

// headline tells of the whole of a flow.
func headline(env *cli.Env, f *api.Flow) string {
	var s strings.Builder
	jobs := cli.Count(len(f.Jobs), "job", "jobs")
	if f.Unknown != "" {
		fmt.Fprintf(&s, "When all of %s have ended is not forecast: %s.\n", jobs, f.Unknown)
	} else {
		fmt.Fprintf(&s, "All of %s have ended %s.\n", jobs, told.Likely(f.End, env.Zone))
	}
	if f.Lost > 0 {
		fmt.Fprintf(&s, "With probability %s some of them never start, as others do not end as they need.\n", prob.Format(f.Lost))
	}
	return s.String()
}

// allColumns returns all columns.
func allColumns(env *cli.Env) []table.Column[api.FlowJob] {
	type row = api.FlowJob
	moment := func(f *api.Forecast, of func(*api.Forecast) int64) string {
		switch {
		case f == nil:
			return cli.None
		case of(f) == 0:
			return "beyond"
		}
		return env.Moment(of(f))
	}
	median := func(f *api.Forecast) int64 { return f.Median }
	late := func(f *api.Forecast) int64 { return f.Late }
	return []table.Column[row]{
		table.Number("JobID", func(r row) string { return told.JobID(&api.Waiting{Job: r.Job, Array: r.Array, Tasks: r.Tasks}) }),
		{Name: "Name", Value: func(r row) string { return r.Name }, Spare: 2},
		table.Text("State", func(r row) string { return map[bool]string{true: "RUNNING", false: "PENDING"}[r.Runs] }),
		table.Text("Start", func(r row) string { return moment(r.Start, median) }),
		table.Text("End", func(r row) string { return moment(r.End, median) }),
		table.Text("Late", func(r row) string { return moment(r.End, late) }),
		table.Number("Critical", func(r row) string { return prob.Format(r.Critical) }),
		{Name: "After", Value: after, Long: true},
	}
}

// after lists what a job waits for, or why nothing is forecast.
func after(r api.FlowJob) string {
	if r.Unknown != "" {
		return r.Unknown
	}
	var all []string
	for _, a := range r.After {
		all = append(all, a.Kind+":"+told.JobID(&api.Waiting{Job: a.Job, Array: a.Array, Tasks: a.Tasks}))
	}
	return strings.Join(all, ",")
}
