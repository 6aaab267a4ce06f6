package limits

import (
	"strings"

	"github.com/varq-project/varq/predictor/workload"
)

// holder is one place where limits can be set.
type holder struct {
	name string // "QOS normal", "account physics"
	*JobLimits
}

// qos returns the partition's QOS and the job's QOS, in the order of their precedence: first the
// partition's, unless the job's has the flag OverPartQOS.
func (c *Cluster) qos(r *workload.Request) []holder {
	var found []holder
	add := func(name string) {
		if q, ok := c.QOS[name]; ok && name != "" {
			found = append(found, holder{"QOS " + name, &q.JobLimits})
		}
	}
	of := c.Partitions[r.Partition].QOS
	switch {
	case of == r.QOS:
		add(of)
	case c.QOS[r.QOS].OverPartQOS:
		add(r.QOS)
		add(of)
	default:
		add(of)
		add(r.QOS)
	}
	return found
}

// associations returns the user's association, and then each of its parent accounts up to the
// root.
func (c *Cluster) associations(r *workload.Request) []holder {
	var found []holder
	if a := c.association(r.User, r.Account, r.Partition); a != nil && r.User != "" {
		found = append(found, holder{"user " + a.User + " in account " + a.Account, &a.JobLimits})
	}
	account := r.Account
	for range len(c.Associations) { // an account that is its own ancestor ends here
		a := c.association("", account, r.Partition)
		if a == nil {
			break
		}
		found = append(found, holder{"account " + a.Account, &a.JobLimits})
		account = a.Parent
	}
	return found
}

// association returns the association of user in account, or nil. It prefers one for the
// partition. An empty user stands for the account itself.
func (c *Cluster) association(user, account, partition string) *Association {
	var found *Association
	for i := range c.Associations {
		a := &c.Associations[i]
		if a.User != user || !strings.EqualFold(a.Account, account) {
			continue
		}
		if a.Partition == partition && partition != "" {
			return a
		}
		if a.Partition == "" && found == nil {
			found = a
		}
	}
	return found
}

// defaultAccount returns the user's default account, or "".
func (c *Cluster) defaultAccount(user string) string {
	for i := range c.Associations {
		if a := &c.Associations[i]; a.User == user && a.Default {
			return a.Account
		}
	}
	return ""
}

// Slurm's own names of the QOS that is the default where no other is, and of the account above all.
const (
	normal = "normal"
	root   = "root"
)

// defaultQOS returns the QOS that Slurm gives to the request's job if its user names none, or "":
// the default of its association or of the nearest parent that has one, else the only QOS that the
// association may use, else normal. For a user without an association it is the root's default.
func (c *Cluster) defaultQOS(r *workload.Request) string {
	own := c.association(r.User, r.Account, r.Partition)
	if own != nil && own.DefaultQOS != "" {
		return own.DefaultQOS
	}
	account := r.Account
	if own == nil {
		account = root
	}
	for range len(c.Associations) {
		a := c.association("", account, r.Partition)
		if a == nil {
			break
		}
		if a.DefaultQOS != "" {
			return a.DefaultQOS
		}
		account = a.Parent
	}
	if own != nil && len(own.QOS) == 1 {
		return own.QOS[0]
	}
	return c.nameOfQOS(normal)
}

// nameOfQOS returns the name of a QOS as Slurm stores it, to which case does not matter, or "" if
// there is no such QOS.
func (c *Cluster) nameOfQOS(name string) string {
	if _, ok := c.QOS[name]; ok {
		return name
	}
	for stored := range c.QOS {
		if strings.EqualFold(stored, name) {
			return stored
		}
	}
	return ""
}
