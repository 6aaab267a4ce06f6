package esr

import "testing"

// What is booked to one start comes to the same in whatever order it is given.
func TestLoadOfOneStart(t *testing.T) {
	l := Load{Now: 1, Nodes: 7, Reservations: []Reservation{{0, 1 << 50, 3}, {0, 2, 1}, {0, 3, 1}, {0, 4, 1}}}
	want := l.End()
	for range len(l.Reservations) {
		last := l.Reservations[len(l.Reservations)-1]
		copy(l.Reservations[1:], l.Reservations)
		l.Reservations[0] = last
		if got := l.End(); got != want {
			t.Errorf("%v: the workload ends at %f, not %f", l.Reservations, got, want)
		}
	}
}
