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
	Limit string
	// Offers are requests that can be promised, at most one of each kind.
	Offers []Offer
}

// refuse explains why no point of the trajectory within the bounds is good
// enough.
func (p *Planner) refuse(r *Request, b bounds, points []Point) *Refusal {
	if b.never != nil {
		return &Refusal{Reason: b.never.Says, Limit: b.never.Name}
	}
	if rule, so := p.binding(r, b, len(points) == 0); rule != nil {
		return &Refusal{Reason: rule.Says + so, Limit: rule.Name}
	}
	sample, highest := 0, 0.
	for _, pt := range points {
		sample, highest = max(sample, pt.Sample), max(highest, pt.Prob)
	}
	if need := p.needed(r.Prob); sample < need {
		return &Refusal{Reason: fmt.Sprintf("not enough history: %d waits known, at least %d needed", sample, need)}
	}
	return &Refusal{Reason: fmt.Sprintf("the job starts by the deadline with a probability of %.2f at best", percent(highest))}
}

// binding returns the rule but for which the request could be promised, or nil,
// and how the sentence about it goes on. Of several that only bind together it
// returns the first, and also when they leave no submission at all.
func (p *Planner) binding(r *Request, b bounds, none bool) (rule *limits.Rule, so string) {
	without := b
	for _, lift := range []struct {
		rule *limits.Rule
		so   string
		from func(*bounds)
	}{
		{&b.longestRule, ", too little for the work and the time to hold it", func(b *bounds) { b.longest = unbounded.longest }},
		{&b.earliestRule, " until too short a time before the deadline", func(b *bounds) { b.earliest = unbounded.earliest }},
		{&b.budgetRule, " too soon after the work", func(b *bounds) { b.budget = unbounded.budget }},
	} {
		if lift.rule.Name == "" {
			continue
		}
		if rule == nil {
			rule, so = lift.rule, lift.so
		}
		alone := b
		lift.from(&alone)
		if latest(p.trajectory(r, alone, 1), r.Prob) >= 0 {
			return lift.rule, lift.so
		}
		lift.from(&without)
	}
	if rule == nil || !none && latest(p.trajectory(r, without, 1), r.Prob) < 0 {
		return nil, ""
	}
	return rule, so
}
