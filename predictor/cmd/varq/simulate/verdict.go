package simulate

import (
	"fmt"
	"math"
	"strings"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
)

// verdict returns sentences about a comparison. The first sentences compare hard reservations
// with VARQ's for the same share of the jobs. A sentence for each kind follows.
func (c *comparison) verdict() []string {
	var pairs, each []string
	for _, a := range c.Trials[1:] {
		for _, b := range c.Trials[1:] {
			if a.Hard != nil && b.VARQ != nil && a.share() == b.share() {
				pairs = append(pairs, fmt.Sprintf("When %.4g %% of the jobs ask for a reservation, all others wait %s with %s, which grants them all, and %s with %s, which grants %s of %s.",
					100*a.share(), longer(a.Change.Wait), a.Reservations,
					longer(b.Change.Wait), b.Reservations, cli.Thousands(b.VARQ.Promised), cli.Thousands(b.VARQ.Asked)))
			}
		}
		each = append(each, a.sentence(c.Trials[0].trial))
	}
	return append(pairs, each...)
}

// sentence describes the effect of a kind of reservations, compared with base, which has none.
func (r compared) sentence(base *trial) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: a job that does not reserve waits for %s on average, which is %s (%s without reservations).",
		r.Reservations, cli.Rounded(r.Others.Mean), longer(r.Change.Wait), cli.Rounded(base.Others.Mean))
	if h := r.Hard; h != nil && h.Jobs > 0 {
		fmt.Fprintf(&s, " The %s that reserve start at a fixed time, %s of them at the very one they asked for; on average it is %s away.",
			cli.Thousands(h.Jobs), cli.Thousands(h.Exact), cli.Rounded(h.Offset))
		if r.Stops > 0 {
			fmt.Fprintf(&s, " For them running jobs are stopped %s times.", cli.Thousands(r.Stops))
		}
	}
	if v := r.VARQ; v != nil {
		fmt.Fprintf(&s, " Of the %s that ask, %s are promised to run by their deadline with probability %s.",
			cli.Thousands(v.Asked), cli.Thousands(v.Promised), prob.Format(r.kind.VARQ.Prob))
		if v.Promised > 0 {
			fmt.Fprintf(&s, " %s of these promises are kept, which is %s (with 95 %% confidence it is %s to %s), and their jobs use %s times what the work takes.",
				cli.Percent(delivered(v)), judge(v.KeptLow, v.KeptHigh, r.kind.VARQ.Prob), cli.Percent(v.KeptLow), cli.Percent(v.KeptHigh), ratio(v))
		}
	}
	return s.String()
}

// longer describes the change of a wait.
func longer(change *float64) string {
	switch {
	case change == nil:
		return "no matter of percents, as nobody waited"
	case math.Abs(*change) < .0005:
		return "as long as before"
	case *change < 0:
		return cli.Percent(-*change) + " shorter"
	default:
		return cli.Percent(*change) + " longer"
	}
}

// judge compares the confidence interval of the share kept with the promised probability.
func judge(low, high, promised float64) string {
	switch {
	case low > promised:
		return "more than promised"
	case high < promised:
		return "less than promised"
	default:
		return "as promised"
	}
}

// wrap breaks text into lines of at most 79 characters. It never breaks before a per cent
// sign.
func wrap(text string) string {
	const joint = "\x00"
	var s strings.Builder
	width := 0
	for _, word := range strings.Fields(strings.ReplaceAll(text, " %", joint+"%")) {
		switch n := len(word); {
		case width == 0:
			width = n
		case width+1+n > 79:
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
