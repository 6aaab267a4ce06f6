package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
)

// Unknown is a name by which a rule selects, and that Slurm does not have: the rule selects nothing
// by it.
type Unknown struct {
	Rule string // the rule's name
	Kind string // "partition", "account", "qos" or "user"
	Name string
}

// String returns a sentence for the administrator.
func (u Unknown) String() string {
	return fmt.Sprintf("rule %q names %s %s, which Slurm does not have", u.Rule, u.Kind, u.Name)
}

// Unknown returns the names of the rules that Slurm does not have, in the order of the rules. Where
// Slurm takes jobs without an association, it has users and accounts of any name.
func (rules Rules) Unknown(c *limits.Cluster) []Unknown {
	var found []Unknown
	for i := range rules {
		r := &rules[i]
		check := func(kind string, names []string, known func(string) bool) {
			for _, name := range names {
				if !known(name) {
					found = append(found, Unknown{r.Name, kind, name})
				}
			}
		}
		check("partition", r.Partitions, func(name string) bool { _, ok := c.Partitions[name]; return ok })
		check("qos", r.QOS, func(name string) bool { _, ok := c.QOS[name]; return ok })
		if !c.AssociationsEnforced {
			continue
		}
		associated := func(is func(*limits.Association) bool) bool {
			return slices.ContainsFunc(c.Associations, func(a limits.Association) bool { return is(&a) })
		}
		check("account", r.Accounts, func(name string) bool {
			return associated(func(a *limits.Association) bool { return strings.EqualFold(a.Account, name) })
		})
		check("user", r.Users, func(name string) bool {
			return associated(func(a *limits.Association) bool { return a.User == name })
		})
	}
	return found
}
