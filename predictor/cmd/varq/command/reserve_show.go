package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/broker"
)

// mostShown is how many slots --dry-run shows to people.
const mostShown = 20

// slots is what --dry-run --json shows.
type slots struct {
	Slots []broker.Choice `json:"slots"` // best first
	Sites []broker.Answer `json:"sites"`
}

// showSlots shows slots, which are in the order of the user's preferences; with rates, the success
// rates by other methods, too.
func (e *Env) showSlots(ranked []broker.Choice, answers []broker.Answer, rates, asJSON bool) error {
	var err error
	columns := slotColumns(e, answers)
	if slices.ContainsFunc(ranked, func(c broker.Choice) bool { return c.Method != "" }) {
		columns = append(columns, table.Text("Method", func(c broker.Choice) string { return cmp.Or(c.Method, "varq") }))
	}
	if rates {
		columns = append(columns, rateColumns()...)
	}
	switch {
	case asJSON:
		err = cli.WriteJSON(e.Stdout, slots{ranked, answers})
	case len(ranked) > 0:
		if err = show(e, columns, ranked[:min(mostShown, len(ranked))], &styleFlags{}, false); err == nil && len(ranked) > mostShown {
			fmt.Fprintf(e.Stdout, "and %d more\n", len(ranked)-mostShown)
		}
	}
	if err != nil {
		return err
	}
	if !asJSON {
		e.showProblems(answers)
	}
	if len(ranked) == 0 {
		if !asJSON {
			e.sayNothing(answers)
		}
		return errNo
	}
	return nil
}

func slotColumns(e *Env, answers []broker.Answer) []table.Column[broker.Choice] {
	return []table.Column[broker.Choice]{
		table.Text("Site", func(c broker.Choice) string { return c.Site }),
		table.Text("Partition", func(c broker.Choice) string { return c.Partition }),
		table.Text("RunningBy", func(c broker.Choice) string { return e.Moment(c.Start) }),
		table.Text("EndsBy", func(c broker.Choice) string { return e.Moment(c.End) }),
		table.Number("Nodes", func(c broker.Choice) string { return fmt.Sprint(c.Nodes) }),
		table.Number("Time", func(c broker.Choice) string { return slurmtime.FormatDuration(c.Limit) }),
		table.Number("Prob", func(c broker.Choice) string { return prob.Format(c.Prob) }),
		table.Number("Forecast", func(c broker.Choice) string { return prob.Format(c.Estimate) }),
		table.Text("Cost", func(c broker.Choice) string { return costOf(&c, answers) }),
	}
}

// rateColumns show the success rates of slots by other methods.
func rateColumns() []table.Column[broker.Choice] {
	rate := func(name string, of func(r *api.ESR) *float64) table.Column[broker.Choice] {
		return table.Number(name, func(c broker.Choice) string {
			if c.ESR == nil {
				return cli.None
			}
			if r := of(c.ESR); r != nil {
				return prob.Format(*r)
			}
			return cli.None
		})
	}
	return []table.Column[broker.Choice]{
		rate("Static", func(r *api.ESR) *float64 { return &r.Static }),
		rate("History", func(r *api.ESR) *float64 { return r.History }),
		rate("Load", func(r *api.ESR) *float64 { return &r.Load }),
	}
}

// costOf tells what a slot costs at most, in its site's unit.
func costOf(c *broker.Choice, answers []broker.Answer) string {
	i := slices.IndexFunc(answers, func(a broker.Answer) bool { return a.Site == c.Site })
	return fmt.Sprintf("%s %s", api.HoursUp(c.Cost*3600), cli.Printable(answers[i].Unit))
}

// showProblems tells why sites have not offered more, and how old that is by which they have.
func (e *Env) showProblems(answers []broker.Answer) {
	for i := range answers {
		a := &answers[i]
		if a.Error != "" {
			fmt.Fprintf(e.Stderr, "varq: site %s: %s\n", a.Site, cli.Printable(a.Error))
		}
		if a.Note != "" && len(a.Slots) > 0 {
			fmt.Fprintf(e.Stderr, "varq: site %s: %s\n", a.Site, cli.Printable(a.Note))
		}
		if a.Cut {
			fmt.Fprintf(e.Stderr, "varq: site %s had no time to look at all of the window; ask for fewer --slots\n", a.Site)
		}
		for _, reason := range a.Reasons {
			fmt.Fprintf(e.Stderr, "varq: site %s leaves out: %s\n", a.Site, cli.Printable(slurmtime.InZone(reason, e.Zone)))
		}
	}
}

// sayNothing tells why nothing is reserved, as far as showProblems has not.
func (e *Env) sayNothing(answers []broker.Answer) {
	has := func(is func(a broker.Answer) bool) bool { return slices.ContainsFunc(answers, is) }
	why := "as nothing can be promised: try a wider window, other sizes, partitions or clusters, or a lower --min-prob"
	switch {
	case !has(func(a broker.Answer) bool { return a.Error == "" }):
		why = "as no cluster could be asked"
	case has(func(a broker.Answer) bool { return a.Cut }):
		why = "as there was not enough time to look: ask for fewer --slots, --sizes or --partitions"
	}
	fmt.Fprintln(e.Stderr, "varq: nothing is reserved, "+why)
}

// showLeft tells of jobs that may be left.
func (e *Env) showLeft(remains []left) {
	for _, l := range remains {
		fmt.Fprintf(e.Stderr, "varq: site %s may show a job that cannot run (its comment has %s%s), which its Slurm cancels at about %s: scancel it if you like\n",
			l.Site, api.CommentPrefix, l.Plan, e.Moment(l.Until))
	}
}

// showOutcome tells what was reserved, or that nothing was.
func (e *Env) showOutcome(o broker.Outcome, answers []broker.Answer, remains []left, parsable, asJSON bool) error {
	if asJSON {
		err := cli.WriteJSON(e.Stdout, struct {
			broker.Outcome
			Sites []broker.Answer `json:"sites"`
			Left  []left          `json:"left,omitempty"`
		}{o, answers, remains})
		switch {
		case err != nil && o.Taken != nil:
			return fmt.Errorf("job %d at %s is reserved, but that cannot be told: %w", o.Taken.Job, o.Taken.Site, err)
		case err == nil && o.Taken == nil:
			return errNo
		}
		return err
	}
	for _, f := range o.Tried {
		fmt.Fprintf(e.Stderr, "varq: could not be had: %s: %s\n", e.describeSlot(&f.Choice, answers), cli.Printable(slurmtime.InZone(f.Why, e.Zone)))
	}
	e.showProblems(answers)
	switch where := o.Taken; {
	case where == nil && len(o.Tried) > 0:
		fmt.Fprintln(e.Stderr, "varq: nothing is reserved, as none of the slots that were tried could be had")
		return errNo
	case where == nil:
		e.sayNothing(answers)
		return errNo
	case parsable && where.Site == e.here:
		fmt.Fprintln(e.Stdout, where.Job)
		return nil
	case parsable:
		// as sbatch --parsable --clusters does
		fmt.Fprintf(e.Stdout, "%d;%s\n", where.Job, where.Site)
		return nil
	case where.Site == e.here:
		fmt.Fprintf(e.Stdout, "Submitted batch job %d\n", where.Job)
	default:
		fmt.Fprintf(e.Stdout, "Submitted batch job %d on cluster %s\n", where.Job, where.Site)
	}
	word := "reserved"
	if o.Taken.Method != "" {
		word = "reserved, not promised"
	}
	fmt.Fprintf(e.Stdout, "%s: %s\n", word, e.describeSlot(o.Taken, answers))
	if o.RunnerUp != nil {
		fmt.Fprintf(e.Stdout, "next best: %s\n", e.describeSlot(o.RunnerUp, answers))
	}
	return nil
}

// describeSlot tells of a slot in words.
func (e *Env) describeSlot(c *broker.Choice, answers []broker.Answer) string {
	return e.describe(c, answers, e.describeProb(c))
}

func (e *Env) describe(c *broker.Choice, answers []broker.Answer, when string) string {
	where := c.Site
	switch {
	case where == e.here:
		where = "partition " + c.Partition
	case c.Partition != "":
		where += ", partition " + c.Partition
	}
	return strings.Join([]string{
		where,
		fmt.Sprintf("%s for up to %s", cli.Count(int(c.Nodes), "node", "nodes"), slurmtime.FormatDuration(c.Limit)),
		when,
		"at most " + costOf(c, answers),
	}, "; ")
}

// describeRacer tells of a member of a group of which the first to start runs: it is promised
// nothing by itself.
func (e *Env) describeRacer(c *broker.Choice, answers []broker.Answer) string {
	return e.describe(c, answers, fmt.Sprintf("running by %s with a forecast probability of %s", e.Moment(c.Start), prob.Format(c.Estimate)))
}

// describeProb tells when the job runs, and how far that is to be believed.
func (e *Env) describeProb(c *broker.Choice) string {
	if c.Method != "" {
		return fmt.Sprintf("running from %s with an estimated probability of %s (method %s)", e.Moment(c.Start), prob.Format(c.Estimate), c.Method)
	}
	return fmt.Sprintf("running by %s with probability %s (forecast %s)", e.Moment(c.Start), prob.Format(c.Prob), prob.Format(c.Estimate))
}
