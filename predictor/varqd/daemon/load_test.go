package daemon

import (
	"maps"
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
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
		end()
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
	first, second, third := l.begin("job", true), l.begin("job", true), l.begin("accounting", false)
	h.move(10 * time.Second)
	first()
	second()
	h.move(189 * time.Second)
	third()
	if l.free() {
		t.Error("20 s of requests in 199 s leave nothing owed")
	}
	h.move(time.Second)
	if !l.free() {
		t.Error("20 s of requests in 200 s leave something owed")
	}

	take(time.Hour, true)
	l.forgive()
	if !l.free() {
		t.Error("owed after it was forgiven")
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
	want := map[string]float64{"accounting": 199, "job": 20, "queue": 3610}
	if name := families[0].GetName(); name != "varq_slurmrestd_busy_seconds_total" || !maps.Equal(got, want) {
		t.Errorf("%s: %v", name, got)
	}
}

// The share of late is what it was on average, and follows what changes.
func TestLoadOfLate(t *testing.T) {
	h := &hands{time.Unix(1_800_000_000, 0)}
	l := newLoad(.1, h.now)
	for range 600 { // two hours
		end := l.begin("queue", true)
		h.move(3 * time.Second)
		end()
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
