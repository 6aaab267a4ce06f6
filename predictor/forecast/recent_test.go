package forecast

import (
	"sync"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// about returns a question that no other number has.
func about(n int64) *Question {
	return &Question{Request: workload.Request{User: "alice"}, Now: n, Submit: n}
}

// TestRecent: what is noted of one question is not lost by others that are asked in between, but by
// an event, and it does not grow without end.
func TestRecent(t *testing.T) {
	var r Recent[int64]
	r.Forget()
	var asking sync.WaitGroup
	for first := range int64(4) {
		asking.Go(func() {
			for n := first; n < 400; n += 4 {
				r.Put(about(n), n)
			}
		})
	}
	asking.Wait()
	for n := range int64(400) {
		if got, ok := r.Get(about(n)); !ok || got != n {
			t.Fatalf("of question %d: %d, %v", n, got, ok)
		}
	}
	r.Forget()
	if _, ok := r.Get(about(7)); ok {
		t.Error("an event has not made it forget")
	}
	for n := range int64(3 * mostRecent) {
		if r.Put(about(n), n); len(r.about) > mostRecent {
			t.Fatalf("it knows something about %d questions", len(r.about))
		}
		if got, ok := r.Get(about(n)); !ok || got != n {
			t.Fatalf("what was noted last of question %d is lost", n)
		}
	}
}
