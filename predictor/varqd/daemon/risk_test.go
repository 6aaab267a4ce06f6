package daemon

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/sacctmgr"
	"github.com/varq-project/varq/predictor/workload"
)

// maintainedSlurm has nodes that fail, and a maintenance.
type maintainedSlurm struct {
	*frailSlurm
	maintenance limits.Reservation
}

func (s maintainedSlurm) Cluster(ctx context.Context) (limits.Cluster, error) {
	c, err := s.frailSlurm.Cluster(ctx)
	c.Reservations = append(c.Reservations, s.maintenance)
	return c, err
}

// privateSlurm shows its nodes to operators only.
type privateSlurm struct{ *frailSlurm }

func (s privateSlurm) Cluster(ctx context.Context) (limits.Cluster, error) {
	c, err := s.frailSlurm.Cluster(ctx)
	c.PrivateNodes = true
	return c, err
}

// TestRisk: the risk of a job's nodes is that of the set, and comes with what else stops the job.
func TestRisk(t *testing.T) {
	now := time.Now()
	start := now.Unix() - 300*86400
	fake := &frailSlurm{span: 4 * pastMost}
	for _, name := range []string{"a", "b", "c", "d"} {
		fake.nodes = append(fake.nodes, slurm.Node{Name: name, State: "ALLOCATED"})
	}
	fake.nodes[3].State, fake.nodes[3].Reason, fake.nodes[3].ReasonBy, fake.nodes[3].ReasonAt = "ALLOCATED+DRAIN", "fan", "root", now.Unix()-50
	for i := range int64(30) {
		at := start + i*9*86400
		fake.events = append(fake.events, sacctmgr.Event{Node: "a", Start: at, End: at + 900, State: "DOWN", Reason: "Not responding"},
			sacctmgr.Event{Node: "b", Start: at, End: at + 900, State: "DOWN", Reason: "Not responding"})
	}
	d, _ := frail(t, func() time.Time { return now }, fake)
	s := service{Keeper: d.keeper, daemon: d}
	if _, err := s.Risk(t.Context(), "alice", []string{"a"}); !errors.Is(err, api.ErrUnavailable) {
		t.Errorf("before the first look: %v", err)
	}
	d.premises.Slurm = maintainedSlurm{fake, limits.Reservation{Name: "upgrade", Start: now.Unix() + 7200, End: now.Unix() + 9000, Nodes: []string{"c"}, Maintenance: true}}
	if err := d.premises.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	tending := tending{Daemon: d, tries: mostTries}
	if _, err := tending.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	of := func(nodes ...string) api.Risk {
		t.Helper()
		r, err := s.Risk(t.Context(), "alice", nodes)
		if err != nil {
			t.Fatal(err)
		}
		last := api.ExpectedFailures{}
		for _, w := range r.Within {
			if w.Within <= last.Within || !(w.Failures >= last.Failures) {
				t.Errorf("%v: %+v after %+v", nodes, w, last)
			}
			last = w
		}
		if r.At != now.Unix() || r.Since != start || r.Failures != 60 || last.Failures <= 0 || !(r.Rate > 0) {
			t.Errorf("%v: %+v", nodes, r)
		}
		return r
	}
	a, both, c := of("a"), of("a", "b", "a"), of("c")
	daily := func(r api.Risk) float64 { return r.Within[2].Failures }
	if both.Nodes != 2 || daily(both) < daily(a) || daily(both) > 1.8*daily(a) {
		t.Errorf("two nodes that fail together: %+v, one of them: %+v", both, a)
	}
	if daily(c) > daily(a)/2 || both.Rate < a.Rate || c.Rate >= a.Rate/2 || math.Abs(a.Rate*604800/a.Within[4].Failures-1) > 1e-9 {
		t.Errorf("a node that never fails: %+v, one that does: %+v", c, a)
	}
	if a.Maintenance != nil || a.Drain != nil || c.Drain != nil || c.Maintenance == nil || *c.Maintenance != (api.Maintenance{Name: "upgrade", Start: now.Unix() + 7200}) {
		t.Errorf("%+v, %+v", a.Maintenance, c)
	}
	if all := of("d", "c", "b", "a"); all.Drain == nil || *all.Drain != (api.Drain{Node: "d", Since: now.Unix() - 50, Reason: "fan", By: "root"}) || all.Maintenance == nil {
		t.Errorf("%+v", all)
	}
	if _, err := s.Risk(t.Context(), "alice", []string{"a", "z9"}); !errors.Is(err, api.ErrNotFound) || err.Error() != "Slurm has no node z9" {
		t.Error(err)
	}

	// Where nodes are private, users are told of those of their own running jobs, and not which
	// others there are.
	d.premises.Slurm = privateSlurm{fake}
	if err := d.premises.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.running.Store(runningJobs([]slurm.QueueEntry{
		{Job: workload.Job{Request: workload.Request{User: "alice"}, State: workload.Running, On: []string{"a", "b"}}},
		{Job: workload.Job{Request: workload.Request{User: "bob"}, State: workload.Running, On: []string{"b", "c"}}},
		{Job: workload.Job{Request: workload.Request{User: "alice"}, State: workload.Pending, On: []string{"d"}}},
	}))
	for list, allowed := range map[string]bool{"a": true, "a,b": true, "c": false, "a,c": false, "d": false, "z9": false} {
		if _, err := s.Risk(t.Context(), "alice", strings.Split(list, ",")); (err == nil) != allowed || !allowed && !errors.Is(err, api.ErrForbidden) {
			t.Errorf("alice about %s: %v", list, err)
		}
	}
}
