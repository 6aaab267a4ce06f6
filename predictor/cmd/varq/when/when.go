// Package when has the command that tells when jobs that wait will start and end.
package when

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/slurm"
)

// ownColumns and everyColumns have the default columns: for the jobs of one user, and for those of
// all users.
const (
	ownColumns   = "JobID,Partition,Name,Nodes,Start,Late,End,In1h,Slurm,Reason"
	everyColumns = "JobID,Partition,Name,User,Nodes,Start,Late,End,In1h,Slurm,Reason"
)

// leastPause is the shortest pause of --watch.
const leastPause = 5 * time.Second

// New returns the command when.
func New(env *cli.Env, link *link.Link) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "when [options] [JOBID...]",
		Short: "Tell when jobs that wait will start and end",
		Long: `When forecasts when your jobs that wait will start and end.

  Start   the job starts before this time as likely as not (the median)
  Late    the job starts before this time in nine cases of ten
  End     the job ends before this time as likely as not
  In1h    the probability of a start within an hour
  Slurm   when Slurm itself expects to start the job, as squeue --start has it
  Reason  why the job waits, or why nothing is forecast

Tasks of an array that wait together share a line: Start is the start of the first
of them, and End the end of the last.

Name jobs to read more of each: the probability of a start by tonight and by tomorrow
morning, how many jobs go first, why the job waits, and which changes would start it
sooner. Tasks are named as squeue names them: 4712_3, 4712_[0-1].

A forecast is not a promise: varq quote shows what can be promised.

On a cluster without varqd, use varq-alone, which is varq in one file. A process of
your own then forecasts from what squeue and sacct show you. It ends an hour after
your last question.

All columns, for --format:
` + cli.Wrap(table.Names(allColumns(env))),
		Example: `  varq when
  varq when 4711
  varq when 4712_3 4712_[0-1]
  varq when -p gpu --all
  varq when -u alice --format=JobID,Start,Late,Reason%-40
  varq when --json`,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	whose := options.AddWhose(flags, "jobs")
	partitions := flags.StringSliceP("partition", "p", nil, "jobs in these `partitions`, separated by commas")
	jobs := flags.StringArrayP("jobs", "j", nil, "these `jobs`, as squeue writes them: 22,23_[3-7]")
	pause := flags.Duration("watch", 0, "ask again after each `pause`, such as 30s or 2m, and at least "+leastPause.String()+", until Ctrl-C")
	flags.Lookup("watch").NoOptDefVal, flags.Lookup("watch").DefValue = "30s", ""
	style := options.AddStyle(flags)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		usage := func(err error) error { return cli.Usage(cmd, err) }
		user, err := whose.User()
		if err != nil {
			return usage(err)
		}
		query := api.WhenQuery{User: user, Partitions: *partitions}
		if query.Jobs, query.ArrayTasks, err = options.ParseTasks(append(*jobs, args...)); err != nil {
			return usage(err)
		}
		if *pause != 0 && *pause < leastPause {
			return usage(fmt.Errorf("--watch: %v is shorter than %v", *pause, leastPause))
		}
		if err := query.Check(); err != nil {
			return usage(api.ByOption(err, env.Moment))
		}
		format := style.Format
		if format == "" {
			format = ownColumns
			if user != "" {
				format = everyColumns
			}
		}
		columns, err := options.Choose(allColumns(env), format)
		if err != nil {
			return usage(err)
		}
		varqd, err := link.DialForecaster(cmd.Context(), env)
		if err != nil {
			return err
		}
		once := func(ctx context.Context) (answer api.When, err error) {
			if answer, err = varqd.When(ctx, query); err != nil {
				return answer, err
			}
			if err := show(env, &query, &answer, columns, style, varqd.Name()); err != nil || !style.Plain() {
				return answer, err
			}
			if old := told.Old(answer.AsOf, env.Now()); old != "" && !varqd.Own { // whose caveat tells it
				fmt.Fprintf(env.Stderr, "varq: %s\n", old)
			}
			return answer, varqd.Caveat(ctx, env, answer.AsOf)
		}
		if *pause != 0 {
			return watch(cmd.Context(), env, *pause, func(ctx context.Context) error {
				answer, err := once(ctx)
				if err == nil {
					_ = missing(env, &query, &answer) // is no error: a job has started, say
				}
				return err
			})
		}
		answer, err := once(cmd.Context())
		if err != nil {
			return err
		}
		return missing(env, &query, &answer)
	}
	return cmd
}

// show shows an answer of who forecasts: as a table, or as the story of each job that was asked for
// by its id.
func show(env *cli.Env, query *api.WhenQuery, answer *api.When, columns []table.Column[api.Waiting], style *options.Style, who string) error {
	named := len(query.Jobs)+len(query.ArrayTasks) > 0
	switch {
	case style.JSON:
		return cli.WriteJSON(env.Stdout, answer)
	case named && style.Plain():
		for i := range answer.Jobs {
			if err := tell(env, &answer.Jobs[i]); err != nil {
				return err
			}
		}
	default:
		if err := options.Show(env, columns, answer.Jobs, style, false); err != nil {
			return err
		}
	}
	if answer.More > 0 {
		fmt.Fprintf(env.Stderr, "varq: %d more jobs wait; one answer tells of %d at most, and of fewer where that takes long: choose fewer with --jobs, --partition or --user\n", answer.More, api.MostWhen)
	}
	if len(answer.Jobs) == 0 && !named && style.Plain() {
		fmt.Fprintf(env.Stderr, "varq: no such job waits; one submitted after %s has not been seen yet\n", env.Moment(answer.AsOf))
	}
	if answer.Learning && style.Plain() {
		fmt.Fprintf(env.Stderr, "varq: %s\n", told.Learning(who))
	}
	return nil
}

// missing names the jobs of a query that do not wait, unless the answer leaves out some that do. It
// returns cli.ErrNo if there are any.
func missing(env *cli.Env, query *api.WhenQuery, answer *api.When) (err error) {
	if answer.More > 0 {
		return nil
	}
	check := func(job string, number int64, is func(api.Waiting) bool) {
		if !slices.ContainsFunc(answer.Jobs, is) {
			fmt.Fprintf(env.Stderr, "varq: job %s does not wait: it has started, has not been seen yet, or is not yours to see; if it is new, ask again in a few seconds ('squeue -j %d' tells)\n", job, number)
			err = cli.ErrNo
		}
	}
	for _, id := range query.Jobs {
		check(strconv.FormatInt(id, 10), id, func(w api.Waiting) bool { return w.Job == id || w.Array == id })
	}
	for _, t := range query.ArrayTasks {
		check(told.JobID(0, t.Array, t.Tasks), t.Array, func(w api.Waiting) bool {
			common, _, _ := slurm.CommonTasks(w.Tasks, t.Tasks)
			return w.Array == t.Array && common != ""
		})
	}
	return err
}
