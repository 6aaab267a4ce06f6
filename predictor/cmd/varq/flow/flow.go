// Package flow has the command about flows, which are jobs of which some wait for others: it tells
// when all of them will have ended, has that promised, and submits the jobs of a file.
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
		Use:   "flow [JOBID...|FILE.yaml] [--finish-by=TIME [--prob=P]]",
		Short: "Tell, or have promised, when jobs that wait for one another will all have ended",
		Long: `Flow forecasts when the last of some jobs ends: of those that you name, of those
that they wait for (sbatch --dependency), and of those that wait for them. With
--finish-by it has promised that they all have ended by a time. Slurm lets each run in
its turn; nothing is moved or held for the promise, and it costs nothing.

Snakemake and Nextflow submit a job when its inputs are there. Of a run of theirs name
one job: flow takes in all jobs of the run that are in the queue, which it knows by
their names, comments and folders. Jobs that the engine has yet to submit are neither
forecast nor promised.

Without jobs it lists the flows that were promised to you, each as a tree. With the ID
of one it also tells what has happened to the promise.

A FILE.yaml has jobs that flow submits first, one after another, as

  name: nightly
  jobs:
    - {name: prepare, sbatch: -t 30 prepare.sh}
    - {name: train, sbatch: -N4 -t 4:00:00 train.sh, afterok: prepare}
    - {name: report, sbatch: -t 10 report.sh, afterok: [prepare, train]}

where sbatch is what follows sbatch on a command line, and after, afterok, afterany,
afternotok and aftercorr are Slurm's own dependencies. With --finish-by the first jobs
are held until the flow is promised. If it is refused, all jobs are cancelled again.
If varq flow is killed before that (kill -9), its jobs stay, and scancel removes them.

The promise is kept if all jobs have ended by themselves by then, whatever their exit
codes. It is missed if one never starts, as others do not end as it needs, and void if
one is cancelled or reaches its time limit. A job that waits for another to fail does
not count.

  Start     the job starts before this time as likely as not (the median)
  End       the job ends before this time as likely as not
  Late      the job ends before this time in nine cases of ten
  Critical  the probability that the whole waits for this job: if it took an hour
            less, all would have ended so much of an hour sooner
  After     the jobs that it waits for

The end of the whole is not a sum: jobs that wait in the same queue are late
together, and of branches the longest counts. A job that others need to succeed may
fail, by what became of past jobs like it.

All columns, for --format:
` + cli.Wrap(table.Names(allColumns(env))),
		Example: `  varq flow 4711
  varq flow --jobs=4711,4715 --finish-by=2026-12-07T09:00 --prob=0.9
  varq flow nightly.yaml --finish-by=07:00 --prob=0.9
  varq flow
  varq flow abcdefghijkl`,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	named := flags.StringArrayP("jobs", "j", nil, "these `jobs`, separated by commas")
	var p promising
	flags.StringVar(&p.finishBy, "finish-by", "", "have promised that all jobs have ended by this `time`")
	flags.StringVar(&p.prob, "prob", "", "with this `probability` (default: the site's)")
	flags.BoolVar(&p.quote, "quote", false, "tell what could be promised, and promise nothing")
	list := api.FlowsQuery{}
	flags.BoolVar(&list.Old, "old", false, "without jobs: also flows that are settled, of 90 days")
	flags.BoolVar(&list.All, "all", false, "without jobs: the flows of all users, for Slurm's operators")
	style := options.AddStyle(flags)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		file := ""
		if len(args) == 1 && isFile(args[0]) {
			file, args = args[0], nil
		}
		if len(args) == 1 && len(*named) == 0 && isID(args[0]) {
			if err := p.none(); err != nil {
				return cli.Usage(cmd, err)
			}
			return story(cmd.Context(), env, link, args[0], style)
		}
		jobs, err := options.ParseJobs(append(*named, args...))
		switch {
		case err != nil:
			return cli.Usage(cmd, err)
		case file != "" && len(jobs) > 0:
			return cli.Usage(cmd, errors.New("name jobs, or a file with jobs, and not both"))
		case file == "" && len(jobs) == 0:
			if err := p.none(); err != nil {
				return cli.Usage(cmd, err)
			}
			return show(cmd.Context(), env, link, list, style)
		case list.Old || list.All:
			return cli.Usage(cmd, errors.New("--old and --all select flows that were promised, and no jobs"))
		}
		if err := p.read(env, file != ""); err != nil {
			return cli.Usage(cmd, err)
		}
		columns, err := options.Choose(allColumns(env), style.Format)
		switch {
		case err != nil:
			return cli.Usage(cmd, err)
		case file != "":
			return p.submit(cmd.Context(), env, link, file, columns, style)
		case p.by != 0:
			answer, err := p.ask(cmd.Context(), env, link, api.FlowRequest{Jobs: jobs})
			if err != nil {
				return err
			}
			return p.tell(env, &answer, columns, style)
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
		if err := tell(env, answer.Flow, columns, style); err != nil || !style.Plain() {
			return err
		}
		return varqd.Caveat(cmd.Context(), env, answer.AsOf)
	}
	return cmd
}

// tell tells of a flow.
func tell(env *cli.Env, f *api.Flow, columns []table.Column[api.FlowJob], style *options.Style) error {
	if style.Plain() {
		fmt.Fprintln(env.Stdout, headline(env, f))
	}
	return options.Show(env, columns, f.Jobs, style, false)
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
	if f.Engines != "" {
		fmt.Fprintf(&s, "They are of a run of %s: jobs that it has yet to submit are neither forecast nor promised.\n", f.Engines)
	}
	if f.Lost > 0 {
		fmt.Fprintf(&s, "With probability %s some of them never start, as others do not end as they need.\n", prob.Format(f.Lost))
	}
	if f.Learning {
		s.WriteString(told.Learning("varqd") + ".\n")
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
		table.Number("JobID", func(r row) string { return told.JobID(r.Job, r.Array, r.Tasks) }),
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
	for i, a := range r.After {
		if left := len(r.After) - i; i == told.MostAfter && left > 1 {
			all = append(all, fmt.Sprintf("and %d more", left))
			break
		}
		all = append(all, a.Kind+":"+told.JobID(a.Job, a.Array, a.Tasks))
	}
	return strings.Join(all, ",")
}
