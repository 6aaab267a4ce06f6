package desk

import (
	"context"
	"testing"

	"github.com/varq-project/varq/predictor/live/desk/desktest"
)

// A promise that could not be written down does not count.
func TestFailedPromisesDoNotCount(t *testing.T) {
	s := newSite(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10_000 {
		if _, err := s.desk.Plan(gone, "alice", desktest.Request(desktest.Epoch+7200), true); err == nil {
			t.Fatal("promised, though it could not be written down")
		}
	}
	if a, err := s.desk.Plan(t.Context(), "alice", desktest.Request(desktest.Epoch+7200), true); err != nil || a.Plan == nil {
		t.Errorf("%+v, %v", a, err)
	}
}
