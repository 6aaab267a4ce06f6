package daemon

import (
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/slurm"
)

// TestVitals: what a node's own agent tells is noticed, shown, learnt from, and kept when varqd is
// restarted. What anybody else tells, of another node, of none, or with a wrong clock, is refused.
func TestVitals(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	fake := &frailSlurm{span: 4 * pastMost, nodes: []slurm.Node{{Name: "a", State: "IDLE", Address: "192.0.2.1"}, {Name: "b", State: "IDLE", Address: "192.0.2.2"}}}
	c := testConfig(t)
	c.Agent.User = "watch"
	open := func() (*Daemon, service, *tending) {
		t.Helper()
		d, err := New(Options{Config: c, Slurm: fake, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d, service{daemon: d}, &tending{Daemon: d, tries: mostTries}
	}
	d, s, tending := open()
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	const count = api.SignalMemoryCorrected
	tell := func(user, node string, value, clock float64, from ...netip.Addr) error {
		return s.Vitals(t.Context(), user, from, api.Vitals{Node: node, At: now.Unix() + int64(clock), Signals: []api.Signal{{Name: count, Of: "mc0", Value: value}}})
	}
	if err := tell("root", "a", 1, 0, a); !errors.Is(err, api.ErrUnavailable) {
		t.Errorf("before the nodes are known: %v", err)
	}
	look := func() api.Nodes {
		t.Helper()
		now = now.Add(tendEvery)
		if _, err := tending.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, err := s.Nodes(t.Context(), "root")
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	look()
	for _, c := range []struct {
		name, user, node string
		clock            float64
		from             netip.Addr
		want             error
		says             string
	}{
		{"root's", "root", "a", 0, a, nil, ""},
		{"the agents' user's", "watch", "a", 0, a, nil, ""},
		{"a clock a little off", "root", "a", -300, a, nil, ""},
		{"another user's", "alice", "a", 0, a, api.ErrForbidden, "alice may not speak for a node"},
		{"another node's", "root", "a", 0, b, api.ErrForbidden, "192.0.2.2 speaks for a, which has the addresses [192.0.2.1]"},
		{"of an unknown node", "root", "z", 0, a, api.ErrNotFound, "Slurm has no node \"z\""},
		{"an hour ahead", "root", "a", 3600, a, api.ErrInvalid, "the clock of a is 3600 s off varqd's"},
		{"an hour behind", "root", "a", -3600, a, api.ErrInvalid, "the clock of a is -3600 s off varqd's"},
	} {
		err := tell(c.user, c.node, 1, c.clock, c.from)
		if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	list := look()
	if n := list.Nodes[0]; n.Heard == 0 || n.Noticed != nil || list.Nodes[1].Heard != 0 {
		t.Errorf("%+v", list)
	}
	at := now.Unix()
	if err := tell("root", "a", 5, 200, a); err != nil {
		t.Fatal(err)
	}
	noticed := api.Noticed{At: at, Kind: "corrected memory errors", What: "memory_errors_corrected of mc0 has grown from 1 to 5"}
	check := func() {
		t.Helper()
		n := look().Nodes[0]
		if n.Name != "a" || len(n.Noticed) != 1 || n.Noticed[0] != noticed {
			t.Errorf("%+v", n)
		}
		events := 0
		if err := d.risks.Replay(t.Context(), func(fault.Event) { events++ }); err != nil || events != 1 {
			t.Errorf("%d events are learnt, %v", events, err)
		}
	}
	check()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d, s, tending = open()
	check()
}
