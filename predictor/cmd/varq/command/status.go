package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/client"
)

// ownColumns and everyColumns have the default columns of status: for the reservations of
// one user, and for those of all users.
const (
	ownColumns   = "JobID,State,BeginBy,Prob,Now,Eligible,Start,WorkStart,Held,Note"
	everyColumns = "JobID,User,Partition,Nodes,State,BeginBy,Prob,Now,Eligible,Start,WorkStart,Held,Note"
)

func newStatus(env *Env, link *link) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [options] [JOBID...]",
		Short: "Show reservations: promised, now predicted, and what became of them",
		Long: `Status shows your reservations that are open, or were due in the last day.
--starttime and --endtime select them by their deadlines instead, and --accounts,
--partition, --name and --state as in sacct. What was taken back, or never submitted, so
that no job has taken it up, is shown only if --state names its state. Given job ids, it tells the whole story of each
of them.

Prob is the probability promised and Now the one forecast at present. From Start
on the job holds its nodes, and at WorkStart the work begins; Held is the time
between the two, in all runs of a requeued job. A promise that is less likely to be kept than it was made, by more than forecasts
are exact to (0.016 at 0.5, 0.009 at 0.9), is endangered: the Note says so, and "varq accept" if idle nodes that cost more would keep it, or what keeps the job from starting in time, such as
a limit that has become shorter.

Of a promise about a job's end, FinishBy is the deadline; BeginBy is none, and the job is
kept if it has ended by itself by then. The states:

  PROMISED   planned, but no job seen yet     KEPT       the work started in time
  PENDING    the job is in the queue          MISSED     it did not
  HOLDING    running, the work waits          CANCELLED  before the deadline
  RUNNING    the work runs

All columns, for --format: ` + table.Names(statusColumns(env)),
		Example: `  varq status
  varq status 4711
  varq status --old --format=JobID,BeginBy,State,Note%-40
  varq status -S now-1week --state=MISSED,CANCELLED
  varq status -u alice -p gpu -S today -E tomorrow
  varq status --all --parsable2
  varq status --color=always`,
	}
	whoseFlags := addWhose(cmd.Flags())
	selecting := addSelection(cmd)
	old := cmd.Flags().Bool("old", false, "also those that were settled longer ago than a day")
	style := addStyle(cmd.Flags())
	when := addColour(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		usage := func(err error) error { return cli.Usage(cmd, err) }
		jobs, err := parseJobs(args)
		if err != nil {
			return usage(err)
		}
		whose, err := whoseFlags.user()
		if err != nil {
			return usage(err)
		}
		selection, err := selecting.read(env)
		if err != nil {
			return usage(err)
		}
		if option := selecting.given(); option != "" && len(jobs) > 0 {
			return usage(fmt.Errorf("%s does not go with job ids, whose reservations are shown in any case", option))
		}
		format := style.format
		if format == "" {
			format = ownColumns
			if whose != "" {
				format = everyColumns
			}
		}
		if _, err := choose(statusColumns(env), format); err != nil {
			return usage(err)
		}
		colour, err := useColour(env, *when)
		if err != nil {
			return usage(err)
		}
		varqd, err := link.dial()
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
		if style.format == "" && slices.ContainsFunc(found, func(r api.Reservation) bool { return r.FinishBy != 0 }) {
			format = strings.Replace(format, "BeginBy", "BeginBy,FinishBy", 1)
		}
		columns, err := choose(statusColumns(env), format)
		if err != nil {
			return usage(err)
		}
		switch {
		case style.json:
			if len(jobs) > 0 {
				promiseGroups(found, link.groupsOf(cmd.Context(), found))
			}
			err = cli.WriteJSON(env.Stdout, found)
		case len(jobs) > 0 && style.plain():
			err = env.tell(found, link.groupsOf(cmd.Context(), found), colour)
		default:
			err = show(env, columns, found, style, colour)
		}
		if err != nil {
			return err
		}
		if style.plain() {
			if err := env.note(cmd.Context(), varqd); err != nil {
				return err
			}
		}
		if len(found)+len(jobs) == 0 && style.plain() {
			fmt.Fprintln(env.Stderr, "varq: "+nothing(*old, selecting))
		}
		return env.missing(jobs, found)
	}
	return cmd
}

// nothing says that there are no reservations to show.
func nothing(old bool, selecting *selectionFlags) string {
	switch ever := old || selecting.start != "" || selecting.end != ""; {
	case ever:
		return "there is no such reservation"
	case selecting.given() != "":
		return "no such reservation is open or was due in the last day; --old shows older ones"
	default:
		return "no reservation is open or was due in the last day; --old shows older ones"
	}
}

// note prints the notes on varqd's health. Each says what does not work now, and what varqd
// does instead.
func (e *Env) note(ctx context.Context, varqd *client.Client) error {
	health, err := varqd.Health(ctx)
	for _, note := range health.Notes {
		fmt.Fprintf(e.Stderr, "varq: note: %s\n", note)
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

// parseJobs reads job ids.
func parseJobs(args []string) ([]int64, error) {
	jobs := make([]int64, len(args))
	for i, arg := range args {
		id, err := strconv.ParseInt(arg, 10, 64)
		if err != nil || id <= 0 {
			return nil, fmt.Errorf("%q is not a job id", arg)
		}
		jobs[i] = id
	}
	return jobs, nil
}

// missing prints the jobs that have no reservation. It returns errNo if there are any.
func (e *Env) missing(jobs []int64, found []api.Reservation) error {
	known := map[int64]bool{}
	for i := range found {
		known[found[i].Job] = true
	}
	var err error
	for _, job := range jobs {
		if !known[job] {
			fmt.Fprintf(e.Stderr, "varq: job %d has no reservation that you may see\n", job)
			err = errNo
		}
	}
	return err
}

func statusColumns(env *Env) []table.Column[api.Reservation] {
	type row = api.Reservation
	var columns []table.Column[row]
	text := func(name string, value func(row) string) {
		columns = append(columns, table.Column[row]{Name: name, Value: value})
	}
	number := func(name string, value func(row) string) {
		columns = append(columns, table.Column[row]{Name: name, Right: true, Value: value})
	}
	number("JobID", func(r row) string {
		if r.Job == 0 {
			return cli.None
		}
		return strconv.FormatInt(r.Job, 10)
	})
	text("Name", func(r row) string { return r.Name })
	text("Plan", func(r row) string { return r.ID })
	text("User", func(r row) string { return r.User })
	text("Account", func(r row) string { return r.Account })
	text("Partition", func(r row) string { return r.Partition })
	text("QOS", func(r row) string { return r.QOS })
	number("Nodes", func(r row) string { return strconv.Itoa(int(r.Has())) })
	number("CPUs", func(r row) string { return strconv.Itoa(int(r.CPUs)) })
	text("State", func(r row) string { return r.State })
	columns[len(columns)-1].Colour = stateColour
	text("Promised", func(r row) string { return env.Moment(r.Promised) })
	text("BeginBy", func(r row) string { return env.Moment(r.BeginBy) })
	text("FinishBy", func(r row) string { return env.Moment(r.FinishBy) })
	number("Prob", func(r row) string {
		if r.Group != "" { // what was promised is the group's, which its home knows
			return cli.None
		}
		return prob.Format(r.Prob)
	})
	number("Forecast", func(r row) string { return prob.Format(r.Estimate) })
	number("Now", func(r row) string {
		if !told.Open(&r) || r.Now == 0 && r.Obstacle == "" { // settled, or not looked at yet
			return cli.None
		}
		return prob.Format(r.Now)
	})
	text("Eligible", func(r row) string { eligible, _, _ := told.Times(&r); return env.Moment(eligible) })
	number("TimeLimit", func(r row) string { return slurmtime.FormatDuration(r.Set.TimeLimit) })
	number("AtMost", func(r row) string { return api.HoursUp(r.Ceiling.NodeSeconds) })
	text("Start", func(r row) string { _, start, _ := told.Times(&r); return env.Moment(start) })
	text("WorkStart", func(r row) string { _, _, work := told.Times(&r); return env.Moment(work) })
	text("End", func(r row) string { return env.Moment(r.End) })
	number("Held", func(r row) string {
		if r.Start == 0 && r.HeldBefore == 0 {
			return cli.None
		}
		return slurmtime.FormatDuration(told.Held(&r, env.Now()))
	})
	text("Note", func(r row) string { return slurmtime.InZone(told.ListNote(&r, "varq accept"), env.Zone) })
	columns[len(columns)-1].Long = true
	for i := range columns {
		columns[i].Spare = 1 + slices.Index([]string{"Eligible", "WorkStart", "Held", "Start", "Nodes", "Partition"}, columns[i].Name)
	}
	return columns
}

// stateColour returns the colour of the state of a reservation.
func stateColour(r api.Reservation) cli.Colour {
	switch {
	case r.State == api.StateKept:
		return cli.Green
	case r.State == api.StateMissed:
		return cli.Red
	case told.Endangered(&r):
		return cli.Yellow
	default:
		return ""
	}
}
