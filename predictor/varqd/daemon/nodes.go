package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/sacctmgr"
)

// tendEvery is the time between two looks at the nodes. They wait while slurmrestd has been busy for
// longer than it may be, but not for longer than limits are read anyway.
const tendEvery = time.Minute

// tend is a loop. It follows the health of the nodes. It begins when accounting has answered, as it is to
// tell of their past.
func (d *Daemon) tend(ctx context.Context) {
	if !d.pastLoaded.wait(ctx) {
		return
	}
	past, err := d.pastOfNodes(ctx)
	if err != nil && ctx.Err() == nil {
		d.log.Warn("the past of the nodes is not known", "error", err)
	}
	t := tending{Daemon: d, past: past}
	d.repeat(ctx, partNodes, t.look)
}

// The history of the nodes is read as far back as pastMost, as failures are rare, and if that is too
// much at once, at least pastLeast. In seconds.
const pastMost, pastLeast = 3 * 365 * 86400, 86400

// pastOfNodes reads the history of the nodes, as much as can be read at once.
func (d *Daemon) pastOfNodes(ctx context.Context) (past []sacctmgr.Event, err error) {
	for span := int64(pastMost); span >= pastLeast; span /= 4 {
		if past, err = d.slurm.NodeEvents(ctx, d.clock.now()-span); !errors.Is(err, slurm.ErrTooMuch) {
			break
		}
	}
	return past, err
}

// tending is the state of the loop tend.
type tending struct {
	*Daemon
	past []sacctmgr.Event // what the first look takes in
	last time.Time        // of the last look, zero before
}

// look reads the nodes, unless that is to wait. It returns the time until the next look.
func (t *tending) look(ctx context.Context) (pause time.Duration, err error) {
	refresh := time.Duration(t.config.Watch.Refresh)
	pause = min(tendEvery, refresh)
	first := t.last.IsZero()
	if !first && !t.looks.all.free() && t.looks.now().Sub(t.last) < refresh {
		return pause, nil
	}
	nodes, err := t.slurm.Nodes(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the nodes: %w", err)
	}
	now := t.clock.now()
	events := t.nodes.Observe(t.past, nodes, now)
	names := make([]string, len(nodes))
	for i := range nodes {
		names[i] = nodes[i].Name
	}
	t.risks.Learn(names, events, now)
	t.nodesAt.Store(now)
	t.past, t.last = nil, t.looks.now()
	if first {
		t.log.Info("the past of the nodes is taken in", "events", len(events))
	} else {
		t.reportFailures(events)
	}
	return pause, nil
}

// mostNamed is how many nodes a line of the log names.
const mostNamed = 10

// reportFailures logs which nodes have failed.
func (d *Daemon) reportFailures(events []fault.Event) {
	var failed []string
	for _, e := range events {
		if e.Kind == fault.Failure && !slices.Contains(failed, e.Node) {
			failed = append(failed, e.Node)
		}
	}
	if len(failed) > 0 {
		d.log.Warn("nodes have failed", "number", len(failed), "nodes", strings.Join(failed[:min(len(failed), mostNamed)], ","))
	}
}

// Nodes implements server.Service.
func (s service) Nodes(context.Context) (api.Nodes, error) {
	d := s.daemon
	statuses := d.nodes.Nodes()
	names := make([]string, len(statuses))
	for i := range statuses {
		names[i] = statuses[i].Node
	}
	risks, from, ok := d.risks.Of(names)
	if !ok {
		return api.Nodes{}, api.Fault(api.ErrUnavailable, "varqd has not read the nodes since it started; try again in a minute")
	}
	list := api.Nodes{At: d.nodesAt.Load(), Since: from.Since, Failures: from.Failures, Nodes: make([]api.Node, len(statuses))}
	for i, n := range statuses {
		list.Nodes[i] = api.Node{
			Name: n.Node, Risk: risks[i].Prob, Why: risks[i].Why, State: string(n.State),
			Reason: n.Reason, By: n.By, Since: n.Since, Back: n.Back,
		}
	}
	slices.SortStableFunc(list.Nodes, func(a, b api.Node) int { return cmp.Compare(b.Risk, a.Risk) })
	return list, nil
}
