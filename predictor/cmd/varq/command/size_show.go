package command

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/forecast/speedup"
	"github.com/varq-project/varq/predictor/forecast/speedup/fit"
	"github.com/varq-project/varq/predictor/plot"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/promise/moldable"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// sizeColumns returns the columns of the table of sizes.
func sizeColumns(a *sizeAnswer, fitted bool) []table.Column[sizeRow] {
	duration := func(seconds *float64) string {
		if seconds == nil {
			return "unknown"
		}
		return slurmtime.FormatDuration(int64(math.Ceil(*seconds)))
	}
	columns := []table.Column[sizeRow]{
		table.Number("Nodes", func(r sizeRow) string { return fmt.Sprint(r.Nodes) }),
		table.Number("Time", func(r sizeRow) string { return slurmtime.FormatDuration(r.Limit) }),
		table.Number("Wait.5", func(r sizeRow) string { return duration(r.Median) }),
		table.Number("Wait.9", func(r sizeRow) string { return duration(r.Ninety) }),
		table.Number("Wait", func(r sizeRow) string { return duration(r.Wait) }),
		table.Number("Run", func(r sizeRow) string { return duration(&r.Run) }),
	}
	if fitted {
		columns = append(columns, table.Text("RunMedian", func(r sizeRow) string { return cli.Rounded(r.RunLow) + "-" + cli.Rounded(r.RunHigh) }))
	}
	columns = append(columns, table.Number("Turnaround", func(r sizeRow) string { return duration(r.Ends) }))
	for _, r := range a.Sizes {
		if r.Prob != nil {
			columns = append(columns, table.Number("Prob", func(r sizeRow) string {
				if r.Prob == nil {
					return cli.None
				}
				return prob.Format(*r.Prob)
			}))
			break
		}
	}
	return append(columns,
		table.Number("NodeHours", func(r sizeRow) string { return cli.NodeHours(r.NodeTime) }),
		table.Text("Best", func(r sizeRow) string {
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
func (e *Env) showSizes(a sizeAnswer, past *past, job *jobFlags) error {
	if err := table.Write(e.Stdout, sizeColumns(&a, past != nil), a.Sizes, table.Style{}); err != nil {
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
	s.WriteString(e.basis(&a.Evidence) + "\n")
	for _, r := range a.Sizes {
		if r.Nodes == a.Best {
			does := bestBy[a.By]
			if a.By == moldable.Highest && *r.Prob < even {
				does = fmt.Sprintf("has the best chance to meet the deadline, but that is %s; choose a later one if it matters", small(*r.Prob))
			}
			fmt.Fprintf(&s, "\nOn %s it %s:\n\n  sbatch %s job.sh\n", cli.Count(int(r.Nodes), "node", "nodes"), does,
				strings.Join(append(job.options("nodes", "time"), r.options()), " "))
		}
	}
	if a.Best == 0 && a.Down == "" {
		s.WriteString("Too little is known of the waits to say which is best.\n")
	}
	_, err := io.WriteString(e.Stdout, "\n"+s.String())
	return err
}

// options returns the options of sbatch for the size.
func (r *sizeRow) options() string {
	return fmt.Sprintf("--nodes=%d --time=%s", r.Nodes, slurmtime.FormatDuration(r.Limit))
}

// showOptions shows the options of the best size, and on standard error why there are none.
func (e *Env) showOptions(a sizeAnswer) error {
	for _, r := range a.Sizes {
		if r.Nodes == a.Best {
			if a.By == moldable.Highest && *r.Prob < even {
				fmt.Fprintf(e.Stderr, "varq: the best chance to meet the deadline is %s\n", small(*r.Prob))
			}
			_, err := fmt.Fprintln(e.Stdout, r.options())
			return err
		}
	}
	_, err := fmt.Fprintln(e.Stderr, "varq: no size is the best: "+e.basis(&a.Evidence))
	return err
}

// asksForOptions reports whether a command line has size's --options, even if there is something
// wrong with it.
func asksForOptions(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--options")
}

// mostWhy is how much of an error is in the option that sbatch refuses, in bytes.
const mostWhy = 200

// refuseOptions prints what sbatch does not take, and shows when it refuses it. Without any
// options, it would submit the job as no size was meant to be.
func (e *Env) refuseOptions(err error) {
	why := "no size is the best"
	if !errors.Is(err, errNo) {
		why = cli.PrintableLines(err.Error())
	}
	// one word for a shell, in which nothing stands for anything else
	word := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.,:/=", r)) {
			return r
		}
		return '-'
	}, why)
	fmt.Fprintln(e.Stdout, "--varq-size-has-failed:"+word[:min(len(word), mostWhy)])
}

// says says in sentences what run times rest on.
func (p *past) says() []string {
	said := []string{fmt.Sprintf("Run times from %s on %d to %d nodes, by the speedup %s; their median lies in the interval in %.0f of 100 cases.",
		cli.Count(len(p.Runs), "run", "runs"), p.Runs[0].Nodes, p.Runs[len(p.Runs)-1].Nodes, rounded(p.Curve), 100*fit.Confidence)}
	if p.others > 0 {
		said = append(said, fmt.Sprintf("Left out: %s that did not complete.", cli.Count(p.others, "run", "runs")))
	}
	if p.Far > 0 {
		said = append(said, fmt.Sprintf("Far from the curve: %s; what they took counts as less far, and the time limit is too short for the like.", cli.Count(p.Far, "run", "runs")))
	}
	if turn := p.Turn(); turn != 0 {
		said = append(said, fmt.Sprintf("On more than %s they take longer again: for more than that, go by none of this.", cli.Count(int(turn), "node", "nodes")))
	}
	return said
}

// rounded writes a curve with three digits.
func rounded(c speedup.Curve) string {
	three := func(x float64) float64 {
		y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
		return y
	}
	switch c := c.(type) {
	case speedup.Amdahl:
		return speedup.Amdahl{Serial: three(c.Serial)}.String()
	case speedup.Downey:
		return speedup.Downey{A: three(c.A), Sigma: three(c.Sigma)}.String()
	}
	return c.String()
}

// drawSizes draws the sizes into the file path.
func (e *Env) drawSizes(path string, a sizeAnswer, past *past) error {
	picture := &plot.Sizes{Title: "Expected time until the end, by nodes", Best: a.Best}
	for _, r := range a.Sizes {
		if r.Wait != nil {
			picture.Points = append(picture.Points, plot.SizePoint{Nodes: r.Nodes, Wait: *r.Wait, Run: r.Run, Low: r.RunLow, High: r.RunHigh})
		}
	}
	if past != nil {
		for _, r := range past.Runs {
			picture.Runs = append(picture.Runs, plot.SizeRun{Nodes: r.Nodes, Seconds: r.Seconds})
		}
	}
	if len(picture.Points) < 2 {
		fmt.Fprintf(e.Stderr, "varq: %s is not drawn: the wait of fewer than two sizes is known\n", path)
		return nil
	}
	if err := plot.Save(path, picture); err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	return nil
}
