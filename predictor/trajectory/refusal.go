package trajectory

import (
	"fmt"

	"github.com/varq-project/varq/predictor/limits"
)

// Refusal says why no promise can be made, and what can be promised instead.
type Refusal struct {
	// Reason is one sentence for the user.
	Reason string
	// Limit names the limit that binds ("partition main MaxTime"), if one does.
	Limit  string
	Offers []Offer
}

// refuse explains why no point of the trajectory is good enough.
func (p *Planner) refuse(r *Request, b bounds, points []Point) *Refusal {
	no := &Refusal{Reason: fmt.Sprintf("no submission before the deadline starts in time with probability %.4g", r.Prob)}
	if i := best(points); i >= 0 {
		no.Reason += fmt.Sprintf("; the best is %.2f", floor2(points[i].Prob))
	}
	sample := 0
	for _, pt := range points {
		sample = max(sample, pt.Sample)
	}
	if need := p.needed(r.Prob); sample < need {
		no.Reason = fmt.Sprintf("not enough history: %d waits known, at least %d needed", sample, need)
	}
	if rule := p.binding(r, b); rule != nil {
		no.Reason, no.Limit = rule.Says, rule.Name
	}
	no.Offers = p.offers(r, 0)
	return no
}

// binding returns the rule but for which the request could be promised, or nil.
func (p *Planner) binding(r *Request, b bounds) *limits.Rule {
	if b.never != nil {
		return b.never
	}
	for _, rule := range []*limits.Rule{&b.longestRule, &b.earliestRule, &b.budgetRule} {
		if rule.Name == "" {
			continue
		}
		without := b
		switch rule {
		case &b.longestRule:
			without.longest = unbounded.longest
		case &b.earliestRule:
			without.earliest = unbounded.earliest
		case &b.budgetRule:
			without.budget = unbounded.budget
		}
		if latest(p.trajectory(r, without, 1), r.Prob) >= 0 {
			return rule
		}
	}
	return nil
}
