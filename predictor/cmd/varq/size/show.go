package size

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/promise/moldable"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// columns returns the columns of the table of sizes.
func columns(a *answer, fitted bool) []table.Column[row] {
	duration := func(seconds *float64) string {
		if seconds == nil {
			return "unknown"
		}
		return slurmtime.FormatDuration(int64(math.Ceil(*seconds)))
	}
	columns := []table.Column[row]{
		table.Number("Nodes", func(r row) string { return fmt.Sprint(r.Nodes) }),
		table.Number("Time", func(r row) string { return slurmtime.FormatDuration(r.Limit) }),
		table.Number("Wait.5", func(r row) string { return duration(r.Median) }),
		table.Number("Wait.9", func(r row) string { return duration(r.Ninety) }),
		table.Number("Wait", func(r row) string { return duration(r.Wait) }),
		table.Number("Run", func(r row) string { return duration(&r.Run) }),
	}
	if fitted {
		columns = append(columns, table.Text("RunMedian", func(r row) string { return cli.Rounded(r.RunLow) + "-" + cli.Rounded(r.RunHigh) }))
	}
	columns = append(columns, table.Number("Turnaround", func(r row) string { return duration(r.Ends) }))
	for _, r := range a.Sizes {
		if r.Prob != nil {
			columns = append(columns, table.Number("Prob", func(r row) string {
				if r.Prob == nil {
					return cli.None
				}
				return prob.Format(*r.Prob)
			}))
			break
		}
	}
	return append(columns,
		table.Number("NodeHours", func(r row) string { return cli.NodeHours(r.NodeTime) }),
		table.Text("Best", func(r row) string {
			if r.Nodes == a.Best {
				return "*"
			}
			return ""
		}),
	)
}

// bestBy says by what the best size is the best.
var bestBy = map[moldable.Criterion]string{
	moldable.Least:    "ends first",
	moldable.Cheapest: "costs least",
	moldable.Highest:  "meets the deadline most probably",
}

// even is the probability below which the most probable size is still not probable.
const even = .5

// small writes a small probability.
func small(p float64) string {
	if p < .01 {
		return "less than 0.01"
	}
	return prob.Format(p)
}

// showSizes shows the table of sizes, and what follows from it.
func showSizes(env *cli.Env, a answer, past *past, job *options.Job) error {
	if err := table.Write(env.Stdout, columns(&a, past != nil), a.Sizes, table.Style{}); err != nil {
		return err
	}
	var s strings.Builder
	var refused []elastic.Refused
	for _, r := range a.Refused {
		refused = elastic.Refuse(refused, r.Nodes, r.Why)
	}
	for _, r := range refused {
		fmt.Fprintf(&s, "Not on %s.\n", r)
	}
	if past != nil {
		s.WriteString(strings.Join(past.says(), "\n") + "\n")
	}
	s.WriteString(told.Basis(&a.Evidence, env.Now()) + "\n")
	for _, r := range a.Sizes {
		if r.Nodes == a.Best {
			does := bestBy[a.By]
			if a.By == moldable.Highest && *r.Prob < even {
				does = fmt.Sprintf("has the best chance to meet the deadline, but that is %s; choose a later one if it matters", small(*r.Prob))
			}
			fmt.Fprintf(&s, "\nOn %s it %s:\n\n  sbatch %s job.sh\n", cli.Count(int(r.Nodes), "node", "nodes"), does,
				strings.Join(append(job.Given("nodes", "time"), r.options()), " "))
		}
	}
	if a.Best == 0 && a.Down == "" {
		s.WriteString("Too little is known of the waits to say which is best.\n")
	}
	_, err := io.WriteString(env.Stdout, "\n"+s.String())
	return err
}

// options returns the options of sbatch for the size.
func (r *row) options() string {
	return fmt.Sprintf("--nodes=%d --time=%s", r.Nodes, slurmtime.FormatDuration(r.Limit))
}

// showOptions shows the options of the best size, and on standard error why there are none.
func showOptions(env *cli.Env, a answer) error {
	for _, r := range a.Sizes {
		if r.Nodes == a.Best {
			if a.By == moldable.Highest && *r.Prob < even {
				fmt.Fprintf(env.Stderr, "varq: the best chance to meet the deadline is %s\n", small(*r.Prob))
			}
			_, err := fmt.Fprintln(env.Stdout, r.options())
			return err
		}
	}
	_, err := fmt.Fprintln(env.Stderr, "varq: no size is the best: "+told.Basis(&a.Evidence, env.Now()))
	return err
}
