package advise

import (
	"cmp"
	"fmt"
	"math"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/promise/checkpoint"
)

// advice is the answer of advise. Durations are seconds.
type advice struct {
	Checkpoint bool   `json:"checkpoint"`
	Reason     string `json:"reason"`
	// Saves is the time that a checkpoint now saves on average, against the best plan without it.
	Saves float64 `json:"saves"`
	// Next is the work until the next checkpoint that is planned if this one is skipped; null if
	// none is.
	Next   *float64 `json:"next"`
	Since  float64  `json:"since"`
	Cost   float64  `json:"cost"`
	MTBF   float64  `json:"mtbf"` // of all nodes together, in the long run
	Source string   `json:"source"`
	// Age is how long ago varqd looked at the nodes, negative if its clock or this one is wrong,
	// Day how many failures it expects of them within a day, and Trouble why it was not asked now.
	// Without varqd they are absent.
	Age     *int64   `json:"age,omitempty"`
	Day     *float64 `json:"day,omitempty"`
	Trouble string   `json:"trouble,omitempty"`
	// Maintenance is what stops the job, and Drain what began since the last checkpoint, if they
	// do.
	Maintenance *api.Maintenance `json:"maintenance,omitempty"`
	Drain       *api.Drain       `json:"drain,omitempty"`
	Young       float64          `json:"young"`
	Daly        float64          `json:"daly"`
	weighed     bool
	moment      func(int64) string
}

func newAdvice(env *cli.Env, r *checkpoint.Request, from ground) advice {
	answer := punctual(r)
	mtbf := 1 / r.Hazard.Rate()
	a := advice{
		Checkpoint: answer.Checkpoint, Reason: answer.Reason.String(), Saves: answer.Saves, Since: r.Since, Cost: r.Cost,
		MTBF: mtbf, Source: from.source, Young: checkpoint.Young(r.Cost, mtbf), Daly: checkpoint.Daly(r.Cost, mtbf),
		weighed: answer.Reason <= checkpoint.NotWorth && answer.Reason != checkpoint.TakenAway,
		moment:  env.Moment,
	}
	if known := from.known; known != nil {
		age, day := known.Age(env.Now()), checkpoint.Failures(r.Hazard, 86400)
		a.Age, a.Day = &age, &day
		if known.Trouble != nil {
			a.Trouble = oneLine(known.Trouble)
		}
		if r.Warned {
			a.Drain = known.Drain
		}
	}
	if !math.IsInf(answer.Next, 1) {
		a.Next = &answer.Next
	}
	return a
}

// How late an application may come with its next question: a share of the interval, and at least so
// many seconds.
const (
	lateShare = .01
	leastLate = 5
)

// punctual is checkpoint.Advise, but puts off to the next question no checkpoint that would be too
// late if that question came late.
func punctual(r *checkpoint.Request) checkpoint.Advice {
	answer := checkpoint.Advise(r)
	next := r.Interval + r.Cost
	if late := max(leastLate, lateShare*r.Interval); answer.Reason == checkpoint.NotYet && r.Ends >= next && r.Ends < next+late {
		last := *r
		last.Ends = math.Nextafter(next, 0)
		return checkpoint.Advise(&last)
	}
	return answer
}

// String returns the advice in words.
func (a advice) String() string {
	l := cli.Listing{Width: 12}
	verb := "Skip"
	if a.Checkpoint {
		verb = "Checkpoint"
	}
	fmt.Fprintf(&l, "%s: %s.\n", verb, a.Reason)
	l.Line("At risk", "%s of work since the last checkpoint", cli.Rounded(a.Since))
	l.Line("Cost", "%s", cli.Rounded(a.Cost))
	switch {
	case a.weighed && a.Checkpoint && math.Round(a.Saves) == 0:
		l.Line("Saves", "less than a second on average, against the best plan without it")
	case a.weighed && a.Saves >= 0:
		l.Line("Saves", "%s on average, against the best plan without it", cli.Rounded(a.Saves))
	case a.weighed:
		l.Line("Loses", "%s on average, against the best plan without it", cli.Rounded(-a.Saves))
	}
	if !a.Checkpoint && a.Next != nil {
		l.Line("Next", "after %s more of work, as far as is known now", cli.Rounded(*a.Next))
	}
	if m := a.Maintenance; m != nil {
		l.Line("Stopped", "at %s, for the maintenance %s", a.moment(m.Start), cmp.Or(m.Name, "of the nodes"))
	}
	if d := a.Drain; d != nil {
		l.Line("Drained", "%s, since %s: %s", d.Node, a.moment(d.Since), d.Reason)
	}
	if a.Age == nil {
		l.Line("Failures", "one every %s: %s", cli.Rounded(a.MTBF), a.Source)
	} else {
		l.Line("Failures", "%.4f expected within a day, and one every %s in the long run", *a.Day, cli.Rounded(a.MTBF))
		known, age := "by %s, %s old", *a.Age
		if age < 0 {
			known, age = "by %s, of a time that is %s ahead: this node's clock differs from varqd's", -age
		}
		l.Line("Known", known, a.Source, cli.Rounded(float64(age)))
	}
	if a.Trouble != "" {
		l.Line("But", "%s", a.Trouble)
	}
	l.Line("Young", "a checkpoint after every %s of work", cli.Rounded(a.Young))
	l.Line("Daly", "a checkpoint after every %s of work", cli.Rounded(a.Daly))
	return l.String()
}
