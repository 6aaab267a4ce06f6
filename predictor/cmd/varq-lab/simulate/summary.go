package simulate

import (
	"fmt"
	"io"
	"strings"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/stats"
)

// summary is what a comparison says first. It is about one kind of reservations: the first of
// VARQ's, or the first of all if none are VARQ's.
type summary struct {
	Headline string        // one sentence without a full stop, which says no more than the verdict
	Verdict  score.Verdict // on the promises, or ""
	Reason   string        // sentences
	Numbers  []number      // three or four, or fewer if there are no promises
}

// number is a figure with its meaning.
type number struct {
	Asks   string // the question that it answers, as a title
	Value  string
	Of     string   // what it is a figure of
	Beside []string // what to hold it against
}

// lead returns the trial that the summary is about.
func (c *comparison) lead() compared {
	for _, r := range c.Trials[1:] {
		if r.VARQ != nil {
			return r
		}
	}
	return c.Trials[1]
}

// summary returns the summary of the comparison.
func (c *comparison) summary() summary {
	lead := c.lead()
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
			number{"What it gives", cli.Percent(float64(h.Exact) / float64(h.Jobs)), "of those who reserve start at the very time they asked for", nil},
			number{"How exact it is", spoken(h.Offset), "from the time asked for, on average", nil})
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
		Verdict: score.Judge(v.KeptLow, v.KeptHigh, promised),
		Reason: fmt.Sprintf("Of the %s jobs that asked%s, %s were promised to be running by their deadline with probability %s, and %s were. With 95 %% confidence varq keeps %s to %s of such promises.",
			cli.Thousands(v.Asked), c.replays(), cli.Thousands(v.Promised), prob.Format(promised), cli.Thousands(v.Kept), cli.Percent(v.KeptLow), cli.Percent(v.KeptHigh)),
		Numbers: []number{r.keptNumber(), c.granted(r), c.price(r), c.othersWait(r)},
	}
	if s.Verdict == score.TooLittle {
		s.Headline = fmt.Sprintf("It is too little to tell whether varq keeps its promises: it made %s, in %s",
			cli.Thousands(v.Promised), cli.Count(r.weeksPromised(), "week", "weeks"))
		s.Reason += " " + c.more(r)
	} else {
		s.Headline = fmt.Sprintf("In a replay of %s varq kept %s of its promises, %s (%s), and all others waited %s",
			cli.Count(c.weeks(), "week", "weeks"), cli.Percent(delivered(v)), s.Verdict, r.level(), r.wait())
	}
	if p := r.Plain; p != nil && p.Promised > 0 {
		s.Reason += " " + p.sentence()
	}
	if rival, ok := c.rival(r); ok && rival.Hard.Jobs > 0 {
		h := rival.Hard
		s.Reason += fmt.Sprintf(" If fixed times are kept free instead, each of the %s jobs that ask gets one, %s of them the very one they ask for; all others wait %s.",
			cli.Thousands(h.Jobs), cli.Percent(float64(h.Exact)/float64(h.Jobs)), rival.wait())
	}
	return s
}

// replays says over how many replays counts are sums, if there are several.
func (c *comparison) replays() string {
	if c.Seeds < 2 {
		return ""
	}
	return fmt.Sprintf(" in %d replays", c.Seeds)
}

// more says what would make a verdict on the promises.
func (c *comparison) more(r compared) string {
	what := "a longer log does"
	switch {
	case c.cut || !c.log:
		what = "more jobs do (--jobs)"
	case r.weeksPromised() >= stats.LeastBlocks:
		what = "more seeds do (--seeds)"
	}
	return fmt.Sprintf("A verdict takes more promises, and of %d weeks or more, as weeks differ: %s.", stats.LeastBlocks, what)
}

// sentence says what a plain submission reaches.
func (p *plain) sentence() string {
	s := fmt.Sprintf("Simply submitted, %s of the same jobs start by then, too", cli.Percent(p.inTime()))
	if p.InTime > 0 {
		s += fmt.Sprintf(", but nobody can say when: half of them %s or more before the deadline, and %s of all in its last quarter of an hour", spoken(float64(p.Early)), cli.Percent(p.atTime()))
	}
	return s + "."
}

// weeksPromised returns how many weeks had promises.
func (r compared) weeksPromised() int {
	n := 0
	for _, w := range r.Weeks {
		if w.Promised > 0 {
			n++
		}
	}
	return n
}

// level is the probability that was promised, as a percentage.
func (r compared) level() string { return fmt.Sprintf("%.4g %%", 100*r.kind.VARQ.Prob) }

// keptNumber is how many promises were kept: a share only where that tells something.
func (r compared) keptNumber() number {
	v := r.VARQ
	n := number{"What it gives", cli.Percent(delivered(v)), "of the promises kept", []string{
		fmt.Sprintf("%s promised; %s to %s with 95 %% confidence", r.level(), cli.Percent(v.KeptLow), cli.Percent(v.KeptHigh)),
	}}
	if p := r.Plain; p != nil && p.Promised > 0 {
		n.Beside = append(n.Beside, fmt.Sprintf("%s of the same jobs start in time if they are simply submitted", cli.Percent(p.inTime())))
	}
	if score.Judge(v.KeptLow, v.KeptHigh, r.kind.VARQ.Prob) == score.TooLittle {
		n.Value, n.Of = fmt.Sprintf("%s of %s", cli.Thousands(v.Kept), cli.Thousands(v.Promised)), "promises kept, too few for a share"
	}
	return n
}

// granted is how many who ask get a promise, and what becomes of the others.
func (c *comparison) granted(r compared) number {
	v := r.VARQ
	n := number{Asks: "To whom, and what of the refused", Value: cli.Percent(float64(v.Promised) / float64(v.Asked)), Of: "of the jobs that ask get a promise for the time they want"}
	if p := r.Plain; p != nil && p.Refused > 0 {
		n.Beside = append(n.Beside, fmt.Sprintf("the others wait like any job, and %s of them start by their deadline all the same", cli.Percent(p.refusedInTime())))
	}
	if taker, ok := c.taker(r); ok {
		n.Beside = append(n.Beside, taker.refusal("where the refused take offers, of them")...)
		if v := taker.VARQ; v.Promised > 0 && v.Offers.Later > 0 {
			n.Beside = append(n.Beside, fmt.Sprintf("where they take these, promises cost %s times the work, and all others wait %s", ratio(v), taker.wait()))
		}
	}
	return n
}

// taker returns the first trial like r in which those who are refused take offers.
func (c *comparison) taker(r compared) (compared, bool) {
	for _, t := range c.Trials[1:] {
		if v := t.VARQ; v != nil && v.Offers != nil && t.share() == r.share() && t.kind.VARQ.Prob == r.kind.VARQ.Prob {
			return t, true
		}
	}
	return compared{}, false
}

// refusal says what becomes of those who are refused, and take offers. It begins with the words for
// them.
func (r compared) refusal(whose string) []string {
	o := r.VARQ.Offers
	if o.Refused == 0 {
		return []string{"nobody else asks"}
	}
	says := []string{fmt.Sprintf("%s %s get an offer", whose, cli.Percent(float64(o.Offered)/float64(o.Refused)))}
	if o.Later > 0 {
		kept := fmt.Sprintf("%s of %s are kept", cli.Thousands(o.Kept), cli.Thousands(o.Later))
		if score.Judge(o.KeptLow, o.KeptHigh, r.kind.VARQ.Prob) != score.TooLittle {
			kept = cli.Percent(keptOffers(o)) + " are kept"
		}
		says = append(says, fmt.Sprintf("%s take a deadline that is at most a day later, half of them one at most %s later: %s",
			cli.Percent(float64(o.Later)/float64(o.Refused)), spoken(float64(r.Plain.Later)), kept))
	}
	return says
}

// price is what a promise costs who has it, beside what a hard reservation does.
func (c *comparison) price(r compared) number {
	v := r.VARQ
	return number{"What it costs its user", ratio(v) + " times", "the cost of the work, for work with a promise", []string{
		fmt.Sprintf("the user pays for the processors that wait idle for the work: %s processor-hours in %s, %s of the cluster",
			hours(v.Held/float64(max(1, c.Seeds))), cli.Count(c.weeks(), "week", "weeks"), cli.Percent(r.Held)),
		fmt.Sprintf("%s times for a hard reservation, where a site charges %.4g times the booked time, without refund: users book more than they use", hardRatio(v), hardPrice),
	}}
}

// hours writes seconds as hours.
func hours(seconds float64) string { return cli.Thousands(int(seconds/3600 + .5)) }

// othersWait returns the change of the mean wait of the jobs that never reserve.
func (c *comparison) othersWait(r compared) number {
	n := number{Asks: "What it does to all others", Value: signed(r.Change.Wait), Of: "on the mean wait of all others, who never ask"}
	means := fmt.Sprintf("%s on average, and %s without reservations", cli.Rounded(r.Others.Mean), cli.Rounded(c.Trials[0].Others.Mean))
	if within := r.Change.WaitWithin; within != nil {
		switch {
		case within.vague():
			n.Value, n.Of = "not known", "is how much longer all others wait, who never ask: too little to tell"
		case within.open():
			n.Value, n.Of = "no change", "of the mean wait of all others, who never ask, can be measured"
			means += ": " + signed(r.Change.Wait)
		}
		means += fmt.Sprintf(" (%s to %s with 95 %% confidence, over %s)", signed(&within.Low), signed(&within.High), within.Over)
	}
	n.Beside = append(n.Beside, means)
	if rival, ok := c.rival(r); ok {
		beside := signed(rival.Change.Wait) + " with fixed times"
		if within := rival.Change.WaitWithin; within != nil {
			beside += fmt.Sprintf(" (%s to %s)", signed(&within.Low), signed(&within.High))
		}
		n.Beside = append(n.Beside, beside)
	}
	return n
}

// vague reports whether the interval tells neither a direction nor that others wait not much
// longer.
func (i *interval) vague() bool { return i.Low <= 0 && i.High >= vagueWait }

// open reports whether the interval tells no direction.
func (i *interval) open() bool { return i.Low < 0 && i.High > 0 }

// vagueWait is the change of a wait from which on an interval that has it, and no direction, tells
// too little.
const vagueWait = .1

// wait says how long the jobs that never reserve wait, against the trial without reservations, and
// how sure that is.
func (r compared) wait() string {
	if r.Change.Wait == nil {
		return fmt.Sprintf("for %s on average, where nobody did before", cli.Rounded(r.Others.Mean))
	}
	within := r.Change.WaitWithin
	if within == nil {
		return longer(r.Change.Wait)
	}
	ends := fmt.Sprintf("(%s to %s)", longer(&within.Low), longer(&within.High))
	switch {
	case *within == interval{Over: within.Over}:
		return longer(r.Change.Wait) // nothing has changed
	case within.Low > 0:
		return fmt.Sprintf("%s (%s to %s)", longer(r.Change.Wait), cli.Percent(within.Low), cli.Percent(within.High))
	case within.High < 0:
		return fmt.Sprintf("%s (%s to %s)", longer(r.Change.Wait), cli.Percent(-within.High), cli.Percent(-within.Low))
	case within.vague():
		return fmt.Sprintf("%s to %s: too little to tell", longer(&within.Low), longer(&within.High))
	default:
		return "not measurably longer " + ends
	}
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
		for _, beside := range n.Beside {
			for line := range strings.Lines(wrapTo(79-16, beside)) {
				fmt.Fprintf(w, "  %12s  %s\n", "", strings.TrimSuffix(line, "\n"))
			}
		}
	}
	if s.Verdict != "" {
		fmt.Fprintf(w, "\nVerdict on the promises: %s.\n", s.Verdict)
	}
	if s.Reason != "" {
		fmt.Fprintf(w, "%s\n", wrap(s.Reason))
	}
}
