package daemon

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/groups"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/varqd/config"
)

// A varqd asks itself for groups that it keeps, and others by the names in varq.yaml alone.
func TestHomes(t *testing.T) {
	ctx := t.Context()
	file, err := statefile.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	own, err := groups.New(ctx, groups.Options{Ledger: ledger.New(file), Peer: onlyPeer("me"), Now: func() int64 { return 7 }, Prob: .9, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Sites = []config.Site{{Name: "beta", Endpoint: "unix:///nowhere/varqd.sock"}}
	h := newHomes(own, "me", &c, nil)
	if !h.Knows("") || !h.Knows("beta") || h.Knows("gamma") {
		t.Error("it knows itself, and beta")
	}
	r := api.GroupRequest{ID: "gggggggggggg", Kind: api.GroupAny, Deadline: 99, Prob: .5, Members: []api.GroupMember{{Plan: "aaaaaaaaaaaa", Job: 7, Prob: .9}}}
	if _, err := own.RegisterGroup(ctx, "alice", r); err != nil {
		t.Fatal(err)
	}
	claim := api.GroupClaim{Group: r.ID, Plan: "aaaaaaaaaaaa", Job: 7, User: "alice"}
	if states, err := h.States(ctx, "", api.GroupsQuery{Groups: []string{r.ID}}); err != nil || len(states) != 1 || !states[0].Open {
		t.Errorf("%v, %v", states, err)
	}
	if a, err := h.Claim(ctx, "", claim); err != nil || a.Answer != api.GateGo {
		t.Errorf("%+v, %v", a, err)
	}
	for _, home := range []string{"beta", "gamma"} { // neither is a decision: the work waits
		if a, err := h.Claim(ctx, home, claim); err == nil || api.Refused(err) {
			t.Errorf("%s: %+v, %v", home, a, err)
		}
		if _, err := h.States(ctx, home, api.GroupsQuery{Groups: []string{r.ID}}); err == nil || api.Refused(err) {
			t.Errorf("%s: %v", home, err)
		}
	}
	if err := h.askDelays(ctx, "beta"); err == nil || errors.Is(err, api.ErrForbidden) {
		t.Error(err)
	}
}

// onlyPeer knows one peer, which speaks for all users at all sites.
func onlyPeer(name string) func(user string) *groups.Peer {
	return func(user string) *groups.Peer {
		if user != name {
			return nil
		}
		return &groups.Peer{Speaks: func(string) bool { return true }}
	}
}
