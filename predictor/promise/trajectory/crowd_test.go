package trajectory

import (
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// TestCrowdNamesReservations: where one of Slurm's own reservations takes the room, alone or with
// others, that is said, and until when.
func TestCrowdNamesReservations(t *testing.T) {
	const others = "running jobs and other promises leave no room at the deadline"
	for _, c := range []struct {
		name  string
		nodes string // reserved
		start int64  // after noon, for two hours
		want  []string
	}{
		{"none", "", 0, []string{others}},
		{"over before", "n1 n2", -3 * hour, []string{others}},
		{"after the work", "n1 n2", 6 * hour, []string{others}},
		{"elsewhere", "m1 m2", 4 * hour, []string{others}},
		{"with others", "n1 n2", 4 * hour, []string{"reservation maint (from ", "T16:00:00", "T18:00:00", "), " + others}},
		{"alone", "n1 n2 n3 n4 n5 n6 n7 n8", 4 * hour, []string{"reservation maint leaves partition main 0 of 8 nodes", "T18:00:00"}},
	} {
		cluster := site(nil)
		cluster.Zone = time.UTC
		cluster.Reservations = []limits.Reservation{{Name: "maint", Start: noon + c.start, End: noon + c.start + 2*hour, Nodes: strings.Fields(c.nodes)}}
		r := request(2, 4*hour, .9)
		r.Job.Partition = "main"
		got := Crowd(cluster, &r, r.Deadline-hour, false, "no")
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", c.name, got, want)
			}
		}
		if len(c.want) == 1 && got != others {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestRefusalBesideReservation: who is refused because of the forecast is told of the reservation
// before the deadline.
func TestRefusalBesideReservation(t *testing.T) {
	cluster := site(nil)
	cluster.Reservations = []limits.Reservation{{Name: "maint", Start: noon + hour, End: noon + 2*hour, Nodes: []string{"n1"}}}
	p := Planner{Forecaster: curve{mean: 10 * hour, sample: 1000}, Cluster: cluster}
	const want = "beside reservation maint a start by 2023-11-14T16:00:00Z, in 04:00:00 and its nodes held until then, can be promised with probability 0.32 at best, not 0.9"
	if a := p.Decide(request(1, 4*hour, .9)); a.Refusal == nil || !strings.HasPrefix(a.Refusal.Reason, want) {
		t.Errorf("%+v", a.Refusal)
	}
}

// TestInVain: why idle nodes do not keep a promise is said as it is: others have the room, a limit
// is too short, or the wait is too long.
func TestInVain(t *testing.T) {
	r := request(1, 2*hour, .9)
	current := Submission{Begin: r.Deadline - 600, Limit: r.enlarged(r.Deadline - 600)}
	r.Earliest = current.Begin
	r.Job.Partition = "main"
	full := func(workload.Claim, int64, float64) workload.Room { return workload.Room{Prob: .2} }
	for _, c := range []struct {
		name string
		mean float64
		room func(workload.Claim, int64, float64) workload.Room
		most int64 // MaxTime
		want string
	}{
		{"room", hour, full, limits.None, "leave too little room at the deadline"},
		{"limit", hour / 2, nil, 90 * 60, "partition main allows"},
		{"wait", 10 * hour, nil, limits.None, "with probability 0.18 at best, however long its nodes may idle"},
	} {
		p := Planner{Forecaster: curve{mean: c.mean, sample: 1000}, Room: c.room, Cluster: site(func(of *limits.Partition) { of.MaxTime = c.most })}
		revised := p.Replan(r, current)
		if to, ok := p.Rescue(r, revised); ok {
			t.Errorf("%s: rescued by %+v", c.name, to)
		}
		if got := p.InVain(r, revised); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestRescueGives: what Rescue offers is what Replan does once that is agreed to, also where
// forecasts are rough.
func TestRescueGives(t *testing.T) {
	for mean := int64(300); mean <= 1500; mean += 50 {
		p := &Planner{Forecaster: rough(curve{mean: float64(mean), sample: 1000}, -.05), Cluster: site(nil)}
		r := request(1, 2*hour, .9)
		r.Earliest = r.Deadline - 720
		current := Submission{Begin: r.Earliest, Limit: r.enlarged(r.Earliest)}
		to, ok := p.Rescue(r, p.Replan(r, current))
		if !ok {
			continue
		}
		r.Earliest = to.Begin
		if got := p.Replan(r, current); to.Begin >= current.Begin || got.Prob < r.Prob || got.Begin == current.Begin {
			t.Errorf("mean wait %d: offered %+v, and then %+v", mean, to, got)
		}
	}
}
