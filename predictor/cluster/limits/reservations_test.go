package limits

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/workload"
)

func TestMaintenance(t *testing.T) {
	const now = 1_000_000
	on := func(v Reservation, nodes ...string) Reservation {
		v.Nodes = nodes
		return v
	}
	c := Cluster{Reservations: []Reservation{
		on(Reservation{Name: "class", Start: now + 10, End: now + 20}, "a"),
		on(Reservation{Name: "always ahead", Start: now + 10, End: now + 20, Maintenance: true, Floats: true}, "a"),
		on(Reservation{Name: "late", Start: now + 300, End: now + 400, Maintenance: true}, "a", "b"),
		on(Reservation{Name: "daily", Start: now - 50, End: now + 50, Maintenance: true, Again: []Span{{now + 100, now + 200}}}, "a"),
		on(Reservation{Name: "elsewhere", Start: now + 60, End: now + 70, Maintenance: true}, "c"),
	}}
	for node, want := range map[string]struct {
		name  string
		start int64
	}{"a": {"daily", now + 100}, "b": {"late", now + 300}, "c": {"elsewhere", now + 60}, "d": {}} {
		v, start := c.Reservations.Maintenance(map[string]bool{node: true, "e": true}, now)
		name := ""
		if v != nil {
			name = v.Name
		}
		if name != want.name || start != want.start {
			t.Errorf("%s: %q at %+d", node, name, start-now)
		}
	}
}

// TestReservationOfLicences: in a reservation that has no nodes, nothing is promised, and the size
// of the partition is not why.
func TestReservationOfLicences(t *testing.T) {
	c := varied()
	c.Reservations = []Reservation{{Name: "licr", Start: 0, End: 1 << 40, Licenses: "matlab:2"}}
	needs := &workload.Needs{MostNodes: 1, Reservation: "licr"}
	r, err := c.CompleteWith(workload.Request{User: "alice", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: hour}, needs)
	if err != nil {
		t.Fatal(err)
	}
	rule := c.Job(r, needs).CheckSize()
	check(t, "licr", rule, "reservation licr has licences alone and no nodes, and varq makes no promises inside of it: leave out --reservation")
	if rule != nil && rule.Name != "reservation licr" {
		t.Errorf("the limit that binds is %s", rule.Name)
	}
}

// Reservations that only operators may see are named in no sentence.
func TestHiddenReservations(t *testing.T) {
	c := Cluster{
		Zone:       time.UTC,
		Partitions: map[string]Partition{"main": {Name: "main", Up: true, Nodes: []string{"n1", "n2"}}},
		Nodes:      map[string]Node{"n1": {Name: "n1", CPUs: 4, Usable: true}, "n2": {Name: "n2", CPUs: 4, Usable: true}},
		Reservations: Reservations{
			{Name: "secret", Start: 100, End: 200, Nodes: []string{"n1", "n2"}, Hidden: true},
			{Name: "covert", Start: 150, End: 300, Nodes: []string{"n1"}, Hidden: true},
			{Name: "veiled", Floats: true, Ahead: 60, Nodes: []string{"n1", "n2"}, Hidden: true},
		},
	}
	job := c.Job(workload.Request{Partition: "main", Size: workload.Size{Nodes: 2, CPUs: 2}}, nil)
	_, longest := job.MaxLimit()
	said := []string{c.ReservedBetween("main", 0, 400), longest.Name, longest.Says, job.ShortageBy(160, 170)}
	for _, w := range job.Blocked(workload.Pieces{}) {
		said = append(said, w.Name, w.Says)
	}
	for _, text := range said {
		if text == "" || strings.Contains(text, "secret") || strings.Contains(text, "covert") || strings.Contains(text, "veiled") {
			t.Errorf("%q of %q", text, said)
		}
	}
}

// A job inside of a reservation has its nodes alone, while it has them; others have the rest.
func TestInsideReservation(t *testing.T) {
	nodes := map[string]Node{}
	for _, name := range []string{"n1", "n2", "n3"} {
		nodes[name] = Node{Name: name, CPUs: 4, Usable: true}
	}
	c := Cluster{
		Zone:       time.UTC,
		Partitions: map[string]Partition{"main": {Name: "main", Up: true, DefaultTime: 60, Nodes: []string{"n1", "n2", "n3"}}},
		Nodes:      nodes,
		Reservations: Reservations{
			{Name: "course", Start: 1000, End: 2000, Again: []Span{{3000, 4000}}, Nodes: []string{"n1", "n2"}},
			{Name: "maint", Start: 1500, End: 1600, Nodes: []string{"n1", "n2", "n3"}},
		},
	}
	r, err := c.CompleteWith(workload.Request{Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}}, &workload.Needs{Reservation: "course"})
	if err != nil || r.Reservation != "course" || r.NodeSet != "n[1-2]" {
		t.Fatalf("%+v, %v", r, err)
	}
	var spans []Span
	job := c.Job(r, nil)
	for _, w := range job.Blocked(workload.Pieces{}) {
		spans = append(spans, Span{w.Start, w.End})
	}
	if want := []Span{{0, 1000}, {1500, 1600}, {2000, 3000}, {4000, 4000 + distant}}; !slices.Equal(spans, want) {
		t.Errorf("blocked %v, want %v", spans, want)
	}
	for _, claim := range job.Claims(workload.Pieces{}, 0, 5000) {
		if claim.Start != 1500 || claim.Nodes != 2 {
			t.Errorf("%+v", claim)
		}
	}
	if said := job.ShortageBy(1200, 1300); said != "" {
		t.Error(said)
	}
	outside := c.Job(workload.Request{Partition: "main", Size: workload.Size{Nodes: 2, CPUs: 2}, Limit: 60}, nil)
	if got := outside.Blocked(workload.Pieces{}); len(got) != 2 || got[0].Start != 1000 || got[0].End != 2000 {
		t.Errorf("%+v", got)
	}
	if set := c.NodeSets().Of(workload.Request{Partition: "main", Reservation: "course"}, nil); set != "n[1-2]" {
		t.Errorf("a job in the queue has %q", set)
	}
	if rule := job.Blocked(workload.Pieces{})[1].Rule; rule.Says != "reservation maint leaves reservation course 0 of 2 nodes for such a job" {
		t.Errorf("inside of a reservation: %q", rule.Says)
	}
	absent := &workload.Needs{Reservation: "course", NodeList: workload.NamedNodes{Option: "--nodelist=n3", Names: []string{"n3"}}}
	if rule := c.Job(r, absent).CheckNeeds(); rule == nil || rule.Says != "--nodelist=n3: node n3 is not in reservation course, or is excluded" {
		t.Errorf("%+v", rule)
	}
	large := r
	large.Nodes = 3
	if rule := c.Job(large, nil).CheckSize(); rule == nil || rule.Says != "reservation course has 2 nodes of partition main" {
		t.Errorf("%+v", rule)
	}
	c.Reservations[0].Flex = true
	all, err := c.CompleteWith(workload.Request{Partition: "main", Size: workload.Size{Nodes: 3, CPUs: 3}}, &workload.Needs{Reservation: "course"})
	if got := c.Job(all, nil).Blocked(workload.Pieces{}); err != nil || len(got) != 2 || got[0].Start != 1500 || got[0].End != 1600 {
		t.Errorf("its own reservation keeps nodes from a job that may start outside of it: %+v, %v", got, err)
	}
	if r, err := c.CompleteWith(workload.Request{Partition: "main"}, &workload.Needs{Reservation: "course"}); err != nil || r.Reservation != "course" || r.NodeSet != "" {
		t.Errorf("%+v, %v", r, err)
	} else if got := c.Job(r, nil).Blocked(workload.Pieces{}); len(got) != 2 || got[0].Start != 1500 || got[1].Start != 4000 {
		t.Errorf("%+v", got)
	}
}
