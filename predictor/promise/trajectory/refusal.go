package trajectory

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// Refusal says why no promise can be made, and what can be promised instead.
type Refusal struct {
	// Reason is one sentence for the user.
	Reason string
	// Limit names the limit that is the reason ("partition main MaxTime"), or is "".
	Limit string
	// Young says that too few waits are known for the probability asked for, and nothing else is in
	// the way.
	Young bool
	// Offers are requests that can be promised, at most one of each kind.
	Offers []Offer
}

// refuse explains why no point of the trajectory has the probability asked for.
func (p *Planner) refuse(r *Request, b bounds, points []Point) *Refusal {
	if no := b.tooLong(r); no != nil {
		return no
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
	crowded := slices.IndexFunc(points, func(pt Point) bool {
		left := 1 - pt.Taken
		return left < r.Prob && (left <= pt.free.Prob || pt.Beyond > 0) // simulations know of room, too
	})
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
	if no := p.Young(r, sample); no != nil {
		return no
	}
	if p.Cluster != nil {
		if shortage := p.Cluster.Job(r.All(), r.Needs).ShortageBy(r.Now, r.Deadline); shortage != "" {
			return &Refusal{Reason: shortage}
		}
	}
	beyond := slices.ContainsFunc(points, func(pt Point) bool { return pt.Beyond > 0 })
	why, more := crowd, ""
	switch {
	case crowded >= 0 && beyond:
		why += ", and more work is ahead than was ever learnt from: "
	case crowded >= 0:
		why += ": "
	case beyond:
		why = "more work is ahead than was ever learnt from, and by simulations of the queue "
	default: // what waits for the end of a reservation, waits for as much longer
		var others []string
		if ahead := r.ahead(p.Jobs); ahead != "" {
			others = append(others, ahead)
		}
		if p.Cluster != nil {
			if reserved := p.Cluster.ReservedBetween(r.Job.Partition, r.Now, r.Deadline); reserved != "" {
				others = append(others, reserved)
			}
		}
		if len(others) > 0 {
			why = "beside " + strings.Join(others, " and ") + " "
		}
	}
	point := best(points)
	most := prob.Percent(point.Prob)
	if careful := point.careful(); careful != "" && crowded < 0 {
		more = "; " + careful
	}
	if dearer > most {
		more += fmt.Sprintf("; with a higher --max-cost %.2f could be promised", dearer)
	}
	by, and, with := stamp(p.Cluster, r.Deadline), "", ""
	if r.HoldUntil == r.Deadline {
		const held = "its nodes held until then"
		and, with = " and "+held, " with "+held
	}
	if most <= 0 {
		return &Refusal{Reason: fmt.Sprintf("%snot even a probability of %g can be promised for a start by %s%s", why, prob.Least, by, with) + more}
	}
	return &Refusal{Reason: fmt.Sprintf("%sa start by %s, in %s%s, can be promised with probability %.2f at best, not %v",
		why, by, slurmtime.FormatDuration(r.Deadline-r.Now), and, most, r.Prob) + more}
}

// tooLong returns a refusal if the work's own time limit is more than is allowed.
func (b *bounds) tooLong(r *Request) *Refusal {
	if r.Job.Limit <= b.longest {
		return nil
	}
	says := b.longestRule.Says
	if b.longest > 0 { // otherwise it is not the time that is in the way
		says = fmt.Sprintf("--time=%s: %s", slurmtime.FormatDuration(r.Job.Limit), says)
	}
	return &Refusal{Reason: says, Limit: b.longestRule.Name}
}

// farOff is how many waits more than there are make a probability one that waiting does not bring.
const farOff = 1000

// Young returns the refusal of a request, without offers, if sample waits are too few for its
// probability, and nil if they are enough.
func (p *Planner) Young(r *Request, sample int) *Refusal {
	need := p.needed(r.Prob)
	// no wait tells of jobs inside of a reservation
	inside := p.Cluster != nil && p.Cluster.Reservations.Encloses(r.Job.Reservation)
	if sample >= need || inside {
		return nil
	}
	why := fmt.Sprintf("not enough history for a probability of %v: %d waits known, at least %d needed", r.Prob, sample, need)
	if more := need - sample; sample == 0 || more <= farOff {
		such := "more such jobs have"
		if more == 1 {
			such = "more such job has"
		}
		why += fmt.Sprintf("; ask again once %d %s started", more, such)
		if r.Job.Partition != "" {
			why += " in partition " + r.Job.Partition
		}
	} else {
		why += fmt.Sprintf("; the highest probability that can be promised here is %.2f", prob.Percent(stats.LowerProportion(sample, sample, p.confidence())))
	}
	return &Refusal{Reason: why, Young: true}
}

// ahead says how much work waits in the partition of r, of jobs that may be nil, or "".
func (r *Request) ahead(all iter.Seq[*workload.Job]) string {
	if all == nil {
		return ""
	}
	jobs, hours := int64(0), 0.
	for j := range all {
		if j.Start == 0 && j.Partition == r.Job.Partition && j.Since() <= r.Now && j.ID != r.ID {
			jobs += int64(j.Count())
			hours += float64(j.Count()) * float64(max(1, j.Nodes)) * float64(j.Limit) / 3600
		}
	}
	if jobs == 0 {
		return ""
	}
	return fmt.Sprintf("%d waiting jobs (%.1f node-hours by their time limits)", jobs, hours)
}

// stamp writes a time in the zone of a cluster, which may be nil.
func stamp(c *limits.Cluster, at int64) string {
	zone := time.UTC
	if c != nil && c.Zone != nil {
		zone = c.Zone
	}
	return slurmtime.Stamp(at, zone)
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
