package simulate

import (
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// certainty says how sure the figures are, and of what.
func (c *comparison) certainty() []string {
	s := fmt.Sprintf("The jobs came in %s.", cli.Count(c.weeks(), "week", "weeks"))
	if c.Seeds > 1 {
		s += fmt.Sprintf(" All was replayed with %d seeds: each draws anew who reserves", c.Seeds)
		if !c.log {
			s += ", and the jobs"
		}
		s += "."
	}
	lead := c.lead()
	switch within := lead.Change.WaitWithin; {
	case within == nil:
		s += " How far the waits of others are certain cannot be said of so little: take more weeks (--jobs) or several seeds (--seeds)."
	case within.Over == "weeks":
		s += " All intervals are of 95 % confidence, as far as weeks differ from one another: they come from drawing weeks again and again. They say what other weeks like these would bring, and not what other users or another cluster would."
		if c.Seeds > 1 && c.log {
			s += " A week counts once, however many seeds it was replayed with."
		}
	default:
		s += " These are too few weeks for an interval over weeks. That of the waits of others is over the seeds: it tells how much hangs on who reserves, and not what other weeks would bring."
	}
	all := []string{s}
	if len(lead.BySeed) > 1 {
		all = append(all, lead.bySeed())
	}
	return all
}

// bySeed says what the trial came to with each seed.
func (r compared) bySeed() string {
	var each []string
	for _, s := range r.BySeed {
		text := fmt.Sprintf("with seed %d", s.Seed)
		if s.Promised > 0 {
			text += fmt.Sprintf(" %s of %s promises kept,", cli.Thousands(s.Kept), cli.Thousands(s.Promised))
		}
		each = append(each, fmt.Sprintf("%s others wait %s", text, longer(s.Wait)))
	}
	return r.name() + ": " + strings.Join(each, "; ") + "."
}
