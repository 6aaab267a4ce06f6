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
	t := tending{Daemon: d, tries: mostTries}
	d.repeat(ctx, partNodes, t.look)
}

// mostTries is how often the past of the nodes is asked for, once for each look.
const mostTries = 30

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

// startOf returns from when on a past is known: from the first entry that has ended, as one that has not may be
// all that is left of its time. It is now if there is none.
func startOf(past []sacctmgr.Event, now int64) int64 {
	start := now
	for i := range past {
		if past[i].End != 0 {
			start = min(start, past[i].Start)
		}
	}
	return max(start, now-pastMost)
}

// tending is the state of the loop tend.
type tending struct {
	*Daemon
	tries int              // to read the past that are left
	past  []sacctmgr.Event // what the next look takes in
	since int64            // from when on the past is known, Unix seconds; 0 before the first look
	last  time.Time        // of the last look, zero before
}

// readPast reads the past of the nodes, unless that is done or hopeless. Slurm may not answer at first.
func (t *tending) readPast(ctx context.Context) {
	if t.tries == 0 {
		return
	}
	t.tries--
	past, err := t.pastOfNodes(ctx)
	switch {
	case err == nil:
		t.past, t.since, t.tries = past, startOf(past, t.clock.now()), 0
		return
	case ctx.Err() != nil:
		return
	case !errors.Is(err, slurm.ErrUnavailable):
		t.tries = 0
	}
	if t.since == 0 || t.tries == 0 {
		t.log.Warn("the past of the nodes is not known: varqd learns which of them fail from now on", "error", err)
	}
	if t.since == 0 {
		t.since = t.clock.now()
	}
}

// look reads the nodes, unless that is to wait. It returns the time until the next look.
func (t *tending) look(ctx context.Context) (pause time.Duration, err error) {
	refresh := time.Duration(t.config.Watch.Refresh)
	pause = min(tendEvery, refresh)
	first := t.last.IsZero()
	if !first && !t.looks.all.free() && t.looks.now().Sub(t.last) < refresh {
		return pause, nil
	}
	t.readPast(ctx)
	nodes, err := t.slurm.Nodes(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the nodes: %w", err)
	}
	past := t.past != nil
	now := t.clock.now()
	events := t.nodes.Observe(t.past, nodes, now)
	names := make([]string, len(nodes))
	for i := range nodes {
		names[i] = nodes[i].Name
	}
	t.risks.Learn(names, events, t.since, now)
	t.nodesAt.Store(now)
	t.past, t.last = nil, t.looks.now()
	if first || past {
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

// Nodes implements server.Service. A node that is out of service cannot fail: its risk is 0.
func (s service) Nodes(context.Context) (api.Nodes, error) {
	d := s.daemon
	from := d.risks.Learnt()
	if from.Since == 0 {
		return api.Nodes{}, api.Fault(api.ErrUnavailable, "varqd has not read the nodes since it started; try again in a minute")
	}
	statuses := d.nodes.Nodes()
	list := api.Nodes{At: d.nodesAt.Load(), Since: from.Since, Failures: from.Failures, Nodes: make([]api.Node, len(statuses))}
	for i, n := range statuses {
		list.Nodes[i] = api.Node{Name: n.Node, State: string(n.State), Reason: n.Reason, By: n.By, Since: n.Since, Back: n.Back}
		if !n.State.Out() {
			risk := d.risks.Of(n.Node)
			list.Nodes[i].Risk, list.Nodes[i].Why = risk.Prob, risk.Why
		}
	}
	slices.SortStableFunc(list.Nodes, func(a, b api.Node) int { return cmp.Compare(b.Risk, a.Risk) })
	return list, nil
}
