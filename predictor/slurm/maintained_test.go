package slurm

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/limits"
)

// TestMaintained: during a maintenance nodes are down and rebooted, and are to be up after it.
func TestMaintained(t *testing.T) {
	const start, end = 1000, 2000
	list := []limits.Reservation{
		{Name: "maint", Start: start, End: end, Maintenance: true, Nodes: []string{"down", "rebooting", "asked", "dead", "drained", "failed", "up"}},
		{Name: "class", Start: start, End: end, Nodes: []string{"other"}},
		{Name: "ahead", Start: start, End: end, Maintenance: true, Floats: true, Nodes: []string{"floating"}},
	}
	nodes := []Node{
		{Name: "down", State: "DOWN+MAINTENANCE+NOT_RESPONDING", ReasonAt: start + 1},
		{Name: "rebooting", State: "DOWN+MAINTENANCE+REBOOT_ISSUED", Drained: true},
		{Name: "asked", State: "IDLE+MAINTENANCE+REBOOT_REQUESTED", Up: true, Drained: true},
		{Name: "dead", State: "DOWN+MAINTENANCE", ReasonAt: start - 1},
		{Name: "drained", State: "DOWN+DRAIN+MAINTENANCE", Drained: true},
		{Name: "failed", State: "IDLE+FAIL+MAINTENANCE"},
		{Name: "up", State: "IDLE+MAINTENANCE", Up: true},
		{Name: "other", State: "DOWN+RESERVED"},
		{Name: "floating", State: "DOWN"},
	}
	states := func(nodes []Node) (up, drained []string) {
		for _, n := range nodes {
			if n.Up {
				up = append(up, n.Name)
			}
			if n.Drained {
				drained = append(drained, n.Name)
			}
		}
		return up, drained
	}
	for now, want := range map[int64][2][]string{
		start - 1: {{"asked", "up"}, {"rebooting", "asked", "drained"}},
		start:     {{"down", "rebooting", "asked", "drained", "up"}, {"drained"}},
		end:       {{"asked", "up"}, {"rebooting", "asked", "drained"}},
	} {
		up, drained := states(Maintained(nodes, list, now))
		if diff := cmp.Diff(want, [2][]string{up, drained}); diff != "" {
			t.Errorf("at %d: (-want +got):\n%s", now, diff)
		}
	}
	if up, _ := states(nodes); len(up) != 2 {
		t.Errorf("the nodes that were given have changed: %+v", nodes)
	}
}
