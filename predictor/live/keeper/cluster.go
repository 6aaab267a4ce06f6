package keeper

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
)

// clusterState is what the last Refresh read. It is immutable.
type clusterState struct {
	limits    limits.Cluster
	operators []string
	at        int64 // when it was read
}

// Refresh reads limits, nodes and operators from Slurm. If one of the three cannot be
// read, the state from before stays in use.
func (k *Keeper) Refresh(ctx context.Context) error {
	now := k.Now()
	rules, err := k.Slurm.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("read the cluster's limits: %w", err)
	}
	nodes, err := k.Slurm.Nodes(ctx)
	if err != nil {
		return fmt.Errorf("read the cluster's nodes: %w", err)
	}
	operators, err := k.Slurm.Operators(ctx)
	if err != nil {
		return fmt.Errorf("read Slurm's operators: %w", err)
	}
	rules.Repeat(now, k.Zone)
	nodes = slurm.Maintained(nodes, rules.Reservations, now)
	rules.Nodes = slurm.LimitsNodes(nodes)
	k.Outlook.ObserveCluster(&rules, nodes)
	k.cluster.Store(&clusterState{limits: rules, operators: operators, at: k.Now()})
	return nil
}

// Ready returns nil if promises can be made. Otherwise the error says why not.
func (k *Keeper) Ready() error {
	if err := k.Outlook.Ready(); err != nil {
		return err
	}
	c := k.cluster.Load()
	if c == nil {
		return errors.New("varqd has not reached Slurm yet")
	}
	if age := k.Now() - c.at; age > k.Stale {
		return fmt.Errorf("varqd has not reached Slurm for %d minutes", age/60)
	}
	return nil
}

// planner returns a planner with the cluster's state, for which other promises claim no room. It
// returns an api.ErrUnavailable while Ready returns an error.
func (k *Keeper) planner() (*trajectory.Planner, error) {
	if err := k.Ready(); err != nil {
		return nil, api.Fault(api.ErrUnavailable, err.Error())
	}
	return &trajectory.Planner{
		Forecaster: k.Outlook, Cluster: &k.cluster.Load().limits, Jobs: k.Outlook.Jobs, Horizon: k.Horizon, MaxHold: k.MaxHold, Confidence: k.Confidence,
		Room: k.room(nil),
	}, nil
}

// Maintenance returns when the next maintenance begins on one of these nodes, as far as Slurm's reservations
// tell, or nil.
func (k *Keeper) Maintenance(nodes map[string]bool) *api.Maintenance {
	c := k.cluster.Load()
	if c == nil {
		return nil
	}
	v, start := c.limits.Maintenance(nodes, k.Now())
	if v == nil {
		return nil
	}
	return &api.Maintenance{Name: v.Name, Start: start}
}

// Known returns an api.ErrUnavailable as long as Slurm has not told who its operators are, and what is private.
func (k *Keeper) Known() error {
	if k.cluster.Load() == nil {
		return api.Fault(api.ErrUnavailable, "varqd has just started, and does not know yet who Slurm's operators are and what they alone may see: try again in a moment")
	}
	return nil
}

// Operator reports whether user may see the reservations of all users: nobody but root as long as Known returns an error.
func (k *Keeper) Operator(user string) bool {
	if user == "root" {
		return true
	}
	c := k.cluster.Load()
	return c != nil && slices.Contains(c.operators, user)
}

// MaySeeNodes returns an api.ErrForbidden if user may not see the nodes, and what Known returns if nobody can tell.
func (k *Keeper) MaySeeNodes(user string) error {
	if k.Operator(user) {
		return nil
	}
	if err := k.Known(); err != nil {
		return err
	}
	if !k.cluster.Load().limits.PrivateNodes {
		return nil
	}
	return api.Fault(api.ErrForbidden, "only Slurm's operators may see the nodes (PrivateData=nodes in slurm.conf)")
}
