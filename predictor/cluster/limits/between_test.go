package limits

import (
	"testing"
	"time"
)

func TestReservedBetween(t *testing.T) {
	const now = 1_800_000_000 // 2027-01-15T08:00:00Z
	c := Cluster{
		Zone:       time.UTC,
		Partitions: map[string]Partition{"main": {Nodes: []string{"a", "b"}}, "other": {Nodes: []string{"c"}}},
		Reservations: []Reservation{
			{Name: "class", Nodes: []string{"a"}, Start: now + 100, End: now + 200},
			{Name: "daily", Nodes: []string{"b", "c"}, Start: now - 200, End: now - 100, Again: []Span{{now + 150, now + 400}}},
		},
	}
	const class, daily = "reservation class (from 2027-01-15T08:01:40Z until 2027-01-15T08:03:20Z)", "reservation daily (from 2027-01-15T08:02:30Z until 2027-01-15T08:06:40Z)"
	for _, is := range []struct {
		partition   string
		from, until int64
		want        string
	}{
		{"main", 0, 100, ""}, {"main", 0, 101, class}, {"main", 199, 200, class + " and " + daily}, {"main", 200, 300, daily},
		{"main", 400, 500, ""}, {"other", 0, 160, daily}, {"other", 0, 150, ""}, {"third", 0, 500, ""},
	} {
		if got := c.ReservedBetween(is.partition, now+is.from, now+is.until); got != is.want {
			t.Errorf("%s from %d until %d: %q, want %q", is.partition, is.from, is.until, got, is.want)
		}
	}
}
