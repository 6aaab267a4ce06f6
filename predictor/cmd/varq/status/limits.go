package status

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
)

// NewLimits returns the command limits.
func NewLimits(env *cli.Env, link *link.Link) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "limits [options]",
		Short: "Show how much you may reserve, and what you use of it",
		Long: `Limits shows the rules that this site has set for your reservations, one line for
each limit, and what you or the users of your account use of it at present.

All limits that apply to a reservation bind. Of the lines Reservations, and of the
lines DefaultCost, the first that applies decides. Node-hours are those for which
the nodes of open reservations may idle before the work, at most.
Columns, for --format: ` + table.Names(limitColumns()),
		Example: `  varq limits
  varq limits --json`,
		Args: cli.NoArguments,
	}
	style := options.AddStyle(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		columns, err := options.Choose(limitColumns(), style.Format)
		if err != nil {
			return cli.Usage(cmd, err)
		}
		varqd, err := link.Dial()
		if err != nil {
			return err
		}
		l, err := varqd.Limits(cmd.Context())
		if err != nil {
			return err
		}
		if style.JSON {
			return cli.WriteJSON(env.Stdout, l)
		}
		if style.Plain() {
			if _, err := fmt.Fprintf(env.Stdout, "Open reservations of %s: %d. Before the work their nodes may idle for up to %s node-hours.\n", l.User, l.Open, api.HoursUp(l.NodeSeconds)); err != nil {
				return err
			}
			if len(l.Rules) == 0 {
				_, err := fmt.Fprintln(env.Stdout, "This site sets no limits of its own.")
				return err
			}
			fmt.Fprintln(env.Stdout)
		}
		return options.Show(env, columns, limitLines(&l), style, false)
	}
	return cmd
}

// limitLine is one limit of one rule.
type limitLine struct{ rule, selects, whose, limit, most, used string }

func limitColumns() []table.Column[limitLine] {
	return []table.Column[limitLine]{
		table.Text("Rule", func(l limitLine) string { return l.rule }),
		table.Text("AppliesTo", func(l limitLine) string { return l.selects }),
		table.Text("Whose", func(l limitLine) string { return l.whose }),
		table.Text("Limit", func(l limitLine) string { return l.limit }),
		table.Number("Most", func(l limitLine) string { return l.most }),
		table.Number("Used", func(l limitLine) string { return l.used }),
	}
}

// limitLines returns a line for each limit, in the order of the rules.
func limitLines(l *api.Limits) []limitLine {
	var lines []limitLine
	for i := range l.Rules {
		r := &l.Rules[i]
		line := limitLine{rule: r.Name, selects: "all", whose: cli.None, used: cli.None}
		if r.Selects != "" {
			line.selects = r.Selects
		}
		add := func(limit, most string) {
			line.limit, line.most = limit, most
			lines = append(lines, line)
		}
		if r.Reserve != nil {
			add("Reservations", map[bool]string{true: "yes", false: "no"}[*r.Reserve])
		}
		if r.MaxProb != 0 {
			add("Probability", strconv.FormatFloat(r.MaxProb, 'g', -1, 64))
		}
		if r.Cost != "" {
			add("DefaultCost", r.Cost)
		}
		if r.MaxCost != "" {
			add("MaxCost", r.MaxCost)
		}
		for _, s := range r.Shares {
			line.whose = "user " + s.User
			if s.User == "" {
				line.whose = "account " + s.Account
			}
			if s.MaxOpen != 0 {
				line.used = strconv.Itoa(s.Open)
				add("Open", strconv.Itoa(s.MaxOpen))
			}
			if s.MaxNodeSeconds != 0 {
				line.used = api.HoursUp(s.NodeSeconds)
				add("NodeHours", cli.NodeHours(s.MaxNodeSeconds))
			}
		}
	}
	return lines
}
