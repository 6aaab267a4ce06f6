package simulate

import (
	"fmt"
	"math"
	"strings"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/trial/scenario"
)

// sentences describe the kinds of reservations one by one.
func (c *comparison) sentences() []string {
	var all []string
	for _, r := range c.Trials[1:] {
		all = append(all, r.sentence(c.Trials[0].trial))
	}
	return all
}

// sentence describes the effect of a kind of reservations, compared with base, which has none.
func (r compared) sentence(base *trial) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: a job that does not reserve waits for %s on average, and %s without reservations: %s",
		r.name(), cli.Rounded(r.Others.Mean), cli.Rounded(base.Others.Mean), longer(r.Change.Wait))
	if within := r.Change.WaitWithin; within != nil {
		fmt.Fprintf(&s, ", or with 95 %% confidence %s to %s", longer(&within.Low), longer(&within.High))
	}
	s.WriteByte('.')
	if h := r.Hard; h != nil && h.Jobs > 0 {
		fmt.Fprintf(&s, " The %s that reserve start at a fixed time, %s of them at the very one they asked for; on average they start %s from the one they asked for.",
			cli.Thousands(h.Jobs), cli.Thousands(h.Exact), cli.Rounded(h.Offset))
		if r.Stops > 0 {
			fmt.Fprintf(&s, " For them running jobs are stopped %s times.", cli.Thousands(r.Stops))
		}
	}
	if v := r.VARQ; v != nil {
		fmt.Fprintf(&s, " Of the %s that ask, %s are promised to run by their deadline with probability %s.",
			cli.Thousands(v.Asked), cli.Thousands(v.Promised), prob.Format(r.kind.VARQ.Prob))
		if v.Promised > 0 {
			fmt.Fprintf(&s, " %s of these promises are kept (%s to %s with 95 %% confidence): %s. Their jobs use %s times what the work takes.",
				cli.Percent(delivered(v)), cli.Percent(v.KeptLow), cli.Percent(v.KeptHigh), score.Judge(v.KeptLow, v.KeptHigh, r.kind.VARQ.Prob), ratio(v))
			if p := r.Plain; p != nil && p.Promised > 0 {
				fmt.Fprintf(&s, " %s", p.sentence())
			}
		}
		if o := v.Offers; o != nil && o.Refused > 0 {
			fmt.Fprintf(&s, " Of the %s.", strings.Join(r.refusal(cli.Thousands(o.Refused)+" that are refused"), "; "))
			if o.Offered > 0 {
				fmt.Fprintf(&s, " The offers, of which one job may get several: %s.", offered(o))
			}
		}
	}
	return s.String()
}

// offers names the kinds of offers.
var offers = []struct {
	kind trajectory.Kind
	says string
}{
	{trajectory.OfferLater, "at a later time"},
	{trajectory.OfferProb, "with less probability"},
	{trajectory.OfferFree, "to start as soon as there are nodes"},
	{trajectory.OfferNodes, "with fewer nodes"},
	{trajectory.OfferTime, "for a shorter job"},
	{trajectory.OfferCost, "at a higher cost"},
}

// offered lists how many offers there were of each kind.
func offered(o *scenario.OffersResult) string {
	var all []string
	for _, of := range offers {
		if n := o.Kinds[of.kind]; n > 0 {
			all = append(all, cli.Thousands(n)+" "+of.says)
		}
	}
	return strings.Join(all, ", ")
}

// longer describes the change of a wait.
func longer(change *float64) string {
	switch {
	case change == nil:
		return "no matter of percents, as nobody waited"
	case math.Abs(*change) < .0005:
		return "as long as before"
	case *change < 0:
		return cli.Percent(-*change) + " less"
	default:
		return cli.Percent(*change) + " longer"
	}
}

// wrap breaks text into lines of at most 79 characters.
func wrap(text string) string { return wrapTo(79, text) }

// wrapTo breaks text into lines of a width. It never breaks before a per cent sign.
func wrapTo(longest int, text string) string {
	const joint = "\x00"
	var s strings.Builder
	width := 0
	for _, word := range strings.Fields(strings.ReplaceAll(text, " %", joint+"%")) {
		switch n := len(word); {
		case width == 0:
			width = n
		case width+1+n > longest:
			s.WriteByte('\n')
			width = n
		default:
			s.WriteByte(' ')
			width += 1 + n
		}
		s.WriteString(word)
	}
	return strings.ReplaceAll(s.String(), joint, " ")
}
