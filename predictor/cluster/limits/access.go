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
	return err == nil && c.Job(whole, nil).checkAccess() == nil
}

// checkAccess returns the rule by which Slurm would not take a job of this user, account, QOS and
// partition, or nil.
func (j *Job) checkAccess() *Rule {
	if j.cluster.AssociationsEnforced {
		if rule := j.checkAccount(); rule != nil {
			return rule
		}
	}
	if j.cluster.QOSEnforced && j.QOS != "" {
		return j.checkQOS()
	}
	return nil
}

func (j *Job) checkAccount() *Rule {
	of := j.cluster.Associations
	if of.of(j.User, j.Account, j.Partition) == nil {
		open := of.accounts(j.User, func(a *Association) bool { return a.Partition == "" || a.Partition == j.Partition })
		return access("--account=%s: user %s may not use it (account: %s)", j.Account, j.User, list(open))
	}
	p := &j.partition
	if !admitted(j.Account, p.AllowAccounts, p.DenyAccounts) {
		return access("--partition=%s: it is closed to account %s", j.Partition, j.Account)
	}
	return nil
}

func (j *Job) checkQOS() *Rule {
	if a := j.cluster.Associations.of(j.User, j.Account, j.Partition); a != nil && len(a.QOS) > 0 && !containsFold(a.QOS, j.QOS) {
		return access("--qos=%s: user %s may not use it in account %s (QOS: %s)", j.QOS, j.User, j.Account, list(slices.Sorted(slices.Values(a.QOS))))
	}
	p := &j.partition
	if !admitted(j.QOS, p.AllowQOS, p.DenyQOS) {
		return access("--partition=%s: it is closed to QOS %s", j.Partition, j.QOS)
	}
	return nil
}

func access(format string, args ...any) *Rule {
	return &Rule{Name: "access", Says: fmt.Sprintf(format, args...)}
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
