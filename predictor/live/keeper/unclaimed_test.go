package keeper

import (
	"context"
	"fmt"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
)

// What could not be written down does not count.
func TestFailedPromisesDoNotCount(t *testing.T) {
	s := newSite(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10_000 {
		if _, err := s.Plan(gone, "alice", request(epoch+7200), true); err == nil {
			t.Fatal("promised, though it could not be written down")
		}
	}
	if a, err := s.Plan(t.Context(), "alice", request(epoch+7200), true); err != nil || a.Plan == nil {
		t.Errorf("%+v, %v", a, err)
	}
}

// Many plans that no job has taken up are closed some at a time: none of them keeps the
// keeper's lock for long.
func TestManyExpire(t *testing.T) {
	s := newSite(t)
	const more = 100
	for i := range maxExpired + more {
		r := &api.Reservation{Plan: api.Plan{ID: api.NewPlanID(), BeginBy: epoch}, User: fmt.Sprint("user", i/ledger.MaxUnclaimed), Promised: epoch - 3600}
		if err := s.Ledger.Promise(t.Context(), r, 0); err != nil {
			t.Fatal(err)
		}
	}
	s.clock = epoch + 301
	s.outlook.covered = s.clock
	for _, want := range []int{more, 0, 0} {
		if err := s.watch(); err != nil {
			t.Fatal(err)
		}
		open, err := s.Ledger.Select(t.Context(), ledger.Query{Open: true})
		if err != nil || len(open) != want {
			t.Errorf("%d are open, %v; want %d", len(open), err, want)
		}
	}
	if text := s.log.String(); text != "" {
		t.Error(text)
	}
}
