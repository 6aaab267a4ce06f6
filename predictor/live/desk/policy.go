package desk

import (
	"context"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/policy"
	"github.com/varq-project/varq/predictor/promise/trajectory"
)

// terms are the rules of the site's policy that apply to one request.
type terms struct {
	rules policy.Rules
	who   policy.Who
	cost  api.MaxCost // the ceiling asked for, or the site's
	asked bool        // the user has named the ceiling
	group float64     // the probability of the group of which the job is a member, or 0
	// option is the option by which the user sets the probability.
	option string
}

// The options that set the probability: of sbatch, and of varq reserve.
const (
	optionProb    = "--prob"
	optionMinProb = "--min-prob"
)

// SetPolicy replaces the site's rules, for all that is asked and promised from now on.
func (d *Desk) SetPolicy(rules policy.Rules) { d.newer.Store(&rules) }

// policy returns the site's rules.
func (d *Desk) policy() policy.Rules {
	if newer := d.newer.Load(); newer != nil {
		return *newer
	}
	return d.Policy
}

// terms returns the rules that apply to a request. It fills in the site's defaults for r's
// probability and for the ceiling.
func (d *Desk) terms(planner *trajectory.Planner, r *trajectory.Request, req *api.PlanRequest) terms {
	t := terms{cost: req.MaxCost, asked: req.MaxCost != api.MaxCost{}, group: req.GroupProb, option: optionProb}
	if req.Tentative != 0 {
		t.option = optionMinProb
	}
	if rules := d.policy(); len(rules) > 0 {
		job := r.Job
		// the planner reports the error
		if whole, err := planner.Cluster.Complete(job); err == nil {
			job = whole
		}
		t.who = policy.Who{User: job.User, Account: job.Account, Partition: job.Partition, QOS: job.QOS}
		t.rules = rules.For(t.who)
	}
	if !t.asked {
		t.cost = api.MaxCost(t.rules.Cost())
	}
	if r.Prob == 0 {
		r.Prob = t.rules.Prob(d.Prob)
	}
	if req.Group != "" && t.group == 0 {
		t.group = t.rules.Prob(d.Prob)
	}
	return t
}

// setEarliest sets r.Earliest, so that r's job becomes eligible no earlier than a ceiling in
// node-hours allows.
func (t *terms) setEarliest(planner *trajectory.Planner, r *trajectory.Request) {
	if t.cost.NodeSeconds > 0 && r.HoldUntil != 0 {
		r.Earliest = max(1, r.HoldUntil-int64(t.cost.NodeSeconds/float64(planner.MostNodes(*r))))
	}
}

// agree sets the ceiling of a plan for r. The plan's WorkLimit must be set.
func (t *terms) agree(plan *api.Plan, r *trajectory.Request) {
	earliest := r.Earliest
	if earliest == 0 {
		earliest = r.Ceiling(plan.BeginTime, max(1, t.cost.Times))
	}
	plan.Earliest = t.ceiling(plan, earliest)
}

// admit returns a refusal if the rules do not allow a promise with probability prob, or the group's
// probability.
func (t *terms) admit(prob float64) *api.Refusal {
	return apiRule(t.rules.Admit(t.who, prob, t.group, t.option))
}

// forbids reports whether the idle nodes of an offer cost more than the rules allow.
func (t *terms) forbids(o api.Offer) bool {
	return t.rules.CheckCost(t.who, o.Worst.NodeSeconds, o.Worst.NodeSeconds) != nil
}

// ceiling returns the Earliest of a plan with which the idle nodes cost at most what earliest
// allows. A ceiling that the user has not named is no higher than the rules allow.
func (t *terms) ceiling(plan *api.Plan, earliest int64) int64 {
	most, _, limited := t.rules.MaxCost(plan.Worst.NodeSeconds)
	if costs := plan.Idle(earliest).NodeSeconds; !t.asked && limited && costs > most {
		idle := float64(plan.HoldUntil - earliest)
		return max(earliest, min(plan.BeginTime, plan.HoldUntil-int64(idle*most/costs)))
	}
	return earliest
}

// checkRules returns a refusal if the rules forbid the plan.
func (d *Desk) checkRules(ctx context.Context, t terms, plan *api.Plan) (*api.Refusal, error) {
	atMost := plan.AtMost().NodeSeconds
	if no := t.rules.CheckCost(t.who, plan.Worst.NodeSeconds, atMost); no != nil {
		return apiRule(no), nil
	}
	no, err := d.checkUse(ctx, t.rules, t.who, policy.Use{Open: 1, NodeSeconds: atMost})
	return apiRule(no), err
}

// WithinCost calls record if the rules allow that the idle nodes of e's reservation cost up to
// worst. Otherwise it returns an api.ErrForbidden.
func (d *Desk) WithinCost(ctx context.Context, e *ledger.Entry, worst api.Cost, record func() error) error {
	granted, err := d.StartGranting(ctx)
	if err != nil {
		return err
	}
	defer granted()
	who := policy.Who{User: e.User, Account: e.Account, Partition: e.Partition, QOS: e.QOS}
	rules := d.policy().For(who)
	no := rules.CheckCost(who, e.Worst.NodeSeconds, worst.NodeSeconds)
	if no == nil {
		more := policy.Use{NodeSeconds: worst.NodeSeconds - e.Idle(e.Progress.Earliest).NodeSeconds}
		if no, err = d.checkUse(ctx, rules, who, more); err != nil {
			return err
		}
	}
	if no != nil {
		return api.Fault(api.ErrForbidden, no.What+"; nothing is changed")
	}
	return record()
}

// checkUse returns a refusal if the limits on what is open at once do not allow more.
func (d *Desk) checkUse(ctx context.Context, rules policy.Rules, who policy.Who, more policy.Use) (*policy.Refusal, error) {
	if !rules.Count() {
		return nil, nil
	}
	open, err := d.Ledger.Held(ctx, d.Now(), who.User, who.Account)
	if err != nil {
		return nil, err
	}
	return rules.CheckUse(who, open, more), nil
}

// apiRule converts a refusal by a rule.
func apiRule(no *policy.Refusal) *api.Refusal {
	if no == nil {
		return nil
	}
	return &api.Refusal{Reason: no.What + "; " + no.Do, Rule: no.Rule}
}

// Limits returns what the site's policy allows user, what she uses of it, and the partitions that
// are open to her.
func (d *Desk) Limits(ctx context.Context, user string) (api.Limits, error) {
	accounts := d.accounts(user)
	open, err := d.Ledger.Held(ctx, d.Now(), user, accounts...)
	if err != nil {
		return api.Limits{}, err
	}
	everything := policy.Rule{}
	use := everything.UsedByUser(user, open)
	answer := api.Limits{User: user, Open: use.Open, NodeSeconds: use.NodeSeconds, Rules: []api.LimitRule{}}
	if c := d.Premises.Limits(); c != nil {
		answer.Partitions, answer.DefaultPartition = c.PartitionsOf(user), c.DefaultPartition()
	}
	rules := d.policy()
	for i := range rules {
		r := &rules[i]
		hers := slices.DeleteFunc(slices.Clone(accounts), func(a string) bool { return !r.SelectsAccount(a) })
		if r.SelectsUser(user) && len(hers) > 0 {
			answer.Rules = append(answer.Rules, limitRule(r, user, hers, open))
		}
	}
	return answer, nil
}

// UnknownNames returns the names in the site's policy that Slurm does not have, as of the last
// Refresh.
func (d *Desk) UnknownNames() []policy.Unknown {
	c := d.Premises.Limits()
	if c == nil {
		return nil
	}
	return d.policy().Unknown(c)
}

// accounts returns the accounts that user may use. If Slurm knows none, it returns "", like the
// account of a job without an account.
func (d *Desk) accounts(user string) []string {
	var list []string
	if c := d.Premises.Limits(); c != nil {
		list = c.Associations.Accounts(user)
	}
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// limitRule converts a rule, with what user and the accounts use of it.
func limitRule(r *policy.Rule, user string, accounts []string, open []policy.Held) api.LimitRule {
	rule := api.LimitRule{Name: r.Name, Selects: r.Selects(), Reserve: r.Reserve, MaxProb: r.MaxProb, Cost: apiMaxCost(r.Cost), MaxCost: apiMaxCost(r.MaxCost)}
	add := func(share api.LimitShare, used policy.Use, l policy.Limits) {
		if l != (policy.Limits{}) {
			share.Open, share.NodeSeconds, share.MaxOpen, share.MaxNodeSeconds = used.Open, used.NodeSeconds, l.Open, l.NodeSeconds
			rule.Shares = append(rule.Shares, share)
		}
	}
	add(api.LimitShare{User: user}, r.UsedByUser(user, open), r.PerUser)
	for _, account := range accounts {
		add(api.LimitShare{Account: account}, r.UsedByAccount(account, open), r.PerAccount)
	}
	return rule
}

func apiMaxCost(c policy.Cost) string {
	return api.MaxCost(c).String()
}
