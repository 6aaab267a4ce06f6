package reserve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/broker"
)

// teller tells the user what has come of a request.
type teller struct {
	*cli.Env
	// here is the name of the only cluster that the request is about, if nobody has named it: texts
	// need not.
	here    string
	answers []broker.Answer // of all sites
	asJSON  bool
}

// problems tells why sites have not offered more, and how old that is by which they have.
func (t *teller) problems() {
	for i := range t.answers {
		a := &t.answers[i]
		if a.Error != "" {
			fmt.Fprintf(t.Stderr, "varq: cluster %s: %s\n", a.Site, cli.Printable(a.Error))
		}
		if a.Note != "" && len(a.Slots) > 0 {
			fmt.Fprintf(t.Stderr, "varq: cluster %s: %s\n", a.Site, cli.Printable(a.Note))
		}
		if a.Cut {
			fmt.Fprintf(t.Stderr, "varq: cluster %s had no time to look at all of the window; ask for fewer --slots\n", a.Site)
		}
		for _, reason := range a.Reasons {
			fmt.Fprintf(t.Stderr, "varq: cluster %s leaves out: %s\n", a.Site, cli.Printable(slurmtime.InZone(reason, t.Zone)))
		}
	}
}

// nothing tells why nothing is reserved, as far as problems has not.
func (t *teller) nothing() {
	has := func(is func(a broker.Answer) bool) bool { return slices.ContainsFunc(t.answers, is) }
	why := "as nothing can be promised: try a wider window, other sizes, partitions or clusters, or a lower --min-prob"
	switch {
	case !has(func(a broker.Answer) bool { return a.Error == "" }):
		why = "as no cluster could be asked"
	case !has(func(a broker.Answer) bool { return a.Error == "" && !a.Final }):
		why = "as Slurm takes no such job, for the reason above"
	case has(func(a broker.Answer) bool { return a.Young }):
		why = "as too few jobs have started so far to promise anything by: ask again later"
	case has(func(a broker.Answer) bool { return a.Cut }):
		why = "as there was not enough time to look: ask for fewer --slots, --sizes or --partitions"
	}
	fmt.Fprintln(t.Stderr, "varq: nothing is reserved, "+why)
}

// slot tells of a slot in words.
func (t *teller) slot(c *broker.Choice) string {
	return t.words(c, t.prob(c))
}

// words tells of a slot, when its job runs in the words given.
func (t *teller) words(c *broker.Choice, when string) string {
	where := c.Site
	switch {
	case where == t.here:
		where = "partition " + c.Partition
	case c.Partition != "":
		where += ", partition " + c.Partition
	}
	return strings.Join([]string{
		where,
		fmt.Sprintf("%s for up to %s", cli.Count(int(c.Nodes), "node", "nodes"), slurmtime.FormatDuration(c.Limit)),
		when,
		"in all no more than " + t.cost(c),
	}, "; ")
}

// racer tells of a member of a group of which the first to start runs: it is promised nothing by
// itself.
func (t *teller) racer(c *broker.Choice) string {
	return t.words(c, fmt.Sprintf("running by %s with a forecast probability of %s", t.Moment(c.Start), prob.Format(c.Estimate)))
}

// prob tells when the job runs, and how far that is to be believed.
func (t *teller) prob(c *broker.Choice) string {
	if c.Method != "" {
		return fmt.Sprintf("running from %s with an estimated probability of %s (method %s)", t.Moment(c.Start), prob.Format(c.Estimate), c.Method)
	}
	return fmt.Sprintf("running by %s with probability %s (estimate %s)", t.Moment(c.Start), prob.Format(c.Prob), prob.Format(c.Estimate))
}

// cost tells what a slot costs at most, in its site's unit.
func (t *teller) cost(c *broker.Choice) string {
	i := slices.IndexFunc(t.answers, func(a broker.Answer) bool { return a.Site == c.Site })
	return fmt.Sprintf("%s %s", api.HoursUp(c.Cost*3600), cli.Printable(t.answers[i].Unit))
}
