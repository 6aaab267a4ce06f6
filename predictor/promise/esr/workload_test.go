package esr

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// twoGroups is a cluster of 4 nodes with 10 processors each, of which two partitions share one, and
// a third is apart.
func twoGroups() *limits.Cluster {
	node := func(name string, usable bool) limits.Node { return limits.Node{Name: name, CPUs: 10, Usable: usable} }
	partition := func(name string, nodes ...string) limits.Partition {
		return limits.Partition{Name: name, Up: true, Nodes: nodes, DefaultTime: 600, MaxTime: limits.None}
	}
	return &limits.Cluster{
		Nodes:        map[string]limits.Node{"a": node("a", true), "b": node("b", true), "c": node("c", true), "d": node("d", false)},
		Partitions:   map[string]limits.Partition{"main": partition("main", "a", "b", "d"), "short": partition("short", "b"), "apart": partition("apart", "c")},
		Reservations: []limits.Reservation{{Name: "maint", Start: 1500, End: 2500, Nodes: []string{"a", "c"}}},
	}
}

func job(partition string, cpus int32, eligible, start, limit int64) *workload.Job {
	return &workload.Job{Request: workload.Request{Partition: partition, Size: workload.Size{Nodes: 1, CPUs: cpus}, Limit: limit}, Eligible: eligible, Start: start}
}

// Jobs of partitions that share nodes keep each other busy, and no others do; what is held does
// not.
func TestNewLoad(t *testing.T) {
	array := job("short,apart", 2, 900, 0, 1000)
	array.Tasks = 5
	jobs := slices.Values([]*workload.Job{
		job("main", 10, 800, 900, 1100),  // 1000 s are left
		job("short", 5, 800, 900, 50),    // none is
		job("main", 20, 900, 0, 0),       // waits, for the default time
		array,                            // is one in the first of its partitions
		job("main", 10, 0, 0, 1000),      // is held
		job("apart", 10, 800, 900, 5000), // is elsewhere
		job("gone", 10, 800, 900, 5000),  // is nowhere
	})
	l := NewLoad(twoGroups(), "main", jobs, 1000, 1e6)
	if l.Nodes != 20 || len(l.Running) != 2 || len(l.Waiting) != 2 || len(l.Reservations) != 1 {
		t.Fatalf("%+v", l)
	}
	if want := (Reservation{1500, 2500, 10}); l.Reservations[0] != want {
		t.Errorf("%+v, want %+v", l.Reservations[0], want)
	}
	// Half of the limits: 10*500/15 s, then (20*300 + 10*500)/20 s, then, as the reservation begins
	// before, 10*1000/20 s.
	if got, want := l.End(), 1000+10*500./15+(20*300+10*500)/20.+500; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
	if l := NewLoad(twoGroups(), "nowhere", jobs, 1000, 1e6); !math.IsInf(l.End(), 1) {
		t.Errorf("%+v", l)
	}
}

func TestKnowledge(t *testing.T) {
	k := Knowledge{Now: 1000, Scale: PaperScale, Ends: 2000}
	for _, c := range []struct {
		start int64
		want  Rates
	}{{1000, Rates{}}, {1999, Rates{Static: Static(999, PaperScale)}}, {2000, Rates{Static: Static(1000, PaperScale), Load: 1}}} {
		if got := k.Rates(4, c.start, c.start+600); got != c.want {
			t.Errorf("%d: %+v, want %+v", c.start, got, c.want)
		}
	}
	k.Idle = &History{Zone: time.UTC}
	k.Idle.Record(2100, 6)
	got := k.Rates(4, 2100, 2400)
	if want := Rate(4, 6); !got.Recorded || got.History != want {
		t.Errorf("%+v, want %v", got, want)
	}
	if got := k.Rates(4, 3000, 3300); got.Recorded {
		t.Errorf("nothing is recorded of that time of day: %+v", got)
	}
	for method, want := range map[string]float64{MethodStatic: got.Static, MethodHistory: got.History, MethodLoad: 1} {
		if rate, ok := got.Of(method); !ok || rate != want {
			t.Errorf("%s: %v, %v", method, rate, ok)
		}
	}
	none := Rates{}
	if _, ok := none.Of(MethodHistory); ok {
		t.Error("it knows what nobody has recorded")
	}
}
