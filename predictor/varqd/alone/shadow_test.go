package alone

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// What would have been promised about a user's jobs follows from the past that has been read.
func TestShadow(t *testing.T) {
	l := newLab(t)
	f := l.forecaster()
	defer f.Close()
	if _, err := Shadow(t.Context(), &f.Options, api.ShadowQuery{}, func(int) {}); err == nil || !strings.Contains(err.Error(), "no past job is known") {
		t.Error(err)
	}
	if err := f.advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	done := 0
	q := api.ShadowQuery{Start: epoch - 2*day, End: epoch - day}
	got, err := Shadow(t.Context(), &f.Options, q, func(percent int) { done = percent })
	if err != nil {
		t.Fatal(err)
	}
	if got.Jobs < 50 || got.From < q.Start || got.To >= q.End || got.Watching || done != 100 {
		t.Errorf("%+v, %d %%", got, done)
	}
	for _, r := range got.Rows {
		if r.Partition == "" && r.Prob == .9 && (r.Kept < r.Jobs*8/10 || r.Refused > 0) {
			t.Errorf("%+v", r)
		}
	}
	// It is the same again, and of another user there are others.
	again, err := Shadow(t.Context(), &f.Options, q, func(int) {})
	if err != nil || len(again.Rows) == 0 || again.Rows[0] != got.Rows[0] {
		t.Error(again, err)
	}
	carol := f.Options
	carol.User = "carol"
	if got, err := Shadow(t.Context(), &carol, q, func(int) {}); err != nil || got.Jobs != 0 {
		t.Error(got, err)
	}
}
