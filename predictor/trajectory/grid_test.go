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
		{"thin", 0, 43200, DefaultHorizon, 10, 0, 300, 144},
	} {
		got := starts(c.now, c.deadline, c.span, c.n)
		if int64(len(got)) != c.length || got[0] != c.first || len(got) > 1 && got[1] != c.second {
			t.Errorf("%s: %d starts from %v", c.name, len(got), got[:min(2, len(got))])
		}
		if !slices.IsSorted(got) || got[len(got)-1] >= c.deadline {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// What the thin grid finds, the whole grid finds too.
func TestThinStartsArePartOfAll(t *testing.T) {
	for _, now := range []int64{0, 7, 300, 40000} {
		all := starts(now, 200_000, DefaultHorizon, 1)
		for _, s := range starts(now, 200_000, DefaultHorizon, thin) {
			if _, found := slices.BinarySearch(all, s); !found {
				t.Errorf("from %d on: %d is not on the whole grid", now, s)
			}
		}
	}
}
