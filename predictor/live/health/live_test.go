package health_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/live/health"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/sacctmgr"
	"github.com/varq-project/varq/predictor/slurm/slurmrestd"
	"github.com/varq-project/varq/test/cluster"
)

// live follows a real Slurm by both sources, and by each alone.
type live struct {
	*testing.T
	c                      *cluster.Cluster
	rest                   *slurmrestd.Client
	sacctmgr               sacctmgr.Command
	began                  int64
	both, shown, accounted health.Monitor
	told, toldShown        []fault.Event // so far, by both and by slurmctld alone
}

// TestLive does to the nodes of a real Slurm what happens to them, and compares what accounting and
// slurmctld say, the one that VARQ_SLURM names.
func TestLive(t *testing.T) {
	l := follow(t, cluster.ForTest(t, cluster.Options{Nodes: 4, SlurmConf: "SlurmdTimeout=60\nRebootProgram=/bin/true\nResumeTimeout=3600"}))
	const nhc = "NHC: check_hw_physmem:  Actual RAM size (3900000 kB) less than minimum allowed (4000000 kB)."

	l.update("node2", "state=drain", "reason="+nhc)
	l.until("node2 is drained", func() bool { return l.state("node2") == health.Drained })
	l.update("node2", "state=resume")
	l.until("node2 is up", func() bool { return l.state("node2") == health.Up })

	// Accounting knows of a drain when the last job has left.
	l.run("sbatch", "-w", "node3", "-o", "/dev/null", "--wrap=sleep 3600")
	l.until("a job runs on node3", func() bool { return slices.Contains([]string{"MIXED", "ALLOCATED"}, l.slurmState("node3")) })
	l.update("node3", "state=drain", "reason=kernel | upgrade\nof all nodes")
	l.until("node3 is draining", func() bool { return l.state("node3") == health.Draining })
	l.run("scancel", "-w", "node3")

	l.run("scontrol", "reboot", "nextstate=resume", "reason=new kernel", "node4")
	l.until("node4 reboots", func() bool { return l.state("node4") == health.Rebooting })

	if err := l.c.KillDaemon(cluster.Slurmd("node1")); err != nil {
		t.Fatal(err)
	}
	l.until("node1 is down", func() bool { return l.state("node1") == health.Down })
	if s := l.status("node1"); s.Reason != "Not responding" || s.By != "slurm" || s.Since < l.began || s.Since > time.Now().Unix() {
		t.Errorf("%+v", s)
	}
	if err := l.c.StartDaemon(t.Context(), cluster.Slurmd("node1")); err != nil {
		t.Fatal(err)
	}
	l.until("node1 is up", func() bool { return l.state("node1") == health.Up })

	if err := l.c.Restart(t.Context(), cluster.Slurmctld); err != nil {
		t.Fatal(err)
	}
	l.until("node1 and node2 are up", func() bool { return l.state("node1") == health.Up && l.state("node2") == health.Up })

	want := []string{"node1 ", "node2 ", "node3 drained", "node4 reboot"}
	l.until("accounting has it all", func() bool {
		l.accounted = health.Monitor{}
		return len(kinds(l.accounted.Observe(l.events(), nil, time.Now().Unix()))) >= len(want)
	})
	l.accounted = health.Monitor{}
	byAccounting := l.accounted.Observe(l.events(), nil, time.Now().Unix())
	for source, got := range map[string][]fault.Event{"both": l.told, "slurmctld": l.toldShown, "accounting": byAccounting} {
		if diff := cmp.Diff(want, kinds(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%+v", source, diff, got)
		}
	}
	for _, a := range byAccounting {
		i := slices.IndexFunc(l.told, func(e fault.Event) bool { return e.Node == a.Node && e.Kind == a.Kind })
		if i < 0 || a.Node != "node3" && max(l.told[i].At-a.At, a.At-l.told[i].At) > 2 || l.told[i].At > a.At+2 {
			t.Errorf("accounting tells %+v, both tell %+v", a, l.told)
		}
	}
	// A varqd that starts now learns the same.
	var restarted health.Monitor
	if diff := cmp.Diff(want, kinds(restarted.Observe(l.events(), l.nodes(), time.Now().Unix()))); diff != "" {
		t.Errorf("after a restart (-want +got):\n%s", diff)
	}
}

func follow(t *testing.T, c *cluster.Cluster) *live {
	token, err := c.TokenFile(t.Context(), "root")
	if err != nil {
		t.Fatal(err)
	}
	rest, err := slurmrestd.New(slurmrestd.Options{URL: c.RestURL(), User: "root", Token: slurmrestd.TokenFile(token)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rest.Close)
	l := &live{T: t, c: c, rest: rest, sacctmgr: sacctmgr.Command{Env: c.Env()}, began: time.Now().Unix()}
	if c.Root() != "/" {
		l.sacctmgr.Path = filepath.Join(t.TempDir(), "sacctmgr")
		script := fmt.Sprintf("#!/bin/sh\nexec chroot %s sacctmgr \"$@\"\n", c.Root())
		if err := os.WriteFile(l.sacctmgr.Path, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l.look()
	return l
}

func (l *live) nodes() []slurm.Node {
	l.Helper()
	for end := time.Now().Add(cluster.Patience); ; time.Sleep(time.Second) {
		nodes, err := l.rest.Nodes(l.Context())
		if err == nil {
			return nodes
		}
		if !errors.Is(err, slurm.ErrUnavailable) || time.Now().After(end) {
			l.Fatal(err)
		}
	}
}

func (l *live) events() []sacctmgr.Event {
	l.Helper()
	events, err := l.sacctmgr.Events(l.Context(), l.began-1)
	if err != nil {
		l.Fatal(err)
	}
	return events
}

func (l *live) look() {
	nodes, now := l.nodes(), time.Now().Unix()
	l.toldShown = append(l.toldShown, l.shown.Observe(nil, nodes, now)...)
	l.told = append(l.told, l.both.Observe(l.events(), nodes, now)...)
}

func (l *live) status(node string) health.Status {
	for _, s := range l.both.Nodes() {
		if s.Node == node {
			return s
		}
	}
	l.Fatalf("there is no %s", node)
	panic("unreachable")
}

func (l *live) state(node string) health.State { return l.status(node).State }

func (l *live) slurmState(node string) string {
	for _, n := range l.nodes() {
		if n.Name == node {
			return n.State
		}
	}
	return ""
}

// until looks again and again until something holds.
func (l *live) until(what string, holds func() bool) {
	l.Helper()
	for end := time.Now().Add(cluster.Patience); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		if l.look(); holds() {
			return
		}
	}
	l.Fatalf("never: %s: %+v", what, l.both.Nodes())
}

func (l *live) update(node string, changes ...string) {
	l.Helper()
	l.run("scontrol", append([]string{"update", "nodename=" + node}, changes...)...)
}

func (l *live) run(name string, args ...string) {
	l.Helper()
	if out, err := l.c.Command(l.Context(), "root", name, args...).CombinedOutput(); err != nil {
		l.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

// kinds returns the nodes and kinds of events, in order, without the nodes that do not respond for
// a moment, which accounting does not tell.
func kinds(events []fault.Event) []string {
	var list []string
	for _, e := range events {
		if e.Kind != "not responding" {
			list = append(list, e.Node+" "+e.Kind)
		}
	}
	slices.Sort(list)
	return list
}
