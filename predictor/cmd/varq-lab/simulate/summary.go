package simulate

import (
	"fmt"
	"io"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/prob"
)

// summary is what a comparison says first. It is about one kind of reservations: the first of
// VARQ's, or the first of all if none are VARQ's.
type summary struct {
	Headline string        // one sentence without a full stop
	Verdict  score.Verdict // on the promises, or ""
	Reason   string        // sentences
	Numbers  []number      // three, or fewer if there are no promises
}

// number is a figure with its meaning.
type number struct {
	Value  string
	Of     string // what it is a figure of
	Beside string // what to hold it against, or ""
}

// summary returns the summary of the comparison.
func (c *comparison) summary() summary {
	lead := c.Trials[1]
	for _, r := range c.Trials[1:] {
		if r.VARQ != nil {
			lead = r
			break
		}
	}
	if lead.VARQ == nil {
		return c.hardSummary(lead)
	}
	return c.varqSummary(lead)
}

func (c *comparison) hardSummary(r compared) summary {
	s := summary{
		Headline: fmt.Sprintf("With fixed times for %.4g %% of the jobs, all others wait %s", 100*r.share(), r.wait()),
		Numbers:  []number{c.othersWait(r)},
	}
	if h := r.Hard; h.Jobs > 0 {
		s.Reason = fmt.Sprintf("All %s that reserve start at a fixed time, %s of them at the very one they asked for.", cli.Thousands(h.Jobs), cli.Thousands(h.Exact))
		s.Numbers = append(s.Numbers,
			number{cli.Percent(float64(h.Exact) / float64(h.Jobs)), "of those who reserve start at the very time they asked for", ""},
			number{cli.Rounded(h.Offset), "from the time asked for, on average", ""})
	}
	return s
}

func (c *comparison) varqSummary(r compared) summary {
	v, promised := r.VARQ, r.kind.VARQ.Prob
	if v.Promised == 0 {
		return summary{
			Headline: fmt.Sprintf("varq could promise nothing to any of the %s jobs that asked", cli.Thousands(v.Asked)),
			Reason:   "It promises nothing before it has seen enough jobs wait, and nothing that the queue rules out.",
			Numbers:  []number{c.othersWait(r)},
		}
	}
	s := summary{
		Headline: fmt.Sprintf("varq kept %s of its promises, and all others waited %s", cli.Percent(delivered(v)), r.wait()),
		Verdict:  score.Judge(v.KeptLow, v.KeptHigh, promised),
		Reason: fmt.Sprintf("Of the %s jobs that asked, %s were promised to be running by their deadline with probability %s, and %s were. With 95 %% confidence varq keeps %s to %s of such promises.",
			cli.Thousands(v.Asked), cli.Thousands(v.Promised), prob.Format(promised), cli.Thousands(v.Kept), cli.Percent(v.KeptLow), cli.Percent(v.KeptHigh)),
		Numbers: []number{
			{cli.Percent(delivered(v)), "of the promises kept", cli.Percent(promised) + " promised"},
			{ratio(v) + " times", "the cost of the work, for work with a promise", "what it holds included; who reserves pays"},
			c.othersWait(r),
		},
	}
	if rival, ok := c.rival(r); ok {
		s.Reason += fmt.Sprintf(" Fixed times for as many jobs make all others wait %s.", rival.wait())
	}
	return s
}

// othersWait returns the change of the mean wait of the jobs that never reserve.
func (c *comparison) othersWait(r compared) number {
	n := number{
		Value:  signed(r.Change.Wait),
		Of:     "on what all others wait",
		Beside: fmt.Sprintf("%s on average, %s without reservations", cli.Rounded(r.Others.Mean), cli.Rounded(c.Trials[0].Others.Mean)),
	}
	if rival, ok := c.rival(r); ok {
		n.Beside += "; " + signed(rival.Change.Wait) + " with fixed times"
	}
	return n
}

// wait says how long the jobs that never reserve wait, against the trial without reservations.
func (r compared) wait() string {
	if r.Change.Wait == nil {
		return fmt.Sprintf("for %s on average, where nobody did before", cli.Rounded(r.Others.Mean))
	}
	return longer(r.Change.Wait)
}

// rival returns the first trial with hard reservations for as many jobs as r, if r is VARQ's.
func (c *comparison) rival(r compared) (compared, bool) {
	for _, hard := range c.Trials[1:] {
		if r.VARQ != nil && hard.Hard != nil && hard.share() == r.share() {
			return hard, true
		}
	}
	return compared{}, false
}

// show writes the summary.
func (s summary) show(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n", wrap(s.Headline+"."))
	for _, n := range s.Numbers {
		fmt.Fprintf(w, "  %12s  %s\n", n.Value, n.Of)
		if n.Beside != "" {
			fmt.Fprintf(w, "  %12s  %s\n", "", n.Beside)
		}
	}
	if s.Verdict != "" {
		fmt.Fprintf(w, "\nVerdict: %s.\n", s.Verdict)
	}
	if s.Reason != "" {
		fmt.Fprintf(w, "%s\n", wrap(s.Reason))
	}
}
