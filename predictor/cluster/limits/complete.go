package limits

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/workload"
)

// Complete fills in what Slurm would: the default partition, the user's default account, the QOS
// that the association or Slurm gives by default, the partition's default time or, if it has none,
// the longest that such a job may have, one node, and one CPU a node. Its error is for the user,
// and says what is missing or unknown, or that the partition is not up, or that Slurm would take no
// job of the user's.
func (c *Cluster) Complete(r workload.Request) (workload.Request, error) {
	if c.AssociationsEnforced && !c.Associations.has(r.User) {
		return r, fmt.Errorf("user %s has no account (association), and Slurm takes no jobs without one: ask whoever runs the cluster", r.User)
	}
	if r.Partition == "" {
		r.Partition = c.DefaultPartition()
	}
	p, ok := c.Partitions[r.Partition]
	switch {
	case r.Partition == "":
		return r, fmt.Errorf("no partition given, and the cluster has no default partition")
	case !ok && strings.Contains(r.Partition, ","):
		return r, fmt.Errorf("partition %s: these are several, and varq looks at one: name it", r.Partition)
	case !ok:
		return r, errors.New(c.NoPartition(r.Partition))
	case !p.Up:
		return r, errors.New(p.Closed())
	}
	if r.Account == "" {
		r.Account = c.Associations.defaultAccount(r.User)
	}
	r.Account = strings.ToLower(r.Account) // as Slurm stores the names of accounts
	if r.QOS == "" {
		r.QOS = cmp.Or(c.Associations.defaultQOS(r.User, r.Account, r.Partition), c.nameOfQOS(normal))
	} else if c.QOS != nil {
		name := c.nameOfQOS(r.QOS)
		if name == "" {
			return r, fmt.Errorf("unknown QOS %q", r.QOS)
		}
		r.QOS = name
	}
	r.Nodes = max(r.Nodes, 1)
	r.CPUs = max(r.CPUs, r.Nodes)
	if r.Limit == 0 {
		r.Limit = p.DefaultTime
	}
	if r.Limit <= 0 {
		r.Limit, _ = c.Job(r, nil).MaxLimit()
	}
	if r.Limit <= 0 {
		return r, fmt.Errorf("no time limit given, and partition %s has none: say with --time how long the work takes at most", r.Partition)
	}
	return r, nil
}

// CompleteWith is Complete for a job with needs: it fills in the nodes on which alone it may run,
// unless the request has them, the licences that can run out, the CPUs of its nodes if it is alone
// on them, and their memory if it asks for all.
func (c *Cluster) CompleteWith(r workload.Request, n *workload.Needs) (workload.Request, error) {
	r, err := c.Complete(r)
	if err != nil {
		return r, err
	}
	if n != nil && c.Reservations.Named(n.Reservation) != nil {
		r.Reservation = n.Reservation
	}
	if n != nil && r.Licences == "" {
		r.Licences = c.Licences(n.Licenses)
	}
	if r.NodeSet == "" {
		r.NodeSet = c.Job(r, n).NodeSet()
	}
	job := c.Job(r, n)
	if job.alone() {
		r.CPUs = max(r.CPUs, job.wholeNodes(r.Nodes))
	}
	if all, ok := job.asksAllMemory(); ok {
		r.Memory = all
	}
	return r, nil
}

// mostPartitions is how many partitions NoPartition names.
const mostPartitions = 12

// NoPartition says that there is no partition of a name, and which there are: a sentence without a
// full stop.
func (c *Cluster) NoPartition(name string) string {
	names := slices.Sorted(maps.Keys(c.Partitions))
	text := fmt.Sprintf("no partition %.60q", name)
	switch more := len(names) - mostPartitions; {
	case len(names) == 0:
		return text
	case more > 0:
		return fmt.Sprintf("%s (there are %s and %d more)", text, strings.Join(names[:mostPartitions], ", "), more)
	case len(names) == 1:
		return fmt.Sprintf("%s (there is %s)", text, names[0])
	}
	return fmt.Sprintf("%s (there are %s)", text, strings.Join(names, ", "))
}

// closures says by Slurm's state of a partition what keeps its jobs from starting.
var closures = map[string]string{"DRAIN": "is drained", "INACTIVE": "is inactive"}

// Closed says why no job starts in a partition that is not up: a sentence without a full stop.
func (p *Partition) Closed() string {
	return "partition " + p.Name + " " + cmp.Or(closures[p.State], "is down")
}

// normal is Slurm's own name of the QOS that is the default where no other is.
const normal = "normal"

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

// DefaultPartition returns the name of the default partition, or "".
func (c *Cluster) DefaultPartition() string {
	name := ""
	for n, p := range c.Partitions {
		if p.Default && (name == "" || n < name) {
			name = n
		}
	}
	return name
}
