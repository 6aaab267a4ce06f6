package pending

import (
	"math"
	"testing"
)

// TestSampleIsFair: while more jobs wait than can be remembered, the same share is learnt of
// jobs that wait for an hour and of jobs that wait for weeks. Once few jobs wait, all of
// them are learnt.
func TestSampleIsFair(t *testing.T) {
	s := New[int64]()
	// Half of the jobs wait until 500 others have come, and half until 40,001 have come.
	var came, learnt [2]float64
	const n = 400_000
	for id := range int64(n) {
		s.Put(id, id)
		if s.Len() > Most {
			t.Fatalf("%d are remembered", s.Len())
		}
		for kind, wait := range [...]int64{500, 40_001} {
			if done := id - wait; done >= 0 && done%2 == int64(kind) {
				of, ok := s.Take(done)
				if ok && of != done {
					t.Fatalf("%d of job %d", of, done)
				}
				if done < n/8 { // at first, all jobs are remembered
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
		s.Take(id)
	}
	if s.Put(n+1, n+1); s.Len() != 1 || s.mask != 0 {
		t.Errorf("%d are remembered of one, by %b", s.Len(), s.mask)
	}
}
