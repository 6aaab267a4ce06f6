package limits

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/workload"
)

// TestRepeat has the times to which slurmctld 22.05 itself moves reservations.
func TestRepeat(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	const minute = 60
	local := func(text string) int64 {
		at, err := time.ParseInLocation("2006-01-02T15:04", text, zone)
		if err != nil {
			t.Fatal(err)
		}
		return at.Unix()
	}
	for _, v := range []struct {
		repeats Repeats
		start   string
		lasts   int64
		again   []string
	}{
		{Never, "2026-11-22T21:42", 5 * minute, nil},
		{Hourly, "2026-11-22T22:25", 5 * minute, []string{"2026-11-22T23:25", "2026-11-23T00:25"}},
		{Daily, "2026-11-22T22:15", 30 * minute, []string{"2026-11-23T22:15", "2026-11-24T22:15"}},
		{Weekly, "2026-11-22T23:15", 30 * minute, []string{"2026-11-29T23:15", "2026-12-06T23:15"}},
		// the clocks go back
		{Weekly, "2027-10-24T12:00", 30 * minute, []string{"2027-10-31T12:00", "2027-11-07T12:00"}},
		{Weekdays, "2026-11-19T21:42", 5 * minute, []string{"2026-11-20T21:42", "2026-11-23T21:42", "2026-11-24T21:42"}},
		// on a Saturday
		{Weekdays, "2026-11-21T21:42", 5 * minute, []string{"2026-11-23T21:42"}},
		// on a Sunday
		{Weekdays, "2026-11-22T21:42", 5 * minute, []string{"2026-11-23T21:42"}},
		// on a Monday
		{Weekends, "2026-11-23T20:42", 5 * minute, []string{"2026-11-28T20:42", "2026-11-29T20:42"}},
		{Weekends, "2026-11-20T21:42", 5 * minute, []string{"2026-11-21T21:42", "2026-11-22T21:42", "2026-11-28T21:42"}},
	} {
		start := local(v.start)
		c := Cluster{Reservations: []Reservation{{Repeats: v.repeats, Start: start, End: start + v.lasts}}}
		c.Repeat(start, zone)
		var want []Span
		for _, again := range v.again {
			want = append(want, Span{local(again), local(again) + v.lasts})
		}
		got := c.Reservations[0].Again
		if diff := cmp.Diff(want, got[:min(len(want), len(got))]); diff != "" || v.repeats == Never && got != nil {
			t.Errorf("%d from %s: %s", v.repeats, v.start, diff)
		}
	}

	// Start and end keep their time of day on a day of 23 hours.
	c := Cluster{Reservations: []Reservation{{Repeats: Daily, Start: local("2027-03-27T01:30"), End: local("2027-03-27T12:30")}}}
	c.Repeat(local("2027-03-27T00:00"), zone)
	if got, want := c.Reservations[0].Again, (Span{local("2027-03-28T01:30"), local("2027-03-28T12:30")}); got[0] != want || want.End-want.Start != 10*hour {
		t.Errorf("when the clocks go forward: %v, want %v", got[0], want)
	}
}

// TestRepeatIsBounded: reservations come again within a year, and a thousand times in all.
func TestRepeatIsBounded(t *testing.T) {
	of := func(repeats ...Repeats) (lengths []int) {
		var c Cluster
		for _, r := range repeats {
			c.Reservations = append(c.Reservations, Reservation{Repeats: r, Start: hour, End: 2 * hour})
		}
		for range 2 { // nothing is added by the second
			c.Repeat(0, time.UTC)
		}
		for i := range c.Reservations {
			lengths = append(lengths, len(c.Reservations[i].Again))
		}
		return lengths
	}
	if diff := cmp.Diff([]int{1000}, of(Hourly)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{333, 333, 0, 52}, of(Hourly, Daily, Never, Weekly)); diff != "" {
		t.Error(diff)
	}
}

// TestRepeatedReservations: nodes are blocked and claimed each time that a reservation comes, also
// where it would come again before it is over.
func TestRepeatedReservations(t *testing.T) {
	c := cluster()
	c.Nodes = map[string]Node{}
	nodes := c.Partitions["main"].Nodes
	for _, name := range nodes {
		c.Nodes[name] = Node{CPUs: 4, Usable: true}
	}
	repeat := func(r Repeats, lasts int64) []Window {
		c.Reservations = []Reservation{{Name: "again", Repeats: r, Start: hour, End: hour + lasts, Nodes: nodes}}
		c.Repeat(0, time.UTC)
		return c.Job(job(1), nil).Blocked(workload.Pieces{})
	}
	if windows := repeat(Hourly, 90*60); len(windows) != 1 || windows[0].End < 1000*hour {
		t.Errorf("%+v", windows)
	}
	if windows := repeat(Daily, hour); len(windows) != 366 || windows[2].Start != 49*hour || windows[2].End != 50*hour {
		t.Errorf("%d windows: %+v", len(windows), windows)
	}
	claims := c.Job(workload.Request{Partition: "main"}, nil).Claims(workload.Pieces{}, 24*hour, 73*hour)
	if len(claims) != 2 || claims[0].Start != 25*hour || claims[1].Start != 49*hour || claims[1].Limit != hour || claims[1].CPUs != 32 {
		t.Errorf("%+v", claims)
	}
}

// TestFloats: a reservation that is always half an hour ahead lets shorter jobs start at any time,
// and longer ones at none.
func TestFloats(t *testing.T) {
	const now, ahead = 1000 * hour, hour / 2
	c := Cluster{
		Partitions:   map[string]Partition{"main": {Name: "main", Nodes: []string{"a", "b"}}},
		Nodes:        map[string]Node{"a": {Usable: true, CPUs: 4}, "b": {Usable: true, CPUs: 4}},
		Reservations: []Reservation{{Name: "tf", Start: now + ahead, End: now + 3*ahead, Nodes: []string{"a"}, Floats: true}},
	}
	c.Repeat(now, time.UTC)
	one, two := workload.Request{Partition: "main", Size: workload.Size{Nodes: 1}}, workload.Request{Partition: "main", Size: workload.Size{Nodes: 2}}
	if most, rule := c.Job(two, nil).MaxLimit(); most != ahead || rule.Says != "reservation tf is always 00:30:00 ahead (TIME_FLOAT)" {
		t.Errorf("two nodes for %d s: %+v", most, rule)
	}
	if most, rule := c.Job(one, nil).MaxLimit(); most != None {
		t.Errorf("one node for %d s: %+v", most, rule)
	}
	if windows := c.Job(two, nil).Blocked(workload.Pieces{}); len(windows) != 0 {
		t.Errorf("windows %+v", windows)
	}
	for nodes, want := range map[int32]int{1: 1, 2: 0} { // one has to do without the reservation's
		claims := c.Job(workload.Request{Partition: "main", Size: workload.Size{Nodes: nodes}}, nil).Claims(workload.Pieces{}, now, now+100*hour)
		if len(claims) != want || want > 0 && (claims[0].Start != now || claims[0].Limit != 100*hour || claims[0].Nodes != 1) {
			t.Errorf("%d nodes: %+v", nodes, claims)
		}
	}
	c.Reservations = append(c.Reservations, Reservation{Name: "tg", Start: now + 2*ahead - 2, End: now + 3*ahead, Nodes: []string{"b"}, Floats: true})
	c.Repeat(now, time.UTC)
	if most, rule := c.Job(one, nil).MaxLimit(); most != 2*ahead || rule.Name != "reservation tg TIME_FLOAT" {
		t.Errorf("one node, and two reservations: %d s: %+v", most, rule)
	}
	if most, _ := c.Job(two, nil).MaxLimit(); most != ahead {
		t.Errorf("two nodes, and two reservations: %d s", most)
	}
	if claims := c.Job(one, nil).Claims(workload.Pieces{}, now, now+hour); len(claims) != 1 || claims[0].Names[0] != "a" {
		t.Errorf("one node, and two reservations: %+v", claims)
	}
}

// TestExactGap: a job whose limit is exactly the time between two windows may start at the end of
// the first, and at no other time, as in Slurm.
func TestExactGap(t *testing.T) {
	daily := Window{Start: 24 * hour, End: 26 * hour}
	for start, stops := range map[int64]bool{2*hour - 1: false, 2 * hour: false, 2*hour + 1: true} {
		if got := daily.Stops(start, 22*hour); got != stops {
			t.Errorf("from %d: %v", start, got)
		}
	}
}
