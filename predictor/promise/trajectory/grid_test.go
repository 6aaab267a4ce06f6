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

// A grid is the less thin the fewer begin times there may be.
func TestThin(t *testing.T) {
	for _, c := range []struct{ lead, earliest, hold, window, most, want int64 }{
		{43200, 0, unlimited, 0, thinned, thinned},
		{43200, 0, unlimited, 0, sparse, sparse},
		{43200, 0, 3600, 0, sparse, 10},
		{43200, 0, 3600, 1800, sparse, 15},
		{43200, 43200 - 720, unlimited, 0, sparse, 2},
		{1800, 0, unlimited, 0, sparse, 5},
		{10, 0, unlimited, 0, sparse, 1},
		{43200, 0, 3600, 0, 1, 1},
	} {
		r := Request{Now: 1000, Deadline: 1000 + c.lead, HoldUntil: 1000 + c.lead - c.window}
		if c.earliest != 0 {
			r.Earliest = 1000 + c.earliest
		}
		r.Job.Limit = 60
		b := bounds{longest: c.hold}
		if c.hold != unlimited {
			b.longest += r.Job.Limit
		}
		if got := r.thin(b, DefaultHorizon, c.most); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
		r.HoldUntil = 0 // whose nodes do not idle
		if got := r.thin(bounds{longest: r.Job.Limit}, DefaultHorizon, c.most); c.earliest == 0 && got != min(c.most, max(1, c.lead/360)) {
			t.Errorf("%+v, best effort: %d", c, got)
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
