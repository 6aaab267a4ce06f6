package server

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestTurns(t *testing.T) {
	ts := newTurns(3, 2)
	take := func(user string) (func(), error) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		return ts.take(ctx, user)
	}
	must := func(user string) func() {
		t.Helper()
		done, err := take(user)
		if err != nil {
			t.Fatalf("%s: %v", user, err)
		}
		return done
	}
	first, second := must("alice"), must("alice")
	if _, err := take("alice"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a third turn of alice's: %v", err)
	}
	third := must("bob")
	if _, err := take("carol"); !errors.Is(err, context.DeadlineExceeded) {
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
