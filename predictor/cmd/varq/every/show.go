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
			const line = "%-6s  %-16s  %-19s  %-10s  %4s  %6s  %s\n"
			fmt.Fprintf(c.env.Stdout, line, "SERIES", "SCHEDULE", "NEXT", "STATE", "KEPT", "MISSED", "JOB")
			for _, one := range all {
				next, state, kept, missed := one.summary(c.env.Now())
				at := cli.None
				if next == 0 {
					next = one.Next(c.env.Now(), host)
				}
				if next != 0 {
					at = slurmtime.Format(next, c.env.Zone)
				}
				fmt.Fprintf(c.env.Stdout, line, one.ID, cli.Printable(one.Schedule), at, state, strconv.Itoa(kept), strconv.Itoa(missed), cli.Printable(strings.Join(one.Args, " ")))
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

// summary returns the next occurrence that is or should be reserved, with its state, and how many
// of the past ones were kept and missed.
func (s *Series) summary(now int64) (next int64, state string, kept, missed int) {
	for i := range s.Occurrences {
		o := &s.Occurrences[i]
		switch o.State {
		case api.StateKept:
			kept++
		case api.StateMissed:
			missed++
		}
		if o.At > now && next == 0 {
			next, state = o.At, o.State
		}
	}
	return next, cmp.Or(state, cli.None), kept, missed
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
			list.Line("job", "%s", strings.Join(append([]string{one.Sbatch}, one.Args...), " "))
			list.Line("in", "%s", one.Dir)
			const line = "%-19s  %-10s  %8s  %s\n"
			fmt.Fprintf(&list, line, "RUNNING BY", "STATE", "JOB", "NOTE")
			for i := range one.Occurrences {
				o := &one.Occurrences[i]
				job := cli.None
				if o.Job != 0 {
					job = strconv.FormatInt(o.Job, 10)
				}
				row := fmt.Sprintf(line, slurmtime.Format(o.At, c.env.Zone), cli.Printable(o.State), job, cli.Printable(o.Note))
				list.WriteString(strings.TrimRight(row, " \n") + "\n")
			}
			_, err = fmt.Fprint(c.env.Stdout, list.String())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the series as JSON")
	return cmd
}

// read opens the folder of the series, and returns the host's time zone, without a lock: what is in
// it is whole at all times.
func (c *command) read() (s *store, host *time.Location, err error) {
	dir, err := folder(c.env.Getenv)
	if err != nil {
		return nil, nil, err
	}
	if host, err = c.host(); err != nil {
		return nil, nil, err
	}
	s, err = openStore(dir, false)
	return s, host, err
}
