package scores

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/forecast"
)

func TestOdds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	if list, err := l.Odds(t.Context()); err != nil || list != nil {
		t.Errorf("a new ledger has %v, %v", list, err)
	}
	want := []forecast.Odds{{Missed: .3, Expected: .1}, {Range: 1, Missed: 1, Expected: 2}, {User: "alice", Missed: 2, Expected: 1}}
	for _, list := range [][]forecast.Odds{{{Missed: 5, Expected: 5}, {Range: 1}, {Range: 2}}, want} {
		if err := l.SetOdds(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.db.Close(); err != nil {
		t.Fatal(err)
	}
	if list, err := open(t, path).Odds(t.Context()); err != nil || !slices.Equal(list, want) {
		t.Errorf("%v, %v, want %v", list, err, want)
	}
}
