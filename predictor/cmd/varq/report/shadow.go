package report

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/prob"
)

// headline is the probability of which the first sentences of the page are.
const headline = .9

// reportShadow asks varqd what it would have promised, and shows it.
func reportShadow(ctx context.Context, env *cli.Env, link *link.Link, q api.ShadowQuery, columns []table.Column[api.ShadowRow], style *options.Style) error {
	varqd, err := link.Dial()
	if err != nil {
		return err
	}
	s, err := varqd.Shadow(ctx, q)
	if err != nil {
		return err
	}
	if style.JSON {
		return cli.WriteJSON(env.Stdout, s)
	}
	if style.Plain() {
		if _, err := io.WriteString(env.Stdout, shadowSummary(env, &s, q.End)); err != nil || s.Jobs == 0 {
			return err
		}
	}
	return options.Show(env, columns, s.Rows, style, false)
}

// shadowSummary says in a few sentences what would have come of it for jobs that began to wait
// until a time, 0 for no bound.
func shadowSummary(env *cli.Env, s *api.Shadow, until int64) string {
	var text strings.Builder
	if !s.Watching {
		text.WriteString("varqd does not watch now (plan.mode in varq.yaml is not shadow).\n")
	}
	switch {
	case s.Jobs > 0:
	case s.Watching && s.Since != 0 && (until == 0 || until > s.Since):
		fmt.Fprintf(&text, "varqd watches since %s; the first jobs are told of once they have begun to wait.\n", env.Moment(s.Since))
		return text.String()
	default:
		text.WriteString("No job was watched in this time.\n")
		return text.String()
	}
	fmt.Fprintf(&text, "%s jobs that began to wait between %s and %s were watched. Nothing was promised, and no job changed.\n", cli.Thousands(s.Jobs), env.Moment(s.From), env.Moment(s.To))
	text.WriteString(verdict(s))
	text.WriteString("\n")
	return text.String()
}

// verdict says in a few sentences what would have been promised, and what would have come of it.
func verdict(s *api.Shadow) string {
	var text strings.Builder
	if i := slices.IndexFunc(s.Rows, func(r api.ShadowRow) bool { return r.Partition == "" && r.Prob == headline }); i >= 0 {
		r := &s.Rows[i]
		fmt.Fprintf(&text, "With probability %s, a start within 1, 4 or 12 hours would have been promised to %s of them.\n",
			prob.Format(headline), cli.Percent(float64(r.Jobs-r.Refused)/float64(r.Jobs)))
		if known := r.Kept + r.Missed; known > 0 {
			fmt.Fprintf(&text, "Of these promises %s would have been kept (95 %% interval: %s to %s). Nodes would have idled before the work for %s node-hours%s.\n",
				cli.Percent(r.Delivered), cli.Percent(r.Low), cli.Percent(r.High), cli.NodeHours(r.Held), times(r))
		}
	}
	return text.String()
}

// worked reports whether the work is known of which Ratio is in times: of a job that has ended.
func worked(r *api.ShadowRow) bool { return r.Held == 0 || r.Ratio > 0 }

// times ends a sentence on idle nodes with their share of the work, if that is known.
func times(r *api.ShadowRow) string {
	if !worked(r) {
		return ""
	}
	return fmt.Sprintf(", %.2f times the work", r.Ratio)
}

func shadowColumns() []table.Column[api.ShadowRow] {
	type row = api.ShadowRow
	count := func(name string, value func(row) int) table.Column[row] {
		return table.Number(name, func(r row) string { return strconv.Itoa(value(r)) })
	}
	known := func(name string, value func(row) float64) table.Column[row] {
		return table.Number(name, func(r row) string {
			if r.Kept+r.Missed == 0 {
				return cli.None
			}
			return cli.Share(value(r))
		})
	}
	return []table.Column[row]{
		table.Text("Partition", func(r row) string {
			if r.Partition == "" {
				return "(all)"
			}
			return r.Partition
		}),
		table.Number("Prob", func(r row) string { return prob.Format(r.Prob) }),
		count("Jobs", func(r row) int { return r.Jobs }),
		count("Refused", func(r row) int { return r.Refused }),
		count("Promised", func(r row) int { return r.Jobs - r.Refused }),
		count("Kept", func(r row) int { return r.Kept }),
		count("Missed", func(r row) int { return r.Missed }),
		count("Unknown", func(r row) int { return r.Unknown }),
		known("Delivered", func(r row) float64 { return r.Delivered }),
		known("Low", func(r row) float64 { return r.Low }),
		known("High", func(r row) float64 { return r.High }),
		table.Number("Held", func(r row) string { return cli.NodeHours(r.Held) }),
		table.Number("Ratio", func(r row) string {
			if !worked(&r) {
				return cli.None
			}
			return strconv.FormatFloat(r.Ratio, 'f', 2, 64)
		}),
	}
}
