package limits

import (
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/workload"
)

// TestShortage: a shortage of nodes, or of what they have, is told with what keeps the others.
func TestShortage(t *testing.T) {
	c := plain()
	p := c.Partitions["main"]
	p.Nodes = []string{"n1", "n2", "n3", "n4", "n5"}
	c.Partitions["main"] = p
	c.Reservations = []Reservation{{Name: "maint", Start: 1000, End: 2000, Nodes: []string{"n1", "n5"}}}
	all := func() map[string]Node {
		nodes := map[string]Node{}
		for _, name := range p.Nodes {
			nodes[name] = Node{Name: name, CPUs: 4, Memory: 1000, Gres: map[string]int64{"gpu": 1}, Usable: true}
		}
		return nodes
	}
	some := all()
	for name, drained := range map[string]bool{"n3": true, "n4": false, "n5": true} {
		n := some[name]
		n.Usable, n.Drained = false, drained
		some[name] = n
	}
	unknown := all()
	delete(unknown, "n1")
	const (
		early = "only 2 of the 5 nodes of partition main can start jobs now (2 drained: n[3,5], 1 down: n4), too few for the job, and when the others come back cannot be forecast"
		later = "only 1 of the 5 nodes of partition main can start jobs now (2 drained: n[3,5], 1 down: n4, 1 reserved), too few for the job, and when the others come back cannot be forecast"
	)
	for _, v := range []struct {
		what  string
		nodes map[string]Node
		size  workload.Size
		now   int64
		want  string
	}{
		{"all nodes", all(), workload.Size{Nodes: 5, CPUs: 20}, 999, ""},
		{"more than there are", all(), workload.Size{Nodes: 6, CPUs: 6}, 999, ""},
		{"enough", some, workload.Size{Nodes: 2, CPUs: 8, GPUs: 2, Memory: 2000}, 999, ""},
		{"nodes", some, workload.Size{Nodes: 3, CPUs: 3}, 999, early},
		{"nodes, while some are reserved", some, workload.Size{Nodes: 3, CPUs: 3}, 1000, later},
		{"nodes, after the reservation", some, workload.Size{Nodes: 3, CPUs: 3}, 2000, early},
		{"CPUs", some, workload.Size{Nodes: 1, CPUs: 9}, 1500, later},
		{"GPUs", some, workload.Size{Nodes: 1, CPUs: 1, GPUs: 3}, 1500, later},
		{"memory", some, workload.Size{Nodes: 1, CPUs: 1, Memory: 2001}, 1500, later},
		{"nothing known", nil, workload.Size{Nodes: 5, CPUs: 5}, 1500, ""},
		{"not all known", unknown, workload.Size{Nodes: 5, CPUs: 5}, 1500, ""},
	} {
		c.Nodes = v.nodes
		if got := c.Job(workload.Request{Partition: "main", Size: v.size}, nil).Shortage(v.now); got != v.want {
			t.Errorf("%s: %q, wanted %q", v.what, got, v.want)
		}
	}
	for _, v := range []struct {
		nodes map[string]Node
		now   int64
		want  string
	}{
		{all(), 999, ""}, {unknown, 1500, ""}, {nil, 1500, ""},
		{some, 999, "3 of the 5 nodes of partition main could start no jobs (2 drained: n[3,5], 1 down: n4)"},
		{all(), 1500, "2 of the 5 nodes of partition main could start no jobs (2 reserved)"},
	} {
		c.Nodes = v.nodes
		if got := c.Unusable("main", v.now); got != v.want {
			t.Errorf("unusable at %d: %q, wanted %q", v.now, got, v.want)
		}
	}
	c.Zone, c.Nodes = time.UTC, some
	const (
		until = "only 1 of the 5 nodes of partition main can start jobs now (2 drained: n[3,5], 1 down: n4, 1 reserved by maint until 1970-01-01T00:33:20Z), " +
			"too few for the job, and when those that are drained or down come back cannot be forecast"
		only = "only 3 of the 5 nodes of partition main can start jobs now (2 reserved by maint until 1970-01-01T00:33:20Z), too few for the job until then"
	)
	four := workload.Request{Partition: "main", Size: workload.Size{Nodes: 4, CPUs: 4}}
	if got := c.Job(four, nil).Shortage(1500); got != until {
		t.Errorf("where the zone is known: %q, wanted %q", got, until)
	}
	c.Nodes = all()
	if got := c.Job(four, nil).Shortage(1500); got != only {
		t.Errorf("while nodes are reserved only: %q, wanted %q", got, only)
	}
	for deadline, want := range map[int64]string{1999: only, 2000: ""} {
		if got := c.Job(four, nil).ShortageBy(1500, deadline); got != want {
			t.Errorf("by %d: %q, wanted %q", deadline, got, want)
		}
	}
	c.Nodes, c.PrivateNodes = some, true
	if got, want := c.Unusable("main", 999), "3 of the 5 nodes of partition main could start no jobs (2 drained, 1 down)"; got != want {
		t.Errorf("where users may not see nodes: %q, wanted %q", got, want)
	}
	c.PrivateNodes = false
	for need, want := range map[int32]string{2: "", 3: early} { // whatever is reserved
		if got := c.Job(workload.Request{Partition: "main", Size: workload.Size{Nodes: need, CPUs: need}}, nil).Missing(); got != want {
			t.Errorf("%d nodes: %q are missing, wanted %q", need, got, want)
		}
	}
}
