package server

import (
	"context"
	"errors"
	"testing"
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
