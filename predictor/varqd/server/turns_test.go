package server

import (
	"context"
	"errors"
	"net/http"
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
	if len(ts.users) != 0 || ts.taken != 0 || len(ts.waiting) != 0 {
		t.Errorf("left over: %v, %d, %d", ts.users, ts.taken, len(ts.waiting))
	}
}

// However many requests others have made before, a user waits for one of each of them at most.
func TestTurnsAreFair(t *testing.T) {
	ts := newTurns(2, 2)
	ends := map[string]func(){}
	for _, user := range []string{"u0", "u1"} {
		done, err := ts.take(t.Context(), user)
		if err != nil {
			t.Fatal(err)
		}
		ends[user] = done
	}
	waiters := map[*waiter]string{}
	for range 10 {
		for i := range 5 {
			user := "u" + string(rune('0'+i))
			waiters[ts.enter(user)] = user
		}
	}
	victim := ts.enter("alice")
	working := []string{"u0", "u1"}
	for served := 0; ; served++ {
		select {
		case <-victim.turn:
			if others := served - 1; others > 5 {
				t.Errorf("%d others came first", others)
			}
			return
		default:
		}
		if served > 20 {
			t.Fatal("alice is never served")
		}
		ts.leave(working[0])
		working = working[1:]
		for w, user := range waiters {
			select {
			case <-w.turn:
				delete(waiters, w)
				working = append(working, user)
			default:
			}
		}
	}
}

// A request for which many plans are made has a turn of those, so that no other waits for it.
func TestTurnsOf(t *testing.T) {
	const one, two = `{"job":{},"sizes":[{"nodes":1}]}`, `{"job":{},"Sizes":[{"nodes":1},{"nodes":2}]}`
	h := &handler{turns: newClass(1, 1), thinkTurns: newClass(1, 1), longTurns: newClass(1, 1), sizesTurns: newClass(1, 1), gateTurns: newClass(1, 1)}
	for _, c := range []struct {
		path, body string
		want       class
	}{
		{api.PathProbe, one, h.longTurns},
		{api.PathSize, one, h.longTurns},
		{api.PathPlan, one, h.thinkTurns},
		{api.PathPlan, two, h.sizesTurns},
		{api.PathQuote, two, h.sizesTurns},
		{api.PathPredict, two, h.thinkTurns},
		{api.PathPlan, `{"sizes":`, h.thinkTurns},
		{api.PathGate, "", h.gateTurns},
		{api.PathBind, "", h.turns},
	} {
		if got, whose := h.turnsOf(c.path, &request{Request: &http.Request{}, body: []byte(c.body), user: "alice"}); got != c.want || whose != "alice" {
			t.Errorf("%s of %s has other turns, or those of %q", c.path, c.body, whose)
		}
	}
}
