package twin

import (
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// TestCautious: as long as nobody knows how long the jobs that wait run, a cautious wait is that of
// jobs which run for long. When a few of them have ended, those that still wait are taken to be
// like them, and a cautious wait is near the expected one, whatever the limits.
func TestCautious(t *testing.T) {
	const limit, run = 172_800, 20
	b := sit(poolOf(10))
	now := int64(1000)
	for range 400 { // jobs with another limit
		j := b.start(now, b.submit(now, 10, 600))
		now += 400
		b.end(now, j)
	}
	var waiting []workload.Job
	for range 60 {
		waiting = append(waiting, b.submit(now, 10, limit))
	}
	ask := func() Point { return b.w.Point(request(10, 600), now, 0) }
	if p := ask(); p.Cautious < 60*limit/4 || p.Expected < 60*limit/4 {
		t.Errorf("%d s expected, %d at most, though all past jobs ran for two thirds of their limits", p.Expected, p.Cautious)
	}
	for len(waiting) > 40 {
		j := b.start(now, waiting[0])
		now += run
		b.end(now, j)
		waiting = waiting[1:]
	}
	work := run * int64(len(waiting))
	if p := ask(); p.Expected > work*3/2 || p.Cautious > work*2 || p.Limits < limit {
		t.Errorf("%d s expected, %d at most, %d by limits; the jobs ahead run for %d s", p.Expected, p.Cautious, p.Limits, work)
	}
}
