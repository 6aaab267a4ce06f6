// Package status has the commands about promises that were made: status shows them and what became
// of them, limits how many more there may be, accept and cancel change them.
package status

import (
	"context"
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
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/varqd/client"
)

// ownColumns and everyColumns have the default columns of status: for the reservations of
// one user, and for those of all users.
const (
	ownColumns   = "JobID,State,BeginBy,Prob,Now,Eligible,Start,WorkStart,Held,Note"
	everyColumns = "JobID,User,Partition,Nodes,State,BeginBy,Prob,Now,Eligible,Start,WorkStart,Held,Note"
)

// New returns the command status.
func New(env *cli.Env, link *link.Link) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [options] [JOBID...]",
		Short: "Show reservations: promised, now predicted, and what became of them",
		Long: `Status shows your reservations that are open, or were due in the last day.
--starttime and --endtime select them by their deadlines instead, and --accounts,
--partition, --name and --state as in sacct. What was taken back, or never
submitted, so that no job has taken it up, is shown only if --state names its state.
Given job ids, it tells the whole story of each of them.

Prob is the probability promised and Now the one forecast at present. From Start on
the job holds its nodes, and at WorkStart the work begins; Held is the time between
the two, in all runs of a requeued job. A promise that is less likely to be kept
than it was made, by more than forecasts are exact to (0.016 at 0.5, 0.009 at 0.9),
is endangered: the Note says so, and "varq accept" if idle nodes that cost more
would keep it, or what keeps the job from starting in time, such as a limit that has
become shorter.

Of a promise about a job's end, FinishBy is the deadline; BeginBy is none, and the job is
kept if it has ended by itself by then. The states:

  PROMISED   planned, but no job seen yet     KEPT       the work started in time
  PENDING    the job is in the queue          MISSED     it did not
  HOLDING    running, the work waits          CANCELLED  before the deadline
  RUNNING    the work runs

All columns, for --format:
` + cli.Wrap(table.Names(allColumns(env))),
		Example: `  varq status
  varq status 4711
  varq status --old --format=JobID,BeginBy,State,Note%-40
  varq status -S now-1week --state=MISSED,CANCELLED
  varq status -u alice -p gpu -S today -E tomorrow
  varq status --all --parsable2
  varq status --color=always`,
	}
	whoseFlags := options.AddWhose(cmd.Flags(), options.Reservations)
	named := cmd.Flags().StringArrayP("jobs", "j", nil, "the story of these `jobs`, separated by commas")
	selecting := options.AddSelection(cmd)
	old := cmd.Flags().Bool("old", false, "also those that were settled longer ago than a day")
	style := options.AddStyle(cmd.Flags())
	when := addColour(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		usage := func(err error) error { return cli.Usage(cmd, err) }
		jobs, err := options.ParseJobs(append(*named, args...))
		if err != nil {
			return usage(err)
		}
		whose, err := whoseFlags.User()
		if err != nil {
			return usage(err)
		}
		selection, err := selecting.Read(env)
		if err != nil {
			return usage(err)
		}
		if option := selecting.Given(); option != "" && len(jobs) > 0 {
			return usage(fmt.Errorf("%s does not go with job ids, whose reservations are shown in any case", option))
		}
		format := style.Format
		if format == "" {
			format = ownColumns
			if whose != "" {
				format = everyColumns
			}
		}
		if _, err := options.Choose(allColumns(env), format); err != nil {
			return usage(err)
		}
		colour, err := useColour(env, *when)
		if err != nil {
			return usage(err)
		}
		varqd, err := link.Dial()
		if err != nil {
			return err
		}
		found, err := ask(cmd.Context(), varqd, api.ReservationsQuery{User: whose, All: *old, Selection: selection}, jobs)
		if err != nil {
			return err
		}
		if len(jobs) == 0 && len(selection.States) == 0 {
			found = slices.DeleteFunc(found, func(r api.Reservation) bool { return r.Unused() })
		}
		// for programs it is always there, so that the columns are always the same
		if style.Format == "" && (style.Parsable || slices.ContainsFunc(found, func(r api.Reservation) bool { return r.FinishBy != 0 })) {
			format = strings.Replace(format, "BeginBy", "BeginBy,FinishBy", 1)
		}
		if style.Format == "" && (style.Parsable || slices.ContainsFunc(found, func(r api.Reservation) bool { return r.Tasks != 0 })) {
			format = strings.Replace(format, "State", "State,Tasks", 1)
		}
		columns, err := options.Choose(allColumns(env), format)
		if err != nil {
			return usage(err)
		}
		switch {
		case style.JSON:
			if len(jobs) > 0 {
				promiseGroups(found, link.Groups(cmd.Context(), found))
			}
			err = cli.WriteJSON(env.Stdout, found)
		case len(jobs) > 0 && style.Plain():
			err = tell(env, found, link.Groups(cmd.Context(), found), colour)
		default:
			err = options.Show(env, columns, found, style, colour)
		}
		if err != nil {
			return err
		}
		if style.Plain() {
			if err := note(cmd.Context(), env, varqd); err != nil {
				return err
			}
		}
		flows := 0
		if style.Plain() && len(jobs) == 0 && selecting.Given() == "" {
			if flows, err = showFlows(cmd.Context(), env, varqd, whose); err != nil {
				return err
			}
		}
		if len(found)+len(jobs)+flows == 0 && style.Plain() {
			fmt.Fprintln(env.Stderr, "varq: "+nothing(*old, selecting))
		}
		rest := slices.DeleteFunc(jobs, func(job int64) bool {
			return slices.ContainsFunc(found, func(r api.Reservation) bool { return r.Job == job })
		})
		if style.Plain() && len(rest) > 0 {
			if rest, err = flowsOf(cmd.Context(), env, varqd, whose, rest); err != nil {
				return err
			}
		}
		return missing(env, rest)
	}
	return cmd
}

// flowsOf tells the stories of the flows that some of the jobs are of, and returns the others.
func flowsOf(ctx context.Context, env *cli.Env, varqd *client.Client, whose string, jobs []int64) ([]int64, error) {
	list, err := varqd.Flows(ctx, api.FlowsQuery{All: whose != "", Old: true})
	if errors.Is(err, api.ErrNotFound) || errors.Is(err, api.ErrForbidden) { // varqd is older
		return jobs, nil
	}
	for i := range list.Flows {
		f := &list.Flows[i]
		is := func(job int64) bool { return slices.Contains(f.Jobs, job) }
		if slices.ContainsFunc(jobs, is) {
			fmt.Fprint(env.Stdout, told.FlowStory(f, env.Zone))
			jobs = slices.DeleteFunc(jobs, is)
		}
	}
	return jobs, err
}

// showFlows shows the flows that are promised to whoever asks, or to all users, each as a tree, and
// returns how many there are.
func showFlows(ctx context.Context, env *cli.Env, varqd *client.Client, whose string) (n int, err error) {
	if whose != "" && whose != api.Everybody {
		return 0, nil
	}
	list, err := varqd.Flows(ctx, api.FlowsQuery{All: whose != ""})
	if errors.Is(err, api.ErrNotFound) { // varqd is older
		return 0, nil
	}
	for i := range list.Flows {
		fmt.Fprint(env.Stdout, "\n"+told.FlowTree(&list.Flows[i], env.Zone))
	}
	return len(list.Flows), err
}

// nothing says that there are no reservations to show.
func nothing(old bool, selecting *options.Selection) string {
	switch ever := old || selecting.Dated(); {
	case ever:
		return "there is no such reservation"
	case selecting.Given() != "":
		return "no such reservation is open or was due in the last day; --old shows older ones"
	default:
		return "no reservation is open or was due in the last day; --old shows older ones"
	}
}

// note prints the notes on varqd's health. Each says what does not work now, and what varqd
// does instead.
func note(ctx context.Context, env *cli.Env, varqd *client.Client) error {
	health, err := varqd.Health(ctx)
	for _, note := range health.Notes {
		fmt.Fprintf(env.Stderr, "varq: note: %s\n", note)
	}
	return err
}

// ask returns the reservations of the jobs. Without jobs it returns those that the query
// selects.
func ask(ctx context.Context, varqd *client.Client, query api.ReservationsQuery, jobs []int64) ([]api.Reservation, error) {
	if len(jobs) == 0 {
		return varqd.Reservations(ctx, query)
	}
	found := []api.Reservation{}
	for _, query.Job = range jobs {
		one, err := varqd.Reservations(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("job %d: %w", query.Job, err)
		}
		found = append(found, one...)
	}
	return found, nil
}

// missing prints the jobs that have no reservation. It returns cli.ErrNo if there are any.
func missing(env *cli.Env, jobs []int64) (err error) {
	for _, job := range jobs {
		fmt.Fprintf(env.Stderr, "varq: job %d has no reservation that you may see\n", job)
		err = cli.ErrNo
	}
	return err
}
