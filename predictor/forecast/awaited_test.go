package forecast

import (
	"math"
	"testing"
)

// TestAwaitedFairly: while more jobs wait than are remembered, as many of those that
// wait for an hour are learnt from as of those that wait for weeks; and of all, once
// they are few again.
func TestAwaitedFairly(t *testing.T) {
	a := newAwaited[int64]()
	// Every second job waits for 500 others, and every second for 40,000.
	var came, learnt [2]float64
	const n = 400_000
	for id := range int64(n) {
		a.put(id, id)
		if len(a.said) > mostAwaited {
			t.Fatalf("%d are remembered", len(a.said))
		}
		for kind, wait := range [...]int64{500, 40_001} {
			if done := id - wait; done >= 0 && done%2 == int64(kind) {
				said, ok := a.take(done)
				if ok && said != done {
					t.Fatalf("%d of job %d", said, done)
				}
				if done < n/8 { // in the beginning all are kept, at first
					continue
				}
				came[kind]++
				if ok {
					learnt[kind]++
				}
			}
		}
	}
	short, long := learnt[0]/came[0], learnt[1]/came[1]
	if long < .1 || math.Abs(short/long-1) > .05 {
		t.Errorf("learnt from %.3f of the short waits, and %.3f of the long ones", short, long)
	}
	for id := range int64(n) {
		a.take(id)
	}
	if a.put(n+1, n+1); len(a.said) != 1 || a.left != 0 {
		t.Errorf("%d are remembered of one, by %b", len(a.said), a.left)
	}
}
