package walltime

import (
	"math"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

func TestBetween(t *testing.T) {
	for k := range milestones {
		if got, share := between(milestone(k)); got != k || math.Abs(share) > 1e-9 {
			t.Errorf("milestone %d is %d and %v", k, got, share)
		}
	}
	if k, share := between(1e9); k != milestones-1 || share != 0 {
		t.Errorf("an old age is %d and %v", k, share)
	}
	last := -1.
	for age := range int64(5000) {
		k, share := between(age)
		if x := float64(k) + share; x <= last || share < 0 || share >= 1 {
			t.Fatalf("age %d is %v after %v", age, x, last)
		}
		last = float64(min(k+1, milestones)) - 1 + share
	}
}

// TestWatch: a job tests one distribution for each milestone that it reaches. Each
// distribution is made from what was known at the milestone.
func TestWatch(t *testing.T) {
	var p Predictor
	j := of(1)
	j.ID, j.Submit, j.Start, j.End = 7, 100, 200, 200+1000
	p.Submitted(j)
	p.Submitted(j) // repeated events change nothing
	p.Started(j)
	p.Started(j)
	p.advance(200 + 945) // reaches a milestone now, but may also end now
	if n := len(p.watch.jobs[7].said); n != 3 {
		t.Errorf("asked at %d milestones, want 3", n)
	}
	p.Learn(j)
	for k := range milestones {
		want := 0.
		if k <= 3 {
			want = 1
		}
		n := 0.
		for _, knot := range p.reliabilities[k].killing {
			n += knot.n
		}
		if math.Abs(n-want) > 1e-9 {
			t.Errorf("milestone %d: %v tests, want %v", k, n, want)
		}
	}
	if len(p.watch.jobs) != 0 {
		t.Error("it is watched still")
	}
}

func TestWatchIsBounded(t *testing.T) {
	var p Predictor
	for i := range int64(watchable + 10) {
		p.Submitted(&sched.Job{ID: i, User: 1, Procs: 1, Limit: 60})
	}
	if n := len(p.watch.jobs); n != watchable {
		t.Errorf("%d watched", n)
	}
	for i := range int64(watchable) {
		p.Forget(i)
	}
	if n := len(p.watch.jobs); n != 0 {
		t.Errorf("%d not forgotten", n)
	}
}
