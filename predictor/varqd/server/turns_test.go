package server

import (
	"context"
	"errors"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

func TestTurns(t *testing.T) {
	ts := newTurns(3, 2)
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	must := func(user string) func() {
		t.Helper()
		done, err := ts.take(t.Context(), user)
		if err != nil {
			t.Fatalf("%s: %v", user, err)
		}
		return done
	}
	first, second := must("alice"), must("alice")
	if _, err := ts.take(impatient, "alice"); !errors.Is(err, context.Canceled) {
		t.Errorf("a third turn of alice's: %v", err)
	}
	third := must("bob")
	if _, err := ts.take(impatient, "carol"); !errors.Is(err, context.Canceled) {
		t.Errorf("a fourth turn: %v", err)
	}
	first()
	must("carol")()
	second()
	third()
	if len(ts.users) != 0 || len(ts.all) != 0 {
		t.Errorf("left over: %v, %d", ts.users, len(ts.all))
	}
}

// A request for which many plans are made has a turn of those, so that no other waits for it.
func TestTakesLong(t *testing.T) {
	const one, two = `{"job":{},"sizes":[{"nodes":1}]}`, `{"job":{},"Sizes":[{"nodes":1},{"nodes":2}]}`
	for _, c := range []struct {
		path, body string
		long       bool
	}{
		{api.PathProbe, one, true},
		{api.PathSize, one, true},
		{api.PathPlan, one, false},
		{api.PathPlan, two, true},
		{api.PathQuote, two, true},
		{api.PathPredict, two, false},
		{api.PathPlan, `{"sizes":`, false},
		{api.PathPlan, "", false},
	} {
		if got := takesLong(c.path, []byte(c.body)); got != c.long {
			t.Errorf("%s of %s takes long: %v", c.path, c.body, got)
		}
	}
}
