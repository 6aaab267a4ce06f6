package trajectory

import (
	"slices"
	"testing"
)

func TestStarts(t *testing.T) {
	for _, c := range []struct {
		name                  string
		now, deadline, span   int64
		n                     int64
		first, second, length int64
	}{
		{"12 hours", 0, 43200, DefaultHorizon, 1, 0, 30, 1440},
		{"now is off the grid", 10, 43200, DefaultHorizon, 1, 10, 30, 1440},
		{"a last second", 99, 100, DefaultHorizon, 1, 99, -1, 1},
		{"less than a step", 71, 100, DefaultHorizon, 1, 71, -1, 1},
		{"a step", 70, 100, DefaultHorizon, 1, 70, -1, 1},
		{"beyond 12 hours", 0, 43200 + 600, DefaultHorizon, 1, 0, 300, 1442},
		{"beyond 12 hours off the grid", 0, 43200 + 601, DefaultHorizon, 1, 0, 1, 1443},
		{"a week", 0, DefaultHorizon, DefaultHorizon, 1, 0, 300, 3312},
		{"a month", 0, 30 * 86400, DefaultHorizon, 1, 23 * 86400, 23*86400 + 300, 3312},
		{"thinned", 0, 43200, DefaultHorizon, 10, 0, 300, 144},
	} {
		r := Request{Now: c.now, Deadline: c.deadline, HoldUntil: c.deadline}
		got := r.begins(c.span, c.n)
		if int64(len(got)) != c.length || got[0] != c.first || len(got) > 1 && got[1] != c.second {
			t.Errorf("%s: %d starts from %v", c.name, len(got), got[:min(2, len(got))])
		}
		if !slices.IsSorted(got) || got[len(got)-1] >= c.deadline {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// The whole grid contains the thinned grid.
func TestThinStartsArePartOfAll(t *testing.T) {
	for _, now := range []int64{0, 7, 300, 40000} {
		for _, hold := range []int64{0, 50_000, 200_000} {
			r := Request{Now: now, Deadline: 200_000, HoldUntil: hold}
			all := r.begins(86400, 1)
			for _, s := range r.begins(86400, thinned) {
				if _, found := slices.BinarySearch(all, s); !found {
					t.Errorf("from %d on, held until %d: %d is not on the whole grid", now, hold, s)
				}
			}
		}
	}
}

// The begin times include the earliest one that costs nothing, however far away the
// deadline is.
func TestStartsBeyondHorizon(t *testing.T) {
	for _, c := range []struct {
		name              string
		hold              int64
		first, second, no int64
	}{
		{"strict", 30 * 86400, 23 * 86400, 23*86400 + 300, 3312},
		{"window within", 29 * 86400, 23 * 86400, 23*86400 + 300, 3312},
		{"window from before", 9*86400 + 1, 9*86400 + 1, 23 * 86400, 3313},
		{"open window", 50, 99, 23 * 86400, 3313},
		{"best effort", 0, 99, 23 * 86400, 3313},
	} {
		r := Request{Now: 99, Deadline: 30 * 86400, HoldUntil: c.hold}
		if got := r.begins(DefaultHorizon, 1); got[0] != c.first || got[1] != c.second || int64(len(got)) != c.no {
			t.Errorf("%s: %d starts from %v", c.name, len(got), got[:2])
		}
	}
}
