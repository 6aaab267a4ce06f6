package trajectory

import (
	"fmt"
	"slices"
	"time"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Refusal says why no promise can be made, and what can be promised instead.
type Refusal struct {
	// Reason is one sentence for the user.
	Reason string
	// Limit names the limit that is the reason ("partition main MaxTime"), or is "".
	Limit string
	// Offers are requests that can be promised, at most one of each kind.
	Offers []Offer
}

// refuse explains why no point of the trajectory has the probability asked for.
func (p *Planner) refuse(r *Request, b bounds, points []Point) *Refusal {
	if r.Job.Limit > b.longest {
		return &Refusal{Reason: b.longestRule.Says, Limit: b.longestRule.Name}
	}
	dearer := 0. // the highest probability without a ceiling
	if free := *r; noCeiling(&free) {
		points := p.trajectory(&free, b, 1)
		dearer = prob.Percent(highest(points))
		if p.settle(&free, points, r.Prob) >= 0 {
			return &Refusal{Reason: fmt.Sprintf("the nodes may idle for at most %s before the work (--max-cost)",
				slurmtime.FormatDuration(r.idle(r.Earliest))) + tooShort(r.Prob), Limit: "--max-cost"}
		}
	}
	if b.asleep(r, Submission{Begin: r.Now}) {
		return &Refusal{Reason: b.resumeRule.Says + ", longer than until the deadline", Limit: b.resumeRule.Name}
	}
	crowded := slices.IndexFunc(points, func(pt Point) bool { return 1-pt.Taken < r.Prob })
	crowd := ""
	if crowded >= 0 {
		late := slices.ContainsFunc(points, func(pt Point) bool { return pt.late })
		crowd = Crowd(p.Cluster, r, points[crowded].start, late, "too little")
	}
	if rule, so := p.binding(r, b, len(points) == 0); rule != nil {
		if crowded >= 0 {
			so += "; besides, " + crowd
		}
		return &Refusal{Reason: rule.Says + so, Limit: rule.Name}
	}
	sample := 0
	for _, pt := range points {
		sample = max(sample, pt.Sample)
	}
	// no wait tells of jobs inside of a reservation
	inside := p.Cluster != nil && p.Cluster.Reservations.Encloses(r.Job.Reservation)
	if need := p.needed(r.Prob); sample < need && !inside {
		return &Refusal{Reason: fmt.Sprintf("not enough history for a probability of %.6g: %d waits known, at least %d needed", r.Prob, sample, need)}
	}
	if p.Cluster != nil {
		if shortage := p.Cluster.Job(r.All(), r.Needs).ShortageBy(r.Now, r.Deadline); shortage != "" {
			return &Refusal{Reason: shortage}
		}
	}
	beyond := slices.ContainsFunc(points, func(pt Point) bool { return pt.Beyond > 0 })
	why := crowd
	switch {
	case crowded >= 0 && beyond:
		why += ", and more work is ahead than was ever learnt from: "
	case crowded >= 0:
		why += ": "
	case beyond:
		why = "more work is ahead than was ever learnt from, and by simulations of the queue "
	case unlucky(points, r.Prob):
		why = "of promises with about as little time to start many were missed of late, and with regard to these "
	case p.Cluster != nil: // what waits for the end of a reservation, waits for as much longer
		if reserved := p.Cluster.ReservedBetween(r.Job.Partition, r.Now, r.Deadline); reserved != "" {
			why = "beside " + reserved + " "
		}
	}
	best, more := prob.Percent(highest(points)), ""
	if dearer > best {
		more = fmt.Sprintf("; with a higher --max-cost its probability would be %.2f at best", dearer)
	}
	if best <= 0 {
		return &Refusal{Reason: why + "no start by the deadline can be promised, however little is asked" + more}
	}
	return &Refusal{Reason: fmt.Sprintf("%sthe job starts by the deadline with a probability of %.2f at best, not %.6g", why, best, r.Prob) + more}
}

// unlucky reports whether a point would have a probability but for promises that were missed.
func unlucky(points []Point, prob float64) bool {
	return slices.ContainsFunc(points, func(pt Point) bool {
		return pt.Missed > 1 && 1-(1-pt.Prob)/pt.Missed >= prob
	})
}

// tooShort ends a sentence on for how long nodes may idle.
func tooShort(prob float64) string {
	return fmt.Sprintf(": too short a time to start by the deadline with a probability of %.6g", prob)
}

// binding returns the rule without which the request could be promised, and the end of the
// sentence that rule.Says begins. If only the limit and the windows together prevent the
// promise, or if they allow no submission at all (none), binding returns one of these rules.
// It returns nil if no rule is the reason.
func (p *Planner) binding(r *Request, b bounds, none bool) (rule *limits.Rule, so string) {
	limit := func() (*limits.Rule, string) { return &b.longestRule, b.consequence }
	window := func(w *limits.Window) (*limits.Rule, string) { return &w.Rule, r.meets(w, p.Cluster.Zone) }
	anyLimit, anyTime := b, b
	anyLimit.longest, anyTime.blocked = unlimited, nil
	limited, blocked := b.longestRule.Name != "", len(b.blocked) > 0
	if limited {
		if _, ok := p.promised(r, anyLimit); ok {
			return limit()
		}
	}
	if blocked {
		begin, ok := p.promised(r, anyTime)
		if w := b.ahead(begin); ok && w != nil { // forecasts among fewer candidates may be lower
			return window(w)
		}
	}
	if limited && blocked {
		if _, ok := p.promised(r, bounds{longest: unlimited}); ok {
			return limit()
		}
	}
	if !none {
		return nil, ""
	}
	if c := p.candidates(r, anyTime, 1); len(c) > 0 {
		if w := b.ahead(c[len(c)-1].Submit); w != nil {
			return window(w)
		}
	}
	return limit()
}

// promised returns the begin time of the plan for r within the bounds b. It reports false
// if there is no such plan.
func (p *Planner) promised(r *Request, b bounds) (begin int64, ok bool) {
	points := p.trajectory(r, b, 1)
	i := p.settle(r, points, r.Prob)
	if i < 0 {
		return 0, false
	}
	return points[i].Begin, true
}

// meets returns the end of a sentence that begins with what w's rule says. It says how the
// blocked window w stands to the reservation in time, and when it ends, if the zone is known.
func (r *Request) meets(w *limits.Window, zone *time.Location) string {
	between := slurmtime.Span(w.Start, w.End, zone)
	if w.Endless() {
		between = ""
	}
	switch {
	case w.End <= r.Deadline:
		return " until too short a time before the deadline" + between
	case w.Start < r.Deadline+r.Job.Limit:
		return " when the work is to run" + between
	}
	return " too soon after the work" + between
}
