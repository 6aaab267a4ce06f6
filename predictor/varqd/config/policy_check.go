package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/varq-project/varq/predictor/api"
)

// mostOpen bounds the number of open reservations that a rule may name.
const mostOpen = 1_000_000

// checkPolicy refuses rules that have no meaning, contradict themselves, or never decide anything
// because of a rule above them.
func checkPolicy(rules []Rule, bad func(key, format string, args ...any)) {
	names := map[string]bool{}
	for i := range rules {
		r := &rules[i]
		key := fmt.Sprintf("policy[%d]", i)
		if names[r.name(i)] {
			bad(key+".name", "%q is the name of another one", r.name(i))
		}
		names[r.name(i)] = true
		if strings.ContainsFunc(r.Name, unicode.IsControl) {
			bad(key+".name", "%q has characters that no message can show", r.Name)
		}
		for _, s := range r.selectors() {
			s.check(func(format string, args ...any) { bad(key+"."+s.key, format, args...) })
		}
		r.checkLimits(key, bad)
		for above := range i {
			if what := r.undecided(&rules[above]); what != "" {
				bad(key+"."+what, "rule %q above selects all that this one does, and decides", rules[above].name(above))
				break
			}
		}
	}
}

// checkLimits checks the values of a rule by themselves.
func (r *Rule) checkLimits(key string, bad func(key, format string, args ...any)) {
	for _, o := range []struct {
		key  string
		open Open
	}{{"per_user", r.PerUser}, {"per_account", r.PerAccount}} {
		if n := o.open.Reservations; n != nil && (*n < 1 || *n > mostOpen) {
			bad(key+"."+o.key+".reservations", "%d does not lie between 1 and %d; \"reserve: no\" allows none", *n, mostOpen)
		}
		if n := o.open.NodeHours; n != nil && !(*n > 0 && *n <= api.MaxNodeHours) {
			bad(key+"."+o.key+".node_hours", "%v does not lie above 0 and up to %.0f", *n, api.MaxNodeHours)
		}
	}
	if user, account := r.PerUser.Reservations, r.PerAccount.Reservations; user != nil && account != nil && *user > *account {
		bad(key+".per_user.reservations", "%d is more than the whole account may have, %d", *user, *account)
	}
	if user, account := r.PerUser.NodeHours, r.PerAccount.NodeHours; user != nil && account != nil && *user > *account {
		bad(key+".per_user.node_hours", "%v is more than the whole account may have, %v", *user, *account)
	}
	if p := r.MaxProb; p != nil && !(*p > 0 && *p < 1) {
		bad(key+".max_prob", "%v does not lie between 0 and 1", *p)
	}
	limited := r.PerUser != (Open{}) || r.PerAccount != (Open{}) || r.MaxProb != nil || r.Cost != (Cost{}) || r.MaxCost != (Cost{})
	switch {
	case r.Reserve == nil && !limited:
		bad(key, "the rule has none of reserve, per_user, per_account, max_prob, cost and max_cost")
	case r.Reserve != nil && !*r.Reserve && limited:
		bad(key+".reserve", "where there are no reservations, the rule's limits mean nothing")
	}
}

// undecided returns the key of r that never decides anything, because the rule above selects all
// that r does and decides it first, or "".
func (r *Rule) undecided(above *Rule) string {
	mine := r.selectors()
	for i, s := range above.selectors() {
		if len(s.names) > 0 && (len(mine[i].names) == 0 || slices.ContainsFunc(mine[i].names, func(name string) bool { return !s.has(name) })) {
			return ""
		}
	}
	switch {
	case r.Reserve != nil && above.Reserve != nil:
		return "reserve"
	case r.Cost != (Cost{}) && above.Cost != (Cost{}):
		return "cost"
	}
	return ""
}

// selector is one list of names by which a rule selects.
type selector struct {
	key   string
	names Names
	fold  bool // upper and lower case are the same
}

func (r *Rule) selectors() []selector {
	return []selector{{"partition", r.Partition, false}, {"account", r.Account, true}, {"qos", r.QOS, false}, {"user", r.User, false}}
}

func (s *selector) has(name string) bool {
	return slices.ContainsFunc(s.names, func(n string) bool { return n == name || s.fold && strings.EqualFold(n, name) })
}

func (s *selector) check(bad func(format string, args ...any)) {
	if s.names != nil && len(s.names) == 0 {
		bad("an empty list selects nothing; without %s the rule selects all", s.key)
	}
	for i, name := range s.names {
		before := selector{names: s.names[:i], fold: s.fold}
		switch {
		case name == "":
			bad("an empty name selects nothing; without %s the rule selects all", s.key)
		case strings.ContainsFunc(name, func(c rune) bool { return c == ',' || unicode.IsSpace(c) || unicode.IsControl(c) }):
			bad("%q is not a name; a list is written [a, b]", name)
		case before.has(name):
			bad("%q is in the list twice", name)
		}
	}
}
