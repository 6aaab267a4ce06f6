package limits

import (
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
