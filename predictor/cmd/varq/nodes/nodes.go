// Package nodes is the command that lists the nodes of the cluster by how probable it is that they
// fail, and tells how far these risks are to be believed.
package nodes

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/hostlist"
)

// New returns the command nodes.
func New(env *cli.Env, link *link.Link) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "nodes [options]",
		Short: "List the nodes by how probable it is that they fail",
		Long: `Nodes lists the nodes of the cluster, the riskiest first: with which probability
each fails within a day, what most of that rests on, and what Slurm says of it.
A failure is what costs a job its work or takes a node away by itself; work that
people plan is none, and a node that is out of service cannot fail. varqd learns
from Slurm's history of the nodes, and from what varq-agent(8) measures on them:
Noticed is the latest of what that may announce, and Heard when it was heard last.
Columns, for --format: ` + table.Names(nodeColumns(env)) + `

With --calibration, it tells how far these risks are to be believed. Every six
hours each forecaster says of each node in service how probable it is that it fails
within a day, which is held against what happened: how many forecasts were followed
by a failure, and how many should have been, the sum of the probabilities; the log
score gained over the rate of all nodes, in nats for each that was followed by one,
with its interval, which takes weeks for independent of one another; the share of
the alarms that were followed by a failure (Precision), and of the failures that
were announced at all, and 6 hours, a day and a week before (Recall, 6h, 1d, 7d). A
node is announced while its risk is one that, so far, as many forecasts reached as
were followed by a failure. It covers the last 30 days, or from --starttime on.
Columns: ` + table.Names(calibrationColumns()),
		Example: `  varq nodes
  varq nodes --most=5
  varq nodes -N node[2,7] --format=Node,Risk,Why
  varq nodes --json
  varq nodes --calibration -S now-90days --plot=reliability.svg`,
		Args: cli.NoArguments,
	}
	flags := cmd.Flags()
	only := flags.StringP("nodelist", "N", "", "only these `nodes`, as Slurm writes them: node[1-4],node7")
	most := flags.Int("most", 20, "this `number` at most; 0 for all, as without it --json, --format and their like show")
	scores := addCalibration(cmd)
	style := options.AddStyle(flags)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		query, err := scores.query(env, cmd)
		if err != nil {
			return cli.Usage(cmd, err)
		}
		if scores.wanted {
			columns, err := options.Choose(calibrationColumns(), style.Format)
			if err != nil {
				return cli.Usage(cmd, err)
			}
			return scores.run(cmd.Context(), env, link, query, columns, style)
		}
		columns, err := options.Choose(nodeColumns(env), style.Format)
		if err != nil {
			return cli.Usage(cmd, err)
		}
		if *most < 0 {
			return cli.Usage(cmd, fmt.Errorf("--most: %d is not a number of nodes", *most))
		}
		var names []string
		if *only != "" {
			if names, err = hostlist.Expand(*only); err != nil {
				return cli.Usage(cmd, fmt.Errorf("--nodelist: %w", err))
			}
		}
		varqd, err := link.Dial()
		if err != nil {
			return err
		}
		list, err := varqd.Nodes(cmd.Context())
		if err != nil {
			return err
		}
		for _, name := range names {
			if !slices.ContainsFunc(list.Nodes, func(n api.Node) bool { return n.Name == name }) {
				return api.Fault(api.ErrNotFound, "--nodelist: Slurm has no node "+name)
			}
		}
		if names != nil {
			list.Nodes = slices.DeleteFunc(list.Nodes, func(n api.Node) bool { return !slices.Contains(names, n.Name) })
		}
		all := len(list.Nodes)
		expected := 0.
		for _, n := range list.Nodes {
			expected += n.Risk
		}
		if !style.Plain() && !flags.Changed("most") {
			*most = 0 // a program asks
		}
		if *most > 0 {
			list.Nodes = list.Nodes[:min(*most, all)]
		}
		if style.JSON {
			return cli.WriteJSON(env.Stdout, list)
		}
		if style.Plain() {
			fmt.Fprintf(env.Stdout, "Of %s, %s expected to fail within a day, as far as %s since %s tell.\n",
				cli.Count(all, "node", "nodes"), few(expected), cli.Count(list.Failures, "failure", "failures"), env.Moment(list.Since))
			if env.Now()-list.At > stale {
				fmt.Fprintf(env.Stdout, "varqd could not read the nodes since %s: they may have changed.\n", env.Moment(list.At))
			}
			fmt.Fprintln(env.Stdout)
		}
		if style.Format == "" && style.Plain() && !slices.ContainsFunc(list.Nodes, func(n api.Node) bool { return n.Heard != 0 || n.Noticed != nil }) {
			columns = slices.DeleteFunc(columns, ofAgents)
		}
		if err := options.Show(env, columns, list.Nodes, style, false); err != nil {
			return err
		}
		if more := all - len(list.Nodes); more > 0 && style.Plain() {
			fmt.Fprintf(env.Stdout, "\n%s: --most=0 shows all.\n", cli.Count(more, "more node is no more likely to fail", "more nodes are no more likely to fail"))
		}
		return nil
	}
	return cmd
}

// stale is the age, in seconds, from which on the list of nodes is called old.
const stale = 15 * 60

// few writes how many nodes are expected to fail, with its verb.
func few(expected float64) string {
	if expected < .01 {
		return "less than 0.01 is"
	}
	return strconv.FormatFloat(expected, 'f', 2, 64) + " are"
}

// The columns of what agents tell, which are left out of a table for people where no node has an
// agent.
const columnHeard, columnNoticed = "Heard", "Noticed"

func ofAgents(c table.Column[api.Node]) bool { return c.Name == columnHeard || c.Name == columnNoticed }

func nodeColumns(env *cli.Env) []table.Column[api.Node] {
	text := func(s string) string {
		if s == "" {
			return cli.None
		}
		return s
	}
	since := table.Text("Since", func(n api.Node) string { return env.Moment(n.Since) })
	since.Spare = 2
	by := table.Text("By", func(n api.Node) string { return text(n.By) })
	by.Spare = 3
	back := table.Text("Back", func(n api.Node) string { return env.Moment(n.Back) })
	back.Spare = 4
	heard := table.Text(columnHeard, func(n api.Node) string { return env.Moment(n.Heard) })
	heard.Spare = 1
	noticed := table.Text(columnNoticed, func(n api.Node) string {
		if len(n.Noticed) == 0 {
			return cli.None
		}
		return fmt.Sprintf("%s: %s", env.Moment(n.Noticed[0].At), n.Noticed[0].What)
	})
	noticed.Spare = 5
	return []table.Column[api.Node]{
		table.Text("Node", func(n api.Node) string { return n.Name }),
		table.Number("Risk", func(n api.Node) string { return strconv.FormatFloat(n.Risk, 'f', 4, 64) }),
		table.Text("Why", func(n api.Node) string { return text(n.Why) }),
		table.Text("State", func(n api.Node) string { return n.State }),
		since, by, back, heard, noticed,
		table.Text("Reason", func(n api.Node) string { return text(n.Reason) }),
	}
}
