package trajectory

import "testing"

func TestCeiling(t *testing.T) {
	for _, c := range []struct {
		name        string
		hold, begin int64
		times       float64
		want        int64
	}{
		{"as quoted", 10_000, 9_000, 1, 9_000},
		{"half as much again", 10_000, 9_000, 1.5, 8_500},
		{"nothing quoted, nothing allowed", 10_000, 10_300, 2, 10_000},
		{"more than there is time for", 10_000, 4_000, 2, 0},
		{"best effort", 0, 9_000, 1, 0},
	} {
		r := Request{HoldUntil: c.hold}
		if got := r.Ceiling(c.begin, c.times); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
