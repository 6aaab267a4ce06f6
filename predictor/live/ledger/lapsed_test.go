package ledger

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// A job can take up a plan while the plan claims its room. After that, the room must be granted
// again: when the plan was taken back, or was without a job for long.
func TestBindLapsed(t *testing.T) {
	l, ctx := open(t, filepath.Join(t.TempDir(), "ledger.db")), t.Context()
	const made = 6400
	bind := func(plan string, job, at int64, granted bool) error {
		return l.Bind(ctx, plan, "alice", job, made, at, granted)
	}
	for _, id := range []string{"fresh", "old", "back", "late"} {
		r := promise(id, "alice", 10_000)
		r.Promised = made
		mustPromise(t, l, r)
	}
	if err := bind("fresh", 1, made+bindsFor, false); err != nil {
		t.Error(err)
	}
	if err := bind("old", 2, made+bindsFor+1, false); !errors.Is(err, ErrLapsed) {
		t.Errorf("without a job for long: %v", err)
	}
	if err := l.Withdraw(ctx, "fresh", made); !errors.Is(err, ErrTaken) {
		t.Errorf("a plan with a job is taken back: %v", err)
	}
	for range 2 {
		if err := l.Withdraw(ctx, "back", made+1); err != nil {
			t.Error(err)
		}
	}
	if e := one(t, l, Query{Plan: "back"}); e.State != api.StatePromised || e.Withdrawn != made+1 || !e.Open {
		t.Errorf("%+v", e)
	}
	if err := bind("back", 3, made+2, false); !errors.Is(err, ErrLapsed) {
		t.Errorf("taken back: %v", err)
	}
	if err := bind("back", 3, made+2, true); err != nil {
		t.Error(err)
	}
	if e := one(t, l, Query{Plan: "back"}); e.State != api.StatePending || e.Withdrawn != 0 {
		t.Errorf("%+v", e)
	}
}

// A tentative promise that was taken back cannot be confirmed, but its job is still found.
func TestWithdrawnIsNotConfirmed(t *testing.T) {
	l, ctx := open(t, filepath.Join(t.TempDir(), "ledger.db")), t.Context()
	r := promise("aaaaaaaaaaaa", "alice", 10_000)
	r.Tentative = 9000
	mustPromise(t, l, r)
	if err := errors.Join(l.Withdraw(ctx, r.ID, 6401), l.Bind(ctx, r.ID, "alice", 7, 6400, 6402, false)); err != nil {
		t.Fatal(err)
	}
	e := one(t, l, Query{Plan: r.ID})
	e.Progress.Confirmed = 6403
	if err := l.Record(ctx, r.ID, e.Progress); !errors.Is(err, ErrWithdrawn) {
		t.Errorf("confirmed: %v", err)
	}
	if e := one(t, l, Query{Plan: r.ID}); e.Job != 7 || e.Progress.Confirmed != 0 || e.Withdrawn == 0 {
		t.Errorf("%+v", e)
	}
}

// A promise without a job is forgotten after a day, or if its user has many later ones. All others
// stay.
func TestForget(t *testing.T) {
	l, ctx := open(t, filepath.Join(t.TempDir(), "ledger.db")), t.Context()
	const now = 1_000_000
	add := func(user string, job, settled int64, s Settlement) string {
		t.Helper()
		id := api.NewPlanID()
		r := promise(id, user, now)
		r.Promised = settled - 60
		mustPromise(t, l, r)
		if job != 0 {
			if err := l.Bind(ctx, id, user, job, settled, settled, true); err != nil {
				t.Fatal(err)
			}
		}
		if s.At = settled; settled != 0 {
			s.Outcome = api.StateCancelled
			if err := l.Settle(ctx, id, s, Event{At: settled, Kind: Note, Text: "so"}); err != nil {
				t.Fatal(err)
			}
		}
		return id
	}
	old, edge := int64(now-keptUnused-1), int64(now-keptUnused)
	gone := []string{add("alice", 0, old, Settlement{})}
	kept := []string{add("alice", 0, edge, Settlement{}), add("alice", 7, old, Settlement{}), add("alice", 0, old, Settlement{Refused: 8}), add("alice", 0, 0, Settlement{})}
	for i := range int64(mostUnused + 1) {
		id := add("bob", 0, now-1000+i, Settlement{})
		if i == 0 {
			gone = append(gone, id)
		} else {
			kept = append(kept, id)
		}
	}
	if err := l.Forget(ctx, now); err != nil {
		t.Fatal(err)
	}
	for _, id := range gone {
		events, err := l.Events(ctx, id)
		entries, err2 := l.Select(ctx, Query{Plan: id})
		if len(events)+len(entries) > 0 || err != nil || err2 != nil {
			t.Errorf("%v %v %v %v", entries, events, err, err2)
		}
	}
	for _, id := range kept {
		one(t, l, Query{Plan: id})
	}
	if e := one(t, l, Query{Job: 8}); e.Job != 0 || e.Refused != 8 {
		t.Errorf("%+v", e)
	}
}
