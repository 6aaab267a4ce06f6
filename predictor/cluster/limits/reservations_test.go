package limits

import "testing"

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
