// Package premises has the premises of every promise: the cluster's limits, nodes and operators, as
// Slurm reports them. Times are Unix seconds.
package premises

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Slurm is how the premises are read. Any call may return slurm.ErrUnavailable.
type Slurm interface {
	// Cluster returns the limits of partitions, associations and QOS, and the
	// reservations of Slurm itself.
	Cluster(ctx context.Context) (limits.Cluster, error)
	// Nodes returns all nodes.
	Nodes(ctx context.Context) ([]slurm.Node, error)
	// Operators returns the users who may see and change the jobs of all users.
	Operators(ctx context.Context) ([]string, error)
}

// Options configure Premises.
type Options struct {
	Slurm Slurm
	// Observe takes in what Refresh has read.
	Observe func(c *limits.Cluster, nodes []slurm.Node)
	// Loaded returns nil once the past is loaded. Before, its error says how much is.
	Loaded func() error
	// Now is the clock, in Unix seconds.
	Now func() int64
	// Zone is the site's time zone, in which Slurm's reservations are repeated.
	Zone *time.Location
	// Stale is the greatest age of the last Refresh, in seconds, with which Ready returns nil.
	Stale int64
}

// Premises are the cluster's limits, nodes and operators. Their methods may be called concurrently.
type Premises struct {
	Options
	current atomic.Pointer[state] // as of the last Refresh; nil before the first
}

// New returns Premises of which nothing is known before Refresh has succeeded.
func New(o Options) *Premises { return &Premises{Options: o} }

// state is what the last Refresh read. It is immutable, but for what sets remembers.
type state struct {
	limits    limits.Cluster
	operators []string
	at        int64 // when it was read
	sets      nodeSets
}

// Refresh reads limits, nodes and operators from Slurm. If one of the three cannot be
// read, the state from before stays in use.
func (p *Premises) Refresh(ctx context.Context) error {
	now := p.Now()
	rules, err := p.Slurm.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("read the cluster's limits: %w", err)
	}
	nodes, err := p.Slurm.Nodes(ctx)
	if err != nil {
		return fmt.Errorf("read the cluster's nodes: %w", err)
	}
	operators, err := p.Slurm.Operators(ctx)
	if err != nil {
		return fmt.Errorf("read Slurm's operators: %w", err)
	}
	rules.Repeat(now, p.Zone)
	nodes = slurm.Maintained(nodes, rules.Reservations, now)
	rules.Nodes = slurm.LimitsNodes(nodes)
	p.Observe(&rules, nodes)
	is := &state{limits: rules, operators: operators, at: p.Now()}
	is.sets.of = is.limits.NodeSets()
	p.current.Store(is)
	return nil
}

// Ready returns nil if promises can be made. Otherwise the error says why not.
func (p *Premises) Ready() error {
	if err := p.Loaded(); err != nil {
		return err
	}
	c := p.current.Load()
	if c == nil {
		return errors.New("varqd has not reached Slurm yet")
	}
	if age := p.Now() - c.at; age > p.Stale {
		return fmt.Errorf("varqd has not reached Slurm for %d minutes", age/60)
	}
	return nil
}

// Maintenance returns when the next maintenance begins on one of these nodes, as far as Slurm's
// reservations tell, or nil.
func (p *Premises) Maintenance(nodes map[string]bool) *api.Maintenance {
	c := p.current.Load()
	if c == nil {
		return nil
	}
	v, start := c.limits.Reservations.Maintenance(nodes, p.Now())
	if v == nil {
		return nil
	}
	m := api.Maintenance{Name: v.Name, Start: start}
	if v.Hidden {
		m.Name = ""
	}
	return &m
}

// Known returns an api.ErrUnavailable as long as Slurm has not told who its operators are, and what
// is private.
func (p *Premises) Known() error {
	if p.current.Load() == nil {
		return api.Fault(api.ErrUnavailable, "varqd has just started, and does not know yet who Slurm's operators are and what they alone may see: try again in a moment")
	}
	return nil
}

// Operator reports whether user may see the reservations of all users: nobody but root as long as
// Known returns an error.
func (p *Premises) Operator(user string) bool {
	if user == "root" {
		return true
	}
	c := p.current.Load()
	return c != nil && slices.Contains(c.operators, user)
}

// MaySeeJobs reports whether user may see the jobs of others.
func (p *Premises) MaySeeJobs(user string) bool {
	c := p.current.Load()
	return p.Operator(user) || c != nil && !c.limits.PrivateJobs
}

// MaySeeNodes returns an api.ErrForbidden if user may not see the nodes or their failures, and what
// Known returns if nobody can tell.
func (p *Premises) MaySeeNodes(user string) error {
	if p.Operator(user) {
		return nil
	}
	if err := p.Known(); err != nil {
		return err
	}
	switch l := &p.current.Load().limits; {
	case l.PrivateNodes:
		return api.Fault(api.ErrForbidden, "only Slurm's operators may see the nodes (PrivateData=nodes in slurm.conf)")
	case l.PrivateEvents:
		return api.Fault(api.ErrForbidden, "only Slurm's operators may see when nodes failed (PrivateData=events in slurm.conf)")
	}
	return nil
}

// Limits returns the cluster's limits and nodes, which must not be changed, or nil before the first
// Refresh.
func (p *Premises) Limits() *limits.Cluster {
	if c := p.current.Load(); c != nil {
		return &c.limits
	}
	return nil
}

// Missing says which nodes keep a job from starting: too few others can start jobs, and nobody
// knows when these come back. It returns "" if none do, and before the first Refresh.
func (p *Premises) Missing(r workload.Request) string {
	if c := p.Limits(); c != nil {
		return c.Job(r, nil).Missing()
	}
	return ""
}
