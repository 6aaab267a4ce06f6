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
	"github.com/varq-project/varq/predictor/live/faultscore"
	"github.com/varq-project/varq/predictor/live/health"
	"github.com/varq-project/varq/predictor/live/idle"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/sacctmgr"
	"github.com/varq-project/varq/predictor/workload"
)

// tendEvery is the time between two looks at the nodes. They wait while slurmrestd has been busy
// for longer than it may be, but not for longer than limits are read anyway.
const tendEvery = time.Minute

// tend is a loop. It follows the health of the nodes. It begins when accounting has answered, as it
// is to tell of their past.
func (d *Daemon) tend(ctx context.Context) {
	if !d.pastLoaded.wait(ctx) {
		return
	}
	t := tending{Daemon: d, tries: mostTries}
	d.repeat(ctx, partNodes, t.look)
}

// mostTries is how often the past of the nodes is asked for, once for each look.
const mostTries = 30

// The history of the nodes is read as far back as pastMost, as failures are rare, and if that is
// too much at once, at least pastLeast. In seconds.
const pastMost, pastLeast = 3 * 365 * 86400, 86400

// pastOfNodes reads the history of the nodes since a time, or, if that is 0, as much as can be read
// at once. It returns from when on that is known.
func (d *Daemon) pastOfNodes(ctx context.Context, since int64) (past []sacctmgr.Event, from int64, err error) {
	now := d.clock.now()
	span := int64(pastMost)
	if since != 0 {
		span = now - since
	}
	for {
		from = now - span
		past, err = d.slurm.NodeEvents(ctx, from)
		if span /= 4; span < pastLeast || !errors.Is(err, slurm.ErrTooMuch) {
			return past, from, err
		}
	}
}

// startOf returns from when on a past is known: from the first entry that has ended, as one that
// has not may be all that is left of its time. It is now if there is none.
func startOf(past []sacctmgr.Event, now int64) int64 {
	start := now
	for i := range past {
		if past[i].End != 0 {
			start = min(start, past[i].Start)
		}
	}
	return max(start, now-pastMost)
}

// tending is the state of the loop tend. Accounting's history is read at first, and when forecasts
// are to be scored: varqd may have missed failures that were over soon, or was down.
type tending struct {
	*Daemon
	tries  int              // to read the history that are left
	unread int64            // from when on it is to be read, Unix seconds; 0 stands for all of it
	past   []sacctmgr.Event // what the next look takes in
	// from when on there is something to learn from, Unix seconds; 0 before the first look
	since int64
	known int64 // from when on failures are known by the history, Unix seconds, or 0
	// from when on no look was missed, Unix seconds; 0 before the first look
	watched int64
	last    time.Time // of the last look, zero before
}

// readPast reads the history of the nodes, unless that is done or hopeless. Slurm may not answer at
// first.
func (t *tending) readPast(ctx context.Context) {
	if t.tries == 0 {
		first, over := t.faults.Over(t.clock.now())
		if !over {
			return
		}
		t.tries, t.unread, t.known = mostTries, first, 0
	}
	t.tries--
	past, from, err := t.pastOfNodes(ctx, t.unread)
	switch {
	case err == nil:
		t.past, t.known, t.tries = past, from, 0
		if t.unread == 0 {
			t.since = startOf(past, t.clock.now())
		}
		return
	case ctx.Err() != nil:
		return
	case !errors.Is(err, slurm.ErrUnavailable):
		t.tries = 0
	}
	if t.since == 0 || t.tries == 0 && t.unread == 0 {
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
	begins := t.unread == 0 && t.past != nil
	now := t.clock.now()
	if err := t.idle.Record(ctx, "", now, idle.Count(nodes)); err != nil && ctx.Err() == nil {
		t.log.Warn("how many nodes are idle is not recorded", "error", err)
	}
	t.addresses.List(nodes)
	events := slices.Concat(t.nodes.Observe(t.past, nodes, now), t.vitals.Take())
	names := make([]string, len(nodes))
	for i := range nodes {
		names[i] = nodes[i].Name
	}
	t.vitals.Keep(names)
	var voices []health.Voice
	t.risks.Learn(names, events, t.since, now, func() []health.Voice {
		if !begins {
			t.sites.happened(events)
		}
		voices = t.askOfNodes(names, now)
		return voices
	})
	t.nodesAt.Store(now)
	t.nodesSeen.set()
	if first || t.looks.now().Sub(t.last) > refresh+blind {
		t.watched = now
	}
	t.past, t.last = nil, t.looks.now()
	if first || begins {
		t.log.Info("the past of the nodes is taken in", "events", len(events))
		for _, f := range t.sites.faults {
			f.Relearn()
		}
	} else {
		t.reportFailures(events)
	}
	return pause, t.score(ctx, names, events, voices, now)
}

// blind is by how much a look may be late without failures being missed.
const blind = 10 * time.Minute

// askOfNodes asks the site's own forecasters about the nodes.
func (d *Daemon) askOfNodes(nodes []string, now int64) (voices []health.Voice) {
	for _, f := range d.sites.faults {
		voices = append(voices, health.Voice{Name: f.Name(), Part: d.faults.Part(f.Name()), Expected: f.Expected(nodes, now, 86400)})
	}
	return voices
}

// score scores forecasts of failures. It waits as long as the history may yet be read.
func (t *tending) score(ctx context.Context, nodes []string, events []fault.Event, voices []health.Voice, now int64) error {
	look := faultscore.Look{At: now, Nodes: nodes, Failed: events, Known: t.known, Forecast: func() faultscore.Forecasts { return t.forecasts(voices) }}
	if t.known == 0 && t.tries == 0 {
		look.Known = t.watched
	}
	return t.faults.Observe(ctx, look)
}

// forecasts returns what is forecast of the nodes in service. One that drains is soon out of it.
func (d *Daemon) forecasts(voices []health.Voice) faultscore.Forecasts {
	f := faultscore.Forecasts{Expected: map[string][]float64{}}
	say := func(forecaster string, expected float64) {
		f.Expected[forecaster] = append(f.Expected[forecaster], expected)
	}
	for _, n := range d.nodes.Nodes() {
		if n.State.Out() || n.State == health.Draining {
			continue
		}
		risk := d.risks.Of(n.Node)
		f.Nodes = append(f.Nodes, n.Node)
		say(faultscore.Blend, risk.Expected)
		for i, voter := range fault.Voters {
			say(voter, risk.Votes[i])
		}
		if len(voices) > 0 {
			say(faultscore.Model, risk.Model)
		}
		for _, v := range voices {
			expected, known := v.Expected[n.Node]
			if !known {
				expected = -1
			}
			say(v.Name, expected)
		}
	}
	f.Sets = d.sets(f.Nodes)
	return f
}

// running is a job that runs.
type running struct {
	user  string
	nodes []string
}

// runningJobs returns the jobs that run and have nodes.
func runningJobs(queue []slurm.QueueEntry) *[]running {
	var list []running
	for i := range queue {
		if j := &queue[i]; j.State == workload.Running && !j.Completing && len(j.On) > 0 {
			list = append(list, running{j.User, j.On})
		}
	}
	return &list
}

// nodesOf returns the nodes of a user's running jobs, as far as they are known.
func (d *Daemon) nodesOf(user string) map[string]bool {
	nodes := map[string]bool{}
	if jobs := d.running.Load(); jobs != nil {
		for _, j := range *jobs {
			if j.user != user {
				continue
			}
			for _, name := range j.nodes {
				nodes[name] = true
			}
		}
	}
	return nodes
}

// sets returns what is forecast of the nodes of each running job together, if all of them are in
// service.
func (d *Daemon) sets(inService []string) (sets []faultscore.Set) {
	jobs := d.running.Load()
	forecast, _ := d.risks.Forecast()
	if jobs == nil || forecast == nil {
		return nil
	}
	var several [][]string
	for _, j := range *jobs {
		if len(j.nodes) > 1 {
			several = append(several, j.nodes)
		}
	}
	slices.SortFunc(several, slices.Compare)
	// job arrays' tasks may share their nodes
	for _, nodes := range slices.CompactFunc(several, slices.Equal) {
		if slices.ContainsFunc(nodes, func(node string) bool { _, ok := slices.BinarySearch(inService, node); return !ok }) {
			continue
		}
		sets = append(sets, faultscore.Set{Nodes: nodes, Prob: forecast.Prob(nodes, 0, 86400)})
	}
	return sets
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

var errNodesUnread = api.Fault(api.ErrUnavailable, "varqd has not read the nodes since it started; try again in a minute")

// Nodes implements server.Service. A node that is out of service cannot fail: its risk is 0.
func (s service) Nodes(_ context.Context, user string) (api.Nodes, error) {
	d := s.daemon
	if err := d.premises.MaySeeNodes(user); err != nil {
		return api.Nodes{}, err
	}
	from := d.risks.Learnt()
	if from.Since == 0 {
		return api.Nodes{}, errNodesUnread
	}
	statuses := d.nodes.Nodes()
	list := api.Nodes{At: d.nodesAt.Load(), Since: from.Since, Failures: from.Failures, Nodes: make([]api.Node, len(statuses))}
	for i, n := range statuses {
		list.Nodes[i] = api.Node{Name: n.Node, State: string(n.State), Reason: n.Reason, By: n.By, Since: n.Since, Back: n.Back}
		if !n.State.Out() {
			risk := d.risks.Of(n.Node)
			list.Nodes[i].Risk, list.Nodes[i].Why = risk.Prob, risk.Why
		}
		list.Nodes[i].Heard, list.Nodes[i].Noticed = d.vitals.Of(n.Node)
	}
	slices.SortStableFunc(list.Nodes, func(a, b api.Node) int { return cmp.Compare(b.Risk, a.Risk) })
	return list, nil
}
