package ledger

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
)

// TestGrouped: whatever is written, and whenever it is asked for, the book has the members of
// groups that the file has.
func TestGrouped(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	ctx := t.Context()
	outcomes := []string{api.StateKept, api.StateMissed, api.StateCancelled}
	var plans []string
	compare := func(since int64) {
		t.Helper()
		got, err := l.Grouped(ctx, since)
		if err != nil {
			t.Fatal(err)
		}
		want, err := l.Select(ctx, Query{Grouped: true, Selection: api.Selection{Start: since}})
		if err != nil {
			t.Fatal(err)
		}
		want = slices.DeleteFunc(want, func(e Entry) bool { return e.Job == 0 })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
	since, most := int64(1), 0
	for i := range 300 {
		p := promise(fmt.Sprintf("plan%08d", i), "alice", 10_000+60*int64(r.IntN(300)))
		if r.IntN(3) > 0 {
			p.Group, p.Home = "group", "other"
		}
		mustPromise(t, l, p)
		if r.IntN(5) > 0 {
			if err := l.Bind(ctx, p.ID, "alice", int64(i+1), 100, 100, true); err != nil {
				t.Fatal(err)
			}
			plans = append(plans, p.ID)
		} else if err := errors.Join(l.Settle(ctx, p.ID, Settlement{At: 1, Outcome: api.StateCancelled}), l.Refuse(ctx, p.ID, 1000, Event{At: 1, Kind: Note})); err != nil {
			t.Fatal(err)
		}
		for range r.IntN(3) {
			if len(plans) == 0 {
				break
			}
			plan, outcome := plans[r.IntN(len(plans))], outcomes[r.IntN(len(outcomes))]
			known, err := l.Select(ctx, Query{Plan: plan})
			switch e := &known[0]; {
			case err != nil:
			case !e.Open:
				err = l.Correct(ctx, plan, Settlement{At: 3, Outcome: outcome})
			case r.IntN(2) == 0:
				err = l.Settle(ctx, plan, Settlement{At: 2, Outcome: outcome})
			default:
				e.Progress.Yielded = !e.Progress.Yielded
				err = l.Record(ctx, plan, e.Progress)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if r.IntN(4) == 0 {
			since = max(1, since+int64(r.IntN(600)-50))
			compare(since)
			most = max(most, len(l.book.settled.byPlan))
		}
	}
	if most < 20 {
		t.Errorf("at most %d settled members were remembered", most)
	}
	l.book.changed(slices.Clone(plans)...)
	for i := range 2 * manyStale { // so many that all is read again
		l.book.changed(fmt.Sprintf("none%08d", i))
	}
	compare(since)
	compare(1) // earlier than before
}
