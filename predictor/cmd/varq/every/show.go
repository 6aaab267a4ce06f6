package every

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// shown is a series as it is written in JSON.
type shown struct {
	*Series
	Next int64 `json:"next,omitempty"` // Unix seconds; 0 if there is none
}

func (c *command) newList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list [--json]",
		Short:   "Show your series, their next occurrences, and how past ones fared",
		Long:    `List shows what 'varq every run' knew when it ran last.`,
		Example: `  varq every list`,
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			s, host, err := c.read()
			if err != nil {
				return err
			}
			all, broken := s.list()
			if asJSON {
				list := []shown{}
				for _, one := range all {
					list = append(list, shown{one, one.Next(c.env.Now(), host)})
				}
				return errors.Join(append(broken, cli.WriteJSON(c.env.Stdout, list))...)
			}
			var rows []summary
			for _, one := range all {
				row := one.summary(c.env.Now())
				if row.next == 0 {
					row.next = one.Next(c.env.Now(), host)
				}
				rows = append(rows, row)
			}
			if err := options.Show(c.env, listColumns(c.env), rows, &options.Style{}, false); err != nil {
				return err
			}
			if len(all) > 0 {
				c.remind(s)
			}
			return errors.Join(broken...)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the series as JSON, with all that 'varq every show' tells")
	return cmd
}

// summary is a series in a line: the next occurrence that is or should be reserved, with its state,
// and how many of the past ones were kept and missed.
type summary struct {
	*Series
	next         int64
	state        string
	kept, missed int
}

func (s *Series) summary(now int64) summary {
	sum := summary{Series: s}
	for i := range s.Occurrences {
		o := &s.Occurrences[i]
		switch o.State {
		case api.StateKept:
			sum.kept++
		case api.StateMissed:
			sum.missed++
		}
		if o.At > now && sum.next == 0 {
			sum.next, sum.state = o.At, o.State
		}
	}
	return sum
}

func listColumns(env *cli.Env) []table.Column[summary] {
	return []table.Column[summary]{
		table.Text("Series", func(s summary) string { return s.ID }),
		table.Text("Schedule", func(s summary) string { return cli.Printable(s.Schedule) }),
		table.Text("Next", func(s summary) string { return env.Moment(s.next) }),
		table.Text("State", func(s summary) string { return cmp.Or(s.state, cli.None) }),
		table.Number("Kept", func(s summary) string { return strconv.Itoa(s.kept) }),
		table.Number("Missed", func(s summary) string { return strconv.Itoa(s.missed) }),
		table.Text("Job", func(s summary) string { return cli.Printable(strings.Join(s.Args, " ")) }),
	}
}

func occurrenceColumns(env *cli.Env) []table.Column[Occurrence] {
	return []table.Column[Occurrence]{
		table.Text("By", func(o Occurrence) string { return env.Moment(o.At) }),
		table.Text("State", func(o Occurrence) string { return cli.Printable(o.State) }),
		table.Number("JobID", func(o Occurrence) string {
			if o.Job == 0 {
				return cli.None
			}
			return strconv.FormatInt(o.Job, 10)
		}),
		table.Text("Note", func(o Occurrence) string { return cli.Printable(o.Note) }),
	}
}

func (c *command) newShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show ID [--json]",
		Short:   "Show the occurrences of a series: its next ones, and what became of the last hundred",
		Long:    `Show shows what 'varq every run' knew when it ran last. 'varq status JOB' tells more of one job.`,
		Example: `  varq every show aaaaaa`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usage(cmd, errors.New("name one series; 'varq every list' has them all"))
			}
			return checkIDs(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			s, host, err := c.read()
			if err != nil {
				return err
			}
			one, err := s.load(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(c.env.Stdout, shown{one, one.Next(c.env.Now(), host)})
			}
			list := cli.Listing{Width: 8}
			fmt.Fprintf(&list, "series %s\n", one.ID)
			list.Line("schedule", "%s, reserved %s before", one.Schedule, slurmtime.FormatDuration(one.Ahead))
			if one.Zone != "" {
				list.Line("zone", "%s", one.Zone)
			}
			list.Line("prob", "%s", cmp.Or(one.Prob, "the site's default"))
			command := []string{one.Program}
			if one.Flow {
				command = append(command, "flow")
			}
			list.Line("job", "%s", strings.Join(append(command, one.Args...), " "))
			list.Line("in", "%s", one.Dir)
			if _, err := fmt.Fprintln(c.env.Stdout, list.String()); err != nil {
				return err
			}
			return options.Show(c.env, occurrenceColumns(c.env), one.Occurrences, &options.Style{}, false)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the series as JSON")
	return cmd
}

// read opens the folder of the series, and returns the host's time zone, without a lock: what is in
// it is whole at all times.
func (c *command) read() (s *store, host *time.Location, err error) {
	dir, err := folder(c.env)
	if err != nil {
		return nil, nil, err
	}
	if host, err = c.host(); err != nil {
		return nil, nil, err
	}
	s, err = openStore(dir, false)
	return s, host, err
}
