package ledger

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// Each user may have so many promises without a job. A job, a settlement or time makes room for
// another.
func TestMaxUnclaimed(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	ctx := t.Context()
	id := func(i int) string { return fmt.Sprintf("plan%08d", i) }
	for i := range MaxUnclaimed {
		mustPromise(t, l, promise(id(i), "alice", 10_000))
	}
	full := func() bool {
		return errors.Is(l.Promise(ctx, promise("bbbbbbbbbbbb", "alice", 10_000), 0), ErrUnclaimed)
	}
	if !full() {
		t.Error("one too many")
	}
	mustPromise(t, l, promise("aaaaaaaaaaaa", "bob", 10_000))
	if err := l.Bind(ctx, id(0), "alice", 7, 100, 100, true); err != nil {
		t.Fatal(err)
	}
	mustPromise(t, l, promise("cccccccccccc", "alice", 10_000))
	if !full() {
		t.Error("after a job: one too many")
	}
	if err := l.Settle(ctx, id(1), Settlement{Outcome: api.StateCancelled}); err != nil {
		t.Fatal(err)
	}
	mustPromise(t, l, promise("dddddddddddd", "alice", 10_000))
	if !full() {
		t.Error("after a settlement: one too many")
	}
	mustPromise(t, l, promise("eeeeeeeeeeee", "alice", 10_000+2*86400))
}

// However many of a user's promises wait for their jobs, another one claims its room. But once such
// promises have kept room in vain for long, no more are made until the oldest are forgotten.
func TestInVain(t *testing.T) {
	const start = 1_000_000
	for name, test := range map[string]struct {
		// how many, the seconds from one to the next, and the seconds until each is taken back
		promises, every, takenBack int64
		unread                     int64 // seconds for which the queue was not read
		refused                    bool
	}{
		"a loop of submissions":  {promises: MaxUnclaimed - 2, every: 1},
		"one after another":      {promises: MaxInVain/unclaimedFor - 1, every: unclaimedFor},
		"one more":               {promises: MaxInVain / unclaimedFor, every: unclaimedFor, refused: true},
		"queue is not read":      {promises: 2 * MaxInVain / unclaimedFor, every: unclaimedFor, unread: 86400},
		"taken back at once":     {promises: MaxInVain / leastVain, every: 1, takenBack: 1, refused: true},
		"taken back in half":     {promises: 2*MaxInVain/unclaimedFor - 1, every: unclaimedFor, takenBack: unclaimedFor / 2},
		"one more taken back":    {promises: 2 * MaxInVain / unclaimedFor, every: unclaimedFor, takenBack: unclaimedFor / 2, refused: true},
		"taken back after hours": {promises: MaxInVain/unclaimedFor - 1, every: unclaimedFor, takenBack: 2 * 3600},
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
			ask := func(at int64) (string, error) {
				r := promise(api.NewPlanID(), "alice", start+86400)
				r.Promised = at
				return r.ID, l.Promise(t.Context(), r, at-test.unread)
			}
			for i := range test.promises {
				id, err := ask(start + i*test.every)
				if err == nil && test.takenBack != 0 {
					back := start + i*test.every + test.takenBack
					err = errors.Join(l.Withdraw(t.Context(), id, back), l.Settle(t.Context(), id, Settlement{At: back, Outcome: api.StateCancelled}))
				}
				if err != nil {
					t.Fatalf("promise %d: %v", i, err)
				}
			}
			now := start + test.promises*test.every
			before, err := l.Claims(t.Context(), now)
			if err != nil {
				t.Fatal(err)
			}
			_, err = ask(now)
			if test.refused {
				want := InVainError{Until: start + VainWithin}
				if got := (InVainError{}); !errors.As(err, &got) || got != want {
					t.Errorf("%v; want %v", err, want)
				}
				if _, err := ask(want.Until - 1); err == nil {
					t.Error("promised too early")
				}
				_, err = ask(want.Until)
			} else if after, cannot := l.Claims(t.Context(), now); cannot != nil || len(after) != len(before)+1 {
				t.Errorf("%d claims, %d before, %v", len(after), len(before), cannot)
			}
			if err != nil {
				t.Error(err)
			}
			if _, err := ask(now - 86400); err != nil {
				t.Errorf("after the clock was set back: %v", err)
			}
		})
	}
}
