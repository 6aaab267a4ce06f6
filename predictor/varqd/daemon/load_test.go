package daemon

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/slurm"
)

// hands is a clock that a test moves.
type hands struct{ at time.Time }

func (h *hands) now() time.Time { return h.at }

func (h *hands) move(d time.Duration) { h.at = h.at.Add(d) }

func TestLoad(t *testing.T) {
	h := &hands{time.Unix(1_800_000_000, 0)}
	l := newLoad(.1, h.now)
	take := func(d time.Duration, counts bool) {
		end := l.begin("queue", counts)
		h.move(d)
		end(nil)
	}
	h.move(time.Hour) // what was not used before does not count
	take(10*time.Second, true)
	for _, step := range []struct {
		pause time.Duration
		free  bool
	}{{0, false}, {89 * time.Second, false}, {time.Second, true}} { // 10 s in 100 s
		h.move(step.pause)
		if free := l.free(); free != step.free {
			t.Errorf("after %v more: free is %v", step.pause, free)
		}
	}

	// Two requests at once count as two, and one that does not count as none.
	first, second, third := l.begin("limits", true), l.begin("limits", true), l.begin("accounting", false)
	h.move(10 * time.Second)
	first(nil)
	second(slurm.ErrNotFound) // which is an answer
	h.move(189 * time.Second)
	third(nil)
	if l.free() {
		t.Error("20 s of requests in 199 s leave nothing owed")
	}
	if !l.paidWithin(time.Second) {
		t.Error("they leave more owed than is paid in a second")
	}
	h.move(time.Second)
	if !l.free() {
		t.Error("20 s of requests in 200 s leave something owed")
	}

	registry := prometheus.NewRegistry()
	registry.MustRegister(l)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		got[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
	}
	want := map[string]float64{"accounting": 199, "limits": 20, "queue": 10}
	if name := families[0].GetName(); name != "varq_slurmrestd_busy_seconds_total" || !maps.Equal(got, want) {
		t.Errorf("%s: %v", name, got)
	}
}

// A request that Slurm does not answer owes nothing, however many there are at once, and what was
// owed before stays.
func TestUnanswered(t *testing.T) {
	h := &hands{time.Unix(1_800_000_000, 0)}
	l := newLoad(.1, h.now)
	end := l.begin("queue", true)
	h.move(5 * time.Second)
	end(nil)
	var ends []func(error)
	for _, kind := range []string{"queue", "limits", "accounting", "job", "job", "change"} {
		ends = append(ends, l.begin(kind, true))
	}
	h.move(30 * time.Second)
	for i, err := range []error{slurm.ErrUnavailable, context.DeadlineExceeded, context.Canceled} {
		err := fmt.Errorf("read: %w", err)
		ends[2*i](err)
		ends[2*i+1](err)
	}
	h.move(15*time.Second - time.Millisecond)
	if l.free() {
		t.Error("what was owed before is forgotten")
	}
	h.move(time.Millisecond)
	if !l.free() {
		t.Error("requests without an answer are owed")
	}
}

// A request that is answered late, as Slurm was stuck, owes twice what others of its kind take, and
// so does one that is not answered yet. A slurmrestd that is slow indeed is believed after some
// requests.
func TestStuck(t *testing.T) {
	h := &hands{time.Unix(1_800_000_000, 0)}
	l := newLoad(.1, h.now)
	take := func(kind string, d time.Duration) (pause time.Duration) {
		for !l.free() {
			h.move(100 * time.Millisecond)
		}
		end := l.begin(kind, true)
		h.move(d)
		end(nil)
		for ; !l.free(); h.move(100 * time.Millisecond) {
			pause += 100 * time.Millisecond
		}
		return pause
	}
	// The first reading of a queue may well take long, but no reading of a job.
	for _, test := range []struct {
		kind        string
		took, least time.Duration
		most        time.Duration
	}{
		{"queue", 20 * time.Second, 180 * time.Second, 181 * time.Second},
		{"limits", time.Second, 9 * time.Second, 10 * time.Second},
		{"limits", 30 * time.Second, 0, time.Second}, // 2 s, which were paid while it was stuck
		{"job", 9 * time.Second, 0, 2 * time.Second},
	} {
		if pause := take(test.kind, test.took); pause < test.least || pause > test.most {
			t.Errorf("after %v for %s, something is owed for %v", test.took, test.kind, pause)
		}
	}

	stuck := l.begin("job", true)
	h.move(time.Minute)
	if !l.free() {
		t.Error("what is not answered yet is owed")
	}
	stuck(nil)

	h.move(24 * time.Hour)
	var pauses []time.Duration
	for range 8 {
		pauses = append(pauses, take("job", 10*time.Second).Round(time.Second))
	}
	if !slices.IsSorted(pauses) || pauses[0] > 3*time.Second || pauses[7] < 90*time.Second {
		t.Errorf("slow from now on: %v", pauses)
	}
}

// The share of late is what it was on average, and follows what changes.
func TestLoadOfLate(t *testing.T) {
	h := &hands{time.Unix(1_800_000_000, 0)}
	l := newLoad(.1, h.now)
	for range 600 { // two hours
		end := l.begin("queue", true)
		h.move(3 * time.Second)
		end(nil)
		h.move(9 * time.Second)
	}
	if l.pass(); math.Abs(l.recent-.25) > .01 {
		t.Errorf("%v of the time, not a quarter", l.recent)
	}
	h.move(time.Hour)
	if l.pass(); l.recent > .001 {
		t.Errorf("%v of the time after an hour without requests", l.recent)
	}
}
