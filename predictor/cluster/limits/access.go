package limits

import (
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/workload"
)

// Admits reports whether Slurm takes jobs of the user, account, QOS and partition of r, however
// small and short they are.
func (c *Cluster) Admits(r workload.Request) bool {
	whole, err := c.Complete(r)
	return err == nil && c.checkAccess(&whole) == nil
}

// checkAccess returns the rule by which Slurm would not take a job of this user, account, QOS and
// partition, or nil.
func (c *Cluster) checkAccess(r *workload.Request) *Rule {
	if c.AssociationsEnforced {
		if rule := c.checkAccount(r); rule != nil {
			return rule
		}
	}
	if c.QOSEnforced && r.QOS != "" {
		return c.checkQOS(r)
	}
	return nil
}

func (c *Cluster) checkAccount(r *workload.Request) *Rule {
	of := c.Associations
	if of.of(r.User, r.Account, r.Partition) == nil {
		open := of.accounts(r.User, func(a *Association) bool { return a.Partition == "" || a.Partition == r.Partition })
		return access("--account=%s: user %s may not use it (account: %s)", r.Account, r.User, list(open))
	}
	p := c.Partitions[r.Partition]
	if !admitted(r.Account, p.AllowAccounts, p.DenyAccounts) {
		return access("--partition=%s: it is closed to account %s", r.Partition, r.Account)
	}
	return nil
}

func (c *Cluster) checkQOS(r *workload.Request) *Rule {
	if a := c.Associations.of(r.User, r.Account, r.Partition); a != nil && len(a.QOS) > 0 && !containsFold(a.QOS, r.QOS) {
		return access("--qos=%s: user %s may not use it in account %s (QOS: %s)", r.QOS, r.User, r.Account, list(slices.Sorted(slices.Values(a.QOS))))
	}
	p := c.Partitions[r.Partition]
	if !admitted(r.QOS, p.AllowQOS, p.DenyQOS) {
		return access("--partition=%s: it is closed to QOS %s", r.Partition, r.QOS)
	}
	return nil
}

// CheckReservation returns the rule by which the reservation that a request names is closed to its
// user and account, or nil.
func (c *Cluster) CheckReservation(r *workload.Request) *Rule {
	v := c.Reservations.Named(r.Reservation)
	if v == nil || v.admits(r) {
		return nil
	}
	return access("%s admits neither user %s nor account %s", v.title(), r.User, r.Account)
}

func access(format string, args ...any) *Rule {
	return &Rule{Name: "access", Says: fmt.Sprintf(format, args...)}
}

// PartitionsOf returns the partitions that are open to an account of a user's, in the order of
// their names. Where no account of hers is known, all are.
func (c *Cluster) PartitionsOf(user string) []string {
	accounts := c.Associations.Accounts(user)
	var open []string
	for name, p := range c.Partitions {
		if len(accounts) == 0 || slices.ContainsFunc(accounts, func(a string) bool { return admitted(a, p.AllowAccounts, p.DenyAccounts) }) {
			open = append(open, name)
		}
	}
	slices.Sort(open)
	return open
}

// admitted reports whether a partition admits a name. As in Slurm, who is denied counts only if
// nobody is allowed by name.
func admitted(name string, allowed, denied []string) bool {
	if len(allowed) > 0 {
		return containsFold(allowed, "all") || containsFold(allowed, name)
	}
	return !containsFold(denied, name)
}

func containsFold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// list writes names for the user.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
