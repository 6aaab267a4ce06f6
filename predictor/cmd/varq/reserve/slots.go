package reserve

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/broker"
)

// mostShown is how many slots --dry-run shows to people.
const mostShown = 20

// rankedSlots is what --dry-run --json shows.
type rankedSlots struct {
	Slots []broker.Choice `json:"slots"` // best first
	Sites []broker.Answer `json:"sites"`
}

// slots shows slots, which are in the order of the user's preferences; with rates, the success
// rates by other methods, too.
func (t *teller) slots(ranked []broker.Choice, rates bool) error {
	var err error
	columns := t.slotColumns()
	if slices.ContainsFunc(ranked, func(c broker.Choice) bool { return c.Method != "" }) {
		columns = append(columns, table.Text("Method", func(c broker.Choice) string { return cmp.Or(c.Method, "varq") }))
	}
	if rates {
		columns = append(columns, rateColumns()...)
	}
	switch {
	case t.asJSON:
		err = cli.WriteJSON(t.Stdout, rankedSlots{ranked, t.answers})
	case len(ranked) > 0:
		if err = options.Show(t.Env, columns, ranked[:min(mostShown, len(ranked))], &options.Style{}, false); err == nil && len(ranked) > mostShown {
			fmt.Fprintf(t.Stdout, "and %d more\n", len(ranked)-mostShown)
		}
	}
	if err != nil {
		return err
	}
	if !t.asJSON {
		t.problems()
	}
	if len(ranked) == 0 {
		if !t.asJSON {
			t.nothing()
		}
		return cli.ErrNo
	}
	return nil
}

// slotColumns show what sites offer.
func (t *teller) slotColumns() []table.Column[broker.Choice] {
	return []table.Column[broker.Choice]{
		table.Text("Cluster", func(c broker.Choice) string { return c.Site }),
		table.Text("Partition", func(c broker.Choice) string { return c.Partition }),
		table.Text("RunningBy", func(c broker.Choice) string { return t.Moment(c.Start) }),
		table.Text("EndsBy", func(c broker.Choice) string { return t.Moment(c.End) }),
		table.Number("Nodes", func(c broker.Choice) string { return fmt.Sprint(c.Nodes) }),
		table.Number("Time", func(c broker.Choice) string { return slurmtime.FormatDuration(c.Limit) }),
		table.Number("Prob", func(c broker.Choice) string { return prob.Format(c.Prob) }),
		table.Number("Estimate", func(c broker.Choice) string { return prob.Format(c.Estimate) }),
		table.Text("Cost", func(c broker.Choice) string { return t.cost(&c) }),
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
