package reserve

import (
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/broker"
)

// group tells which group was reserved, or that nothing was.
func (t *teller) group(out *broker.GroupOutcome, dryRun bool) error {
	if t.asJSON {
		err := cli.WriteJSON(t.Stdout, struct {
			*broker.GroupOutcome
			Sites []broker.Answer `json:"sites"`
		}{out, t.answers})
		if err == nil && out.Why != "" {
			err = cli.ErrNo
		}
		return err
	}
	words := t.slot
	if out.Kind == api.GroupAny {
		words = t.racer
	}
	for _, f := range out.Failed {
		fmt.Fprintf(t.Stderr, "varq: could not be had: %s: %s\n", words(&f.Choice), cli.Printable(slurmtime.InZone(f.Why, t.Zone)))
	}
	t.problems()
	if out.Why != "" {
		fmt.Fprintf(t.Stderr, "varq: nothing is reserved: %s\n", cli.Printable(out.Why))
		return cli.ErrNo
	}
	var l cli.Listing
	l.Width = len("together:")
	rule := "the first to start runs, the others are cancelled"
	parts := map[int]int{} // how many jobs each has
	for _, m := range out.Members {
		parts[m.Part]++
	}
	switch {
	case out.Kind == api.GroupAll && len(parts) < len(out.Members):
		rule = fmt.Sprintf("one of each of %d parts begins, all at the same time, or none does", len(parts))
	case out.Kind == api.GroupAll:
		rule = "all begin at the same time, or none does"
	}
	verb := "reserved:"
	if dryRun {
		verb = "possible:"
	}
	if len(out.Members) == 1 {
		rule = "no other is to be had"
	}
	l.Line(verb, "%s: %s", cli.Count(len(out.Members), "job", "jobs"), rule)
	for i := range out.Members {
		m := &out.Members[i]
		text := words(m)
		if m.Job != 0 {
			text = fmt.Sprintf("job %d: %s", m.Job, text)
		}
		if i > 0 && m.Part != 0 && m.Part == out.Members[i-1].Part {
			text = "or " + text
		}
		l.Line("", "%s", text)
	}
	q := out.Quote
	text := fmt.Sprintf("probability %s (estimate %s, lower bound %s; if the clusters had nothing to do with one another %s", prob.Format(q.Required), prob.Format(q.Prob), prob.Format(q.Lower), prob.Format(q.Independent))
	if q.Unraised > 0 {
		text += "; without alternatives " + prob.Format(q.Unraised)
	}
	if q.Days > 0 {
		text += fmt.Sprintf("; their delays have correlation %.2f, over %.0f days", q.Correlation, q.Days)
	}
	l.Line("together:", "%s)", text)
	fmt.Fprint(t.Stdout, l.String())
	return nil
}
