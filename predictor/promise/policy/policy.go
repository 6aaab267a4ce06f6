// Package policy applies a site's rules: who may reserve, and how much at once.
//
// A rule applies to the reservations that it selects, by partition, account, QOS and user. Every
// limit of every rule that applies must be kept. For Reserve and for Cost only one rule decides:
// the first that applies and has a value. A site without rules limits nobody. Costs are in
// node-seconds.
package policy

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Who says whose a reservation is, and where its job runs.
type Who struct{ User, Account, Partition, QOS string }

// Rule is one rule of a site.
type Rule struct {
	// Name is what messages call the rule. No two rules have the same.
	Name string
	// Partitions, Accounts, QOS and Users select reservations. An empty list selects all. Of
	// Accounts upper and lower case are the same, as for Slurm.
	Partitions, Accounts, QOS, Users []string
	// Reserve, if not nil, says whether there are reservations at all.
	Reserve *bool
	// PerUser and PerAccount bound what one user, and the users of one account together, have
	// at once of the reservations that the rule selects.
	PerUser, PerAccount Limits
	// MaxProb is the highest probability promised; 0 stands for no limit.
	MaxProb float64
	// Cost is the ceiling on the cost of idle nodes for who names none, MaxCost the highest
	// ceiling. The zero value of Cost is none.
	Cost, MaxCost Cost
}

// Limits bound what is open at once; 0 stands for no limit.
type Limits struct {
	Open        int     // open reservations
	NodeSeconds float64 // for which the nodes of open reservations may idle, together
}

// Cost is a ceiling on the cost of idle nodes: a number of node-seconds, or a multiple of what is
// quoted. At most one of the two is set.
type Cost struct{ NodeSeconds, Times float64 }

// of returns the ceiling in node-seconds for a quote in node-seconds.
func (c Cost) of(quoted float64) float64 {
	if c.Times != 0 {
		return c.Times * quoted
	}
	return c.NodeSeconds
}

// Held is an open reservation, and what its idle nodes may cost at most.
type Held struct {
	Who
	NodeSeconds float64
}

// Use is what is open at once.
type Use struct {
	Open        int
	NodeSeconds float64
}

// Refusal says which rule refuses a request.
type Refusal struct {
	Rule string // its name
	// What says what is refused, and by which rule. Do says what the user can do. Both are
	// clauses without a full stop.
	What, Do string
}

// Rules are a site's rules, in their order.
type Rules []Rule

// For returns the rules that apply to w, in their order.
func (rules Rules) For(w Who) Rules {
	var list Rules
	for i := range rules {
		if rules[i].selects(w) {
			list = append(list, rules[i])
		}
	}
	return list
}

func (r *Rule) selects(w Who) bool {
	return (len(r.Partitions) == 0 || slices.Contains(r.Partitions, w.Partition)) &&
		r.SelectsAccount(w.Account) &&
		(len(r.QOS) == 0 || slices.Contains(r.QOS, w.QOS)) &&
		r.SelectsUser(w.User)
}

// SelectsUser reports whether the rule selects reservations of a user.
func (r *Rule) SelectsUser(user string) bool {
	return len(r.Users) == 0 || slices.Contains(r.Users, user)
}

// SelectsAccount reports whether the rule selects reservations of an account.
func (r *Rule) SelectsAccount(account string) bool {
	return len(r.Accounts) == 0 || slices.ContainsFunc(r.Accounts, func(a string) bool { return strings.EqualFold(a, account) })
}

// Prob returns the probability of who asks for none: the site's, or the highest that the rules
// allow.
func (rules Rules) Prob(site float64) float64 {
	for i := range rules {
		if most := rules[i].MaxProb; most != 0 {
			site = min(site, most)
		}
	}
	return site
}

// Cost returns the ceiling on the cost of idle nodes of who names none. The zero value stands for
// what is quoted.
func (rules Rules) Cost() Cost {
	for i := range rules {
		if rules[i].Cost != (Cost{}) {
			return rules[i].Cost
		}
	}
	return Cost{}
}

// Admit refuses reservations where there are none, and a probability that is too high: that of a
// job, or that of its group, which is 0 without one. option is the one by which the user says it. A
// job of several that are all to start needs more than their group: by option she may then ask for
// the group for as many times the most as there are such jobs.
func (rules Rules) Admit(w Who, prob, group float64, option string) *Refusal {
	if i := slices.IndexFunc(rules, func(r Rule) bool { return r.Reserve != nil }); i >= 0 && !*rules[i].Reserve {
		return rules[i].refuse("submit the job without one, or ask whoever runs the cluster", "there are no reservations for %s", rules[i].place(w))
	}
	for i := range rules {
		if most := rules[i].MaxProb; most != 0 && max(prob, group) > most {
			ask := most
			if 0 < group && group < prob {
				ask = math.Pow(most, math.Log(group)/math.Log(prob))
			}
			return rules[i].refuse(fmt.Sprintf("ask for %s=%.4g or less", option, math.Floor(ask*1e4+1e-6)/1e4), "a probability of at most %.4g is promised to %s", most, rules[i].place(w))
		}
	}
	return nil
}

// MaxCost returns the highest ceiling on the cost of idle nodes that the rules allow for a quote,
// and the rule that sets it. It reports false if none does.
func (rules Rules) MaxCost(quoted float64) (most float64, rule *Rule, ok bool) {
	for i := range rules {
		if c := rules[i].MaxCost; c != (Cost{}) && (!ok || c.of(quoted) < most) {
			most, rule, ok = c.of(quoted), &rules[i], true
		}
	}
	return most, rule, ok
}

// slack is by how much, in node-seconds, two costs may differ that ought to be the same: ceilings
// are stored as whole seconds.
const slack = 1

// CheckCost refuses a ceiling on the cost of idle nodes above the highest one, and a quote above
// it.
func (rules Rules) CheckCost(w Who, quoted, ceiling float64) *Refusal {
	most, rule, ok := rules.MaxCost(quoted)
	switch {
	case !ok || ceiling <= most+slack:
		return nil
	case quoted > most+slack:
		return rule.refuse("a lower --prob takes less, and --best-effort none", "the nodes may have to idle for %s, and at most %s are allowed to %s", hours(quoted), hours(most), rule.place(w))
	}
	asked, allowed := hours(ceiling), hours(most)
	if asked == allowed { // but for the rounding
		asked, allowed = fmt.Sprintf("%.4f node-hours", ceiling/3600), fmt.Sprintf("%.4f node-hours", most/3600)
	}
	return rule.refuse("ask for --max-cost="+rule.MaxCost.option()+" or less", "a ceiling of %s on the cost of idle nodes is more than the %s that are allowed to %s", asked, allowed, rule.place(w))
}

// option returns the value of --max-cost.
func (c Cost) option() string {
	if c.Times != 0 {
		return fmt.Sprintf("%.4gx", c.Times)
	}
	return fmt.Sprintf("%.4g", c.NodeSeconds/3600)
}

// Count reports whether a rule limits what is open at once.
func (rules Rules) Count() bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return r.PerUser != Limits{} || r.PerAccount != Limits{} })
}

// CheckUse refuses to add more to the open reservations if a user or an account would then have
// more than a limit. A limit that more does not add to is not checked. open has at least the open
// reservations of w's user and of w's account.
func (rules Rules) CheckUse(w Who, open []Held, more Use) *Refusal {
	for i := range rules {
		r := &rules[i]
		for _, c := range []struct {
			limits Limits
			used   Use
			whose  string
		}{
			{r.PerUser, r.UsedByUser(w.User, open), "you have"},
			{r.PerAccount, r.UsedByAccount(w.Account, open), "account " + w.Account + " has"},
		} {
			if c.limits.Open != 0 && more.Open > 0 && c.used.Open+more.Open > c.limits.Open {
				return r.refuse("wait until one is over, or cancel one; varq status lists yours",
					"%s %s%s, and at most %d may be open at once", c.whose, reservations(c.used.Open), r.within(), c.limits.Open)
			}
			if total := c.used.NodeSeconds + more.NodeSeconds; c.limits.NodeSeconds != 0 && more.NodeSeconds > 0 && total > c.limits.NodeSeconds+slack {
				return r.refuse("wait until one is over, or ask for less: a lower --max-cost or --prob, or --best-effort",
					"the nodes of the %s that %s%s may idle for %s, and %s more would be above the %s allowed at once",
					reservations(c.used.Open), c.whose, r.within(), hours(c.used.NodeSeconds), hours(more.NodeSeconds), hours(c.limits.NodeSeconds))
			}
		}
	}
	return nil
}

// UsedByUser returns what a user has of the open reservations that the rule selects.
func (r *Rule) UsedByUser(user string, open []Held) Use {
	return r.used(open, func(h *Held) bool { return h.User == user })
}

// UsedByAccount returns what the users of an account have together of the open reservations that
// the rule selects.
func (r *Rule) UsedByAccount(account string, open []Held) Use {
	return r.used(open, func(h *Held) bool { return strings.EqualFold(h.Account, account) })
}

func (r *Rule) used(open []Held, counts func(*Held) bool) (u Use) {
	for i := range open {
		if h := &open[i]; r.selects(h.Who) && counts(h) {
			u.Open++
			u.NodeSeconds += h.NodeSeconds
		}
	}
	return u
}

// refuse returns a refusal. do is what the user can do.
func (r *Rule) refuse(do, format string, args ...any) *Refusal {
	return &Refusal{Rule: r.Name, What: fmt.Sprintf(format, args...) + fmt.Sprintf(" (rule %q of the site's policy)", r.Name), Do: do}
}

func reservations(n int) string {
	if n == 1 {
		return "1 open reservation"
	}
	return fmt.Sprintf("%d open reservations", n)
}

// place names what the rule selects of w.
func (r *Rule) place(w Who) string {
	var parts []string
	for _, p := range []struct {
		kind, is string
		by       []string
	}{
		{"partition", w.Partition, r.Partitions}, {"account", w.Account, r.Accounts}, {"QOS", w.QOS, r.QOS}, {"user", w.User, r.Users},
	} {
		if len(p.by) > 0 {
			parts = append(parts, p.kind+" "+p.is)
		}
	}
	if len(parts) == 0 {
		return "anybody"
	}
	return strings.Join(parts, ", ")
}

// within says of which reservations the rule counts those of a user or of an account.
func (r *Rule) within() string {
	if s := r.Selects(); s != "" {
		return " (" + s + ")"
	}
	return ""
}

// Selects says which reservations the rule selects, or "" for all.
func (r *Rule) Selects() string {
	var parts []string
	for _, p := range []struct {
		kind string
		by   []string
	}{
		{"partition", r.Partitions}, {"account", r.Accounts}, {"QOS", r.QOS}, {"user", r.Users},
	} {
		if len(p.by) > 0 {
			parts = append(parts, p.kind+" "+strings.Join(p.by, " or "))
		}
	}
	return strings.Join(parts, ", ")
}

func hours(nodeSeconds float64) string { return fmt.Sprintf("%.2f node-hours", nodeSeconds/3600) }
