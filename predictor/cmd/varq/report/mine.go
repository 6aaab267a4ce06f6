package report

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
)

// mineTime is for how many seconds before now a user's own jobs are told of by default.
const mineTime = 28 * 86400

// NewShadow returns the command shadow.
func NewShadow(env *cli.Env, link *link.Link) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shadow --mine [options]",
		Short: "Tell what would have been promised about your jobs, and kept",
		Long: `Shadow replays your past jobs, and tells what varqd would have promised about them:
for how many it would have promised a start within 1, 4 or 12 hours, how many of these
promises it would have kept, and for how many node-hours nodes would have idled before
the work. About each job it asks what was known when the job came.

  Refused    about these jobs nothing would have been promised
  Unknown    these jobs still wait, or were cancelled early
  Delivered  the share of promises kept, and Low to High its 95 % interval
  Held       for how many node-hours nodes would have idled before the work
  Ratio      the same, in times of the work

Shadow needs varq-alone, which is varq in one file. It works on any cluster of Slurm,
with varqd or without, reads what accounting shows you, and takes a minute or so. You
can show the result to your site.

Where varqd watches, varq report --shadow tells of everybody's jobs.

Columns, for --format:
` + cli.Wrap(table.Names(shadowColumns())),
		Example: `  varq shadow --mine
  varq shadow --mine -S now-14days --json`,
		Args: cli.NoArguments,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	mine := flags.Bool("mine", false, "about your own jobs, as far as accounting shows them")
	start := flags.StringP("starttime", "S", "", "jobs whose wait began at this `time` or later (default now-28days)")
	end := flags.StringP("endtime", "E", "", "jobs whose wait began before this `time`")
	style := options.AddStyle(flags)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		usage := func(err error) error { return cli.Usage(cmd, err) }
		if !*mine {
			return usage(errors.New("of whose jobs: --mine for your own; 'varq report --shadow' tells of everybody's"))
		}
		q := api.ShadowQuery{Start: env.Now() - mineTime}
		for _, t := range []struct {
			name, text string
			to         *int64
		}{{"--starttime", *start, &q.Start}, {"--endtime", *end, &q.End}} {
			if t.text == "" {
				continue
			}
			at, err := env.PastTime(t.name, t.text)
			if err != nil {
				return usage(err)
			}
			*t.to = at
		}
		columns, err := options.Choose(shadowColumns(), style.Format)
		if err != nil {
			return usage(err)
		}
		s, err := link.ShadowOfOwn(cmd.Context(), env, q)
		if err != nil {
			return err
		}
		if style.JSON {
			return cli.WriteJSON(env.Stdout, s)
		}
		if style.Plain() {
			if _, err := io.WriteString(env.Stdout, mineSummary(env, &s)); err != nil || s.Jobs == 0 {
				return err
			}
		}
		return options.Show(env, columns, s.Rows, style, false)
	}
	return cmd
}

// mineSummary says in a few sentences what would have come of it.
func mineSummary(env *cli.Env, s *api.Shadow) string {
	if s.Jobs == 0 {
		return "No job of yours is known that began to wait in this time and has started.\n"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s of yours that began to wait between %s and %s %s replayed, as accounting shows them. Nothing was promised.\n",
		cli.Count(s.Jobs, "job", "jobs"), env.Moment(s.From), env.Moment(s.To), map[bool]string{true: "was", false: "were"}[s.Jobs == 1])
	text.WriteString(verdict(s))
	text.WriteString("\n")
	return text.String()
}
