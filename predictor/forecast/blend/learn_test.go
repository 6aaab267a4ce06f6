package blend

import (
	"runtime"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/forecast/pending"
	"github.com/varq-project/varq/predictor/workload"
)

// TestDown: while an expert reports that the cluster is down, the blend answers only with
// the reason. It does not learn from the waits of jobs submitted then.
func TestDown(t *testing.T) {
	const outage = "the cluster has been down since noon"
	watch := always("watch", forecasttest.Exponential(100))
	l := newLife(1, always("other", forecasttest.Exponential(100)), watch)
	l.jobs(500, "a", 100)
	_, before, _ := l.submit("a")
	watch.down = outage
	for range 100 {
		j, a, ok := l.submit("a")
		if ok || !strings.Contains(a.Down, outage) {
			t.Fatalf("answers %v, down %q", ok, a.Down)
		}
		l.wait(j, 50_000)
	}
	watch.down = ""
	_, after, ok := l.submit("a")
	if !ok || after.Down != "" || after.Recalibrated != before.Recalibrated || after.Wait != before.Wait {
		t.Errorf("after the outage, answers %v with %v past forecasts, before %v", ok, after.Recalibrated, before.Recalibrated)
	}
}

// TestCancelled: the blend learns nothing from jobs that end without a start.
func TestCancelled(t *testing.T) {
	l := newLife(2, always("one", forecasttest.Exponential(100)), always("other", forecasttest.Exponential(1000)))
	l.jobs(200, "a", 100)
	_, before, _ := l.submit("a")
	for range 200 {
		j, _, _ := l.submit("a")
		j.End = j.Submit + 50_000
		l.Ended(&j)
		l.wait(j, 60_000) // a start after the end: the job is not known any more
	}
	if _, after, _ := l.submit("a"); after.Wait != before.Wait || after.Recalibrated != before.Recalibrated {
		t.Errorf("%v past forecasts, before %v", after.Recalibrated, before.Recalibrated)
	}
}

// TestUnknownJobs: after a restart, jobs start and end whose submission the blend has not
// observed. It ignores them.
func TestUnknownJobs(t *testing.T) {
	l := newLife(3, always("one", forecasttest.Exponential(100)))
	_, before, _ := l.submit("a")
	for id := range int64(100) {
		j := workload.Job{ID: 1e6 + id, Submit: 999_000_000, Eligible: 999_000_000, Start: l.now}
		l.Started(&j)
		j.End = l.now + 10
		l.Ended(&j)
		l.Ended(&j)
	}
	if _, after, ok := l.submit("a"); !ok || after.Wait != before.Wait {
		t.Errorf("answers %v, with %v past forecasts", ok, after.Recalibrated)
	}
}

// TestImpossibleWaits: the blend learns nothing from a job that starts before it is
// eligible.
func TestImpossibleWaits(t *testing.T) {
	l := newLife(4, always("one", forecasttest.Exponential(100)))
	_, before, _ := l.submit("a")
	for range 100 {
		j, _, _ := l.submit("a")
		l.wait(j, -50)
	}
	if _, after, _ := l.submit("a"); after.Wait != before.Wait {
		t.Errorf("%v past forecasts", after.Recalibrated)
	}
}

// TestBlendIsBounded: memory is bounded although jobs never start.
func TestBlendIsBounded(t *testing.T) {
	l := newLife(5, always("one", forecasttest.Exponential(100)))
	fill := func(n int) uint64 {
		for range n {
			l.submit("a")
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := fill(pending.Most)
	if after := fill(4 * pending.Most); after > before+before/10+1<<20 {
		t.Errorf("%d bytes after %d jobs, %d after five times as many", before, pending.Most, after)
	}
	runtime.KeepAlive(l)
}
