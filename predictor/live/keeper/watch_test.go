package keeper

import (
	"testing"

	"github.com/varq-project/varq/predictor/live/ledger"
)

// Of many jobs that have left the queue, one Watch asks accounting for a few only, and each gets
// its turn.
func TestDue(t *testing.T) {
	entries := make([]ledger.Entry, 37)
	for i := range entries {
		entries[i].Open, entries[i].Job = true, int64(i+1)
	}
	row := transitions[len(transitions)-1]
	asked := map[int64]bool{}
	for now := int64(1_800_000_000); len(asked) < len(entries); now += 5 {
		due := row.due(newQueue(nil), entries, now)
		if row.most == 0 || len(due) != row.most {
			t.Fatalf("at %d, %d reservations", now, len(due))
		}
		for _, d := range due {
			asked[d.e.Job] = true
		}
	}
	if due := row.due(newQueue(nil), entries[:3], 1_800_000_000); len(due) != 3 {
		t.Errorf("of 3, %d", len(due))
	}
}
