package groups

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/live/statefile"
)

// home is a home whose clock a test sets. alice has the groups, and varq is the peer.
type home struct {
	*Groups
	t     *testing.T
	path  string
	file  *sqlitefile.File
	clock atomic.Int64
}

const start = 1_000_000

func newHome(t *testing.T) *home {
	h := &home{t: t, path: filepath.Join(t.TempDir(), "ledger.db")}
	h.clock.Store(start)
	h.open()
	t.Cleanup(func() { h.file.Close() })
	return h
}

func (h *home) open() {
	h.t.Helper()
	var err error
	if h.file, err = statefile.Open(h.path); err != nil {
		h.t.Fatal(err)
	}
	if h.Groups, err = New(h.t.Context(), Options{
		Ledger: ledger.New(h.file), Peer: onlyPeer("varq"), Now: h.clock.Load, Prob: .9, Log: slog.New(slog.DiscardHandler),
	}); err != nil {
		h.t.Fatal(err)
	}
}

// crash is kill -9.
func (h *home) crash() {
	h.file.Close()
	h.open()
}

// onlyPeer knows one peer, which speaks for all users at all sites.
func onlyPeer(name string) func(user string) *Peer {
	return func(user string) *Peer {
		if user != name {
			return nil
		}
		return &Peer{Speaks: func(string) bool { return true }}
	}
}

const (
	group = "gggggggggggg"
	a, b  = "aaaaaaaaaaaa", "bbbbbbbbbbbb"
)

func request(kind string, deadline int64) api.GroupRequest {
	return api.GroupRequest{ID: group, Kind: kind, Deadline: deadline, Prob: .5, Members: []api.GroupMember{
		{Site: "alpha", Plan: a, Job: 17, Prob: .8}, {Site: "beta", Plan: b, Job: 23, Prob: .7},
	}}
}

func (h *home) register(kind string, deadline int64) {
	h.t.Helper()
	if _, err := h.RegisterGroup(h.t.Context(), "alice", request(kind, deadline)); err != nil {
		h.t.Fatal(err)
	}
}

// promises are what the sites have promised to the members of request and nested.
var promises = []api.MemberPromise{{Plan: a, Prob: .8, GroupProb: .5}, {Plan: b, Prob: .7, GroupProb: .5}, {Plan: c, Prob: .6, GroupProb: .5}}

// look makes the sites ask about the group, as at each look while its jobs wait.
func (h *home) look() {
	h.t.Helper()
	if _, err := h.GroupStates(h.t.Context(), "varq", api.GroupsQuery{Groups: []string{group}, Promises: promises}); err != nil {
		h.t.Fatal(err)
	}
}

var jobs = map[string]int64{a: 17, b: 23, c: 29}

// ask asks for a member as its site does, and returns the answer in words.
func (h *home) ask(plan string) string {
	h.t.Helper()
	answer, err := h.ClaimGroup(h.t.Context(), "varq", api.GroupClaim{Group: group, Plan: plan, Job: jobs[plan], User: "alice"})
	if err != nil {
		return err.Error()
	}
	text := answer.Answer
	if answer.At != 0 {
		text += fmt.Sprintf(" at %+d", answer.At-start)
	}
	if answer.Why != "" {
		text += ": " + answer.Why
	}
	return text
}

func (h *home) want(got, want string) {
	h.t.Helper()
	if got != want {
		h.t.Errorf("got %q, want %q", got, want)
	}
}

// The first job that asks begins, and no other, also if the home was killed in between.
func TestFirstWins(t *testing.T) {
	for _, order := range [][2]string{{a, b}, {b, a}} {
		h := newHome(t)
		h.register(api.GroupAny, start+600)
		first := map[string]string{a: "job 17 at alpha", b: "job 23 at beta"}[order[0]]
		for range 2 {
			h.want(h.ask(order[0]), "go")
			h.want(h.ask(order[1]), "lost: "+first+" started first")
			h.crash()
		}
		states, err := h.GroupStates(t.Context(), "varq", api.GroupsQuery{Groups: []string{group, "unknown"}})
		want := []api.GroupState{{Group: group, Winners: order[:1], At: start, Why: first + " started first"}}
		if diff := cmp.Diff(want, states); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	}
}

// A thousand concurrent questions for the two members: only one member is told to go.
func TestRace(t *testing.T) {
	h := newHome(t)
	h.register(api.GroupAny, start+600)
	var gone [2]atomic.Int64
	var wait sync.WaitGroup
	begin := make(chan bool)
	for i := range 1000 {
		wait.Go(func() {
			<-begin
			plan := []string{a, b}[i%2]
			answer, err := h.ClaimGroup(context.Background(), "varq", api.GroupClaim{Group: group, Plan: plan, Job: jobs[plan], User: "alice"})
			if err != nil {
				t.Error(err)
			}
			if answer.Answer == api.GateGo {
				gone[i%2].Add(1)
			}
		})
	}
	close(begin)
	wait.Wait()
	if x, y := gone[0].Load(), gone[1].Load(); x+y != 500 || x*y != 0 {
		t.Errorf("%d and %d of 500 may go; all of one member are to, and none of the other", x, y)
	}
}

// A home that cannot write does not say go.
func TestBrokenLedger(t *testing.T) {
	h := newHome(t)
	h.register(api.GroupAny, start+600)
	if _, err := h.file.Exec("CREATE TRIGGER full BEFORE UPDATE ON groups BEGIN SELECT raise(ABORT, 'disk full'); END"); err != nil {
		t.Fatal(err)
	}
	h.want(h.ask(a), "it cannot be written down now whose work begins; ask again")
	if _, err := h.file.Exec("DROP TRIGGER full"); err != nil {
		t.Fatal(err)
	}
	h.want(h.ask(b), "go")
	h.want(h.ask(a), "lost: job 23 at beta started first")
}

// All begin together once all have asked, and not before the deadline. The decision is made five
// seconds before: a job that is cancelled sooner stops the others.
func TestAllBeginTogether(t *testing.T) {
	h := newHome(t)
	h.register(api.GroupAll, start+600)
	h.clock.Store(start + 594)
	h.want(h.ask(a), "wait")
	h.want(h.ask(b), "wait")
	h.clock.Store(start + 595)
	h.want(h.ask(b), "go at +600")
	h.want(h.ask(a), "go at +600")

	h = newHome(t)
	h.register(api.GroupAll, start+600)
	h.clock.Store(start + 600)
	h.want(h.ask(b), "wait")
	h.clock.Store(start + 629)
	h.want(h.ask(a), "wait") // b has not asked for long and may be gone
	h.want(h.ask(b), "go at +634")
	h.crash()
	h.clock.Store(start + 900)
	h.want(h.ask(a), "go at +634")
}

// One job is missing: the other's work does not begin.
func TestAllOrNone(t *testing.T) {
	h := newHome(t)
	h.register(api.GroupAll, start+600)
	for at := int64(600); at <= 630; at++ {
		h.clock.Store(start + at)
		h.want(h.ask(a), "wait")
	}
	h.clock.Store(start + 631)
	h.want(h.ask(a), "lost: job 23 at beta did not start in time")
	h.want(h.ask(b), "lost: job 23 at beta did not start in time")

	// The sites learn of it, also if nobody asks any more.
	h = newHome(t)
	h.register(api.GroupAll, start+600)
	h.clock.Store(start + 631)
	states, err := h.GroupStates(t.Context(), "varq", api.GroupsQuery{Groups: []string{group}})
	want := []api.GroupState{{Group: group, Why: "job 17 at alpha did not start in time"}}
	if diff := cmp.Diff(want, states); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	h.want(h.ask(b), "lost: job 17 at alpha did not start in time")
}

// Somebody who is neither the group's user nor a peer learns nothing. Nobody can speak for another
// user, plan or job.
func TestForged(t *testing.T) {
	h := newHome(t)
	h.register(api.GroupAny, start+600)
	good := api.GroupClaim{Group: group, Plan: a, Job: 17, User: "alice"}
	for name, test := range map[string]struct {
		asker string
		claim api.GroupClaim
		want  string
	}{
		"another user":              {"mallory", good, "there is no such group"},
		"in another user's name":    {"mallory", api.GroupClaim{Group: group, Plan: a, Job: 17, User: "mallory"}, "there is no such group"},
		"a peer for another user":   {"varq", api.GroupClaim{Group: group, Plan: a, Job: 17, User: "mallory"}, "there is no such group"},
		"a peer that is none":       {"varq2", good, "there is no such group"},
		"an unknown group":          {"varq", api.GroupClaim{Group: "hhhhhhhhhhhh", Plan: a, Job: 17, User: "alice"}, "there is no such group"},
		"a plan of no member":       {"varq", api.GroupClaim{Group: group, Plan: "cccccccccccc", Job: 17, User: "alice"}, "the promise is none of this group"},
		"another job with the plan": {"varq", api.GroupClaim{Group: group, Plan: a, Job: 18, User: "alice"}, "the promise is none of this group"},
	} {
		if answer, err := h.ClaimGroup(t.Context(), test.asker, test.claim); err == nil || err.Error() != test.want || !api.Refused(err) {
			t.Errorf("%s: %+v, %v", name, answer, err)
		}
	}
	if states, err := h.GroupStates(t.Context(), "mallory", api.GroupsQuery{Groups: []string{group}}); err != nil || len(states) != 0 {
		t.Errorf("another user sees %v, %v", states, err)
	}
	for _, user := range []string{"mallory", "varq2"} {
		if err := h.CancelGroup(t.Context(), user, api.GroupCancellation{Group: group}); !errors.Is(err, api.ErrNotFound) {
			t.Errorf("%s gives it up: %v", user, err)
		}
	}
	h.want(h.ask(b), "go")
}

// A peer that is known by its site may ask only for members at its site, of users for whom it may
// speak. Only a group's user can give the group up.
func TestPeerOfOneSite(t *testing.T) {
	ctx := t.Context()
	h := newHome(t)
	h.Peer = func(user string) *Peer {
		if user != "site:beta" && user != "site:gamma" {
			return nil
		}
		return &Peer{Site: strings.TrimPrefix(user, "site:"), Speaks: func(user string) bool { return user == "alice" }}
	}
	h.register(api.GroupAny, start+600)
	bobs := request(api.GroupAny, start+600)
	bobs.ID = "hhhhhhhhhhhh"
	if _, err := h.RegisterGroup(ctx, "bob", bobs); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		asker string
		claim api.GroupClaim
	}{
		"another site's member":      {"site:beta", api.GroupClaim{Group: group, Plan: a, Job: 17, User: "alice"}},
		"another site's group":       {"site:gamma", api.GroupClaim{Group: group, Plan: b, Job: 23, User: "alice"}},
		"another user's":             {"site:beta", api.GroupClaim{Group: bobs.ID, Plan: b, Job: 23, User: "bob"}},
		"another user's, as alice's": {"site:beta", api.GroupClaim{Group: bobs.ID, Plan: b, Job: 23, User: "alice"}},
	} {
		if answer, err := h.ClaimGroup(ctx, c.asker, c.claim); err == nil || !api.Refused(err) {
			t.Errorf("%s: %+v, %v", name, answer, err)
		}
	}
	for asker, want := range map[string]int{"site:beta": 1, "site:gamma": 0, "site:delta": 0, "alice": 1, "bob": 1} {
		if states, err := h.GroupStates(ctx, asker, api.GroupsQuery{Groups: []string{group, bobs.ID}}); err != nil || len(states) != want {
			t.Errorf("%s sees %+v, %v", asker, states, err)
		}
	}
	for _, asker := range []string{"site:beta", "varq"} {
		if err := h.CancelGroup(ctx, asker, api.GroupCancellation{Group: group}); !errors.Is(err, api.ErrNotFound) {
			t.Errorf("%s gives it up: %v", asker, err)
		}
	}
	if answer, err := h.ClaimGroup(ctx, "site:beta", api.GroupClaim{Group: group, Plan: b, Job: 23, User: "alice"}); err != nil || answer.Answer != api.GateGo {
		t.Errorf("%+v, %v", answer, err)
	}
}

// Jobs at a site that cannot ask about the group would be lost. So the group is refused.
func TestDeafSite(t *testing.T) {
	h := newHome(t)
	h.Deaf = func(site, user string) bool { return site == "beta" && user == "bob" }
	h.register(api.GroupAny, start+600)
	for _, ask := range []func(context.Context, string, api.GroupRequest) (api.GroupQuote, error){h.QuoteGroup, h.RegisterGroup} {
		if _, err := ask(t.Context(), "bob", request(api.GroupAny, start+600)); !errors.Is(err, api.ErrForbidden) || !strings.HasPrefix(err.Error(), `members[1].site: the varqd of "beta" may not ask this site`) {
			t.Error(err)
		}
	}
}

func TestRegister(t *testing.T) {
	h := newHome(t)
	h.register(api.GroupAny, start+600)
	h.register(api.GroupAny, start+600) // again
	other := request(api.GroupAny, start+600)
	other.Members[0].Job = 18
	if _, err := h.RegisterGroup(t.Context(), "alice", other); !errors.Is(err, api.ErrConflict) {
		t.Errorf("another group of that name: %v", err)
	}
	if _, err := h.RegisterGroup(t.Context(), "bob", request(api.GroupAny, start+600)); !errors.Is(err, api.ErrConflict) {
		t.Errorf("another user's: %v", err)
	}
	poor := request(api.GroupAll, start+600)
	poor.ID, poor.Prob = "hhhhhhhhhhhh", .9
	if _, err := h.RegisterGroup(t.Context(), "alice", poor); err == nil || !strings.HasPrefix(err.Error(), "together the jobs have probability 0.5") {
		t.Errorf("a group that is not probable enough: %v", err)
	}
	if _, err := h.RegisterGroup(t.Context(), "alice", request(api.GroupAny, start)); !errors.Is(err, api.ErrInvalid) {
		t.Errorf("a deadline in the past: %v", err)
	}
	const letters = "abcdefghijklmnopqrstuvwxyz"
	var last error
	for i := range api.MaxGroups {
		r := request(api.GroupAny, start+600)
		r.ID = "iiiiiiiiii" + string(letters[i/26]) + string(letters[i%26])
		_, last = h.RegisterGroup(t.Context(), "alice", r)
		if i < api.MaxGroups-1 && last != nil {
			t.Fatal(last)
		}
	}
	if !errors.Is(last, api.ErrConflict) {
		t.Errorf("too many: %v", last)
	}
}

func TestCancel(t *testing.T) {
	h := newHome(t)
	h.register(api.GroupAll, start+600)
	for range 2 {
		if err := h.CancelGroup(t.Context(), "alice", api.GroupCancellation{Group: group}); err != nil {
			t.Error(err)
		}
	}
	h.want(h.ask(a), "lost: the group was given up")
	h = newHome(t)
	h.register(api.GroupAny, start+600)
	h.want(h.ask(a), "go")
	if err := h.CancelGroup(t.Context(), "alice", api.GroupCancellation{Group: group}); !errors.Is(err, api.ErrConflict) {
		t.Errorf("too late: %v", err)
	}
}

func TestQuote(t *testing.T) {
	h := newHome(t)
	for kind, want := range map[string]float64{api.GroupAny: 1 - .2*.3, api.GroupAll: .8 * .7} {
		q, err := h.QuoteGroup(t.Context(), "alice", request(kind, start+600))
		if err != nil || q.Independent < want-1e-9 || q.Independent > want+1e-9 || q.Joint != q.Independent || q.Lower >= q.Prob || q.Required != .5 {
			t.Errorf("%s: %+v, %v", kind, q, err)
		}
	}
}

// The outcomes of groups are learnt once, and what was learnt survives a crash.
func TestLearns(t *testing.T) {
	h := newHome(t)
	quote := func() float64 {
		q, err := h.QuoteGroup(t.Context(), "alice", request(api.GroupAny, h.clock.Load()+600))
		if err != nil {
			t.Fatal(err)
		}
		return q.Prob
	}
	tend := func() {
		t.Helper()
		if err := h.Tend(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	before := quote()
	h.register(api.GroupAny, start+600)
	h.look()
	tend()
	if quote() != before {
		t.Error("learnt from what is not known yet")
	}
	h.clock.Store(start + 601) // nobody has come, or somebody has cancelled the jobs
	tend()
	if quote() != before {
		t.Error("learnt from what the sites have not told yet")
	}
	h.clock.Store(start + 600 + hear + 1)
	tend()
	after := quote()
	if after >= before {
		t.Errorf("%v, and %v after a failure", before, after)
	}
	h.want(h.ask(a), "go") // late, but first
	tend()
	h.crash()
	tend()
	if got := quote(); got != after {
		t.Errorf("%v, and %v after a crash", after, got)
	}
	r := request(api.GroupAny, start+3000)
	r.ID = "hhhhhhhhhhhh"
	if _, err := h.RegisterGroup(t.Context(), "alice", r); err != nil {
		t.Fatal(err)
	}
	if err := h.CancelGroup(t.Context(), "alice", api.GroupCancellation{Group: r.ID}); err != nil {
		t.Fatal(err)
	}
	tend()
	if got := quote(); got != after {
		t.Errorf("%v, and %v after a group was given up", after, got)
	}
}

// Two sites learn, from their own jobs and from each other, that their delays are correlated.
func TestDelays(t *testing.T) {
	ctx := t.Context()
	alpha, beta := newHome(t), newHome(t)
	alpha.Site, beta.Site = "alpha", "beta"
	random := rand.New(rand.NewPCG(1, 2))
	for hour := range int64(60 * 24) {
		at := hour*3600 + 60
		for _, h := range []*home{alpha, beta} {
			h.clock.Store(at + 1000)
		}
		busy := random.Float64()
		for range 3 { // jobs; all wait long, or none does
			alpha.LearnDelay(at, .8*busy+.2*random.Float64())
			beta.LearnDelay(at, .8*busy+.2*random.Float64())
		}
	}
	exchange := func(from, to *home) {
		t.Helper()
		if _, err := from.Delays(ctx, "alice"); !errors.Is(err, api.ErrForbidden) {
			t.Errorf("anybody learns of delays: %v", err)
		}
		d, err := from.Delays(ctx, "varq")
		if err == nil {
			err = to.SetDelays(from.Site, d)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	quote := func(h *home) api.GroupQuote {
		t.Helper()
		q, err := h.QuoteGroup(ctx, "alice", request(api.GroupAny, h.clock.Load()+600))
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	if q := quote(alpha); q.Correlation != 0 || q.Joint != q.Independent {
		t.Errorf("before: %+v", q)
	}
	exchange(beta, alpha)
	q := quote(alpha)
	if q.Correlation < .5 || q.Days < 30 || q.Joint > q.Independent-.01 || q.Joint < .8 {
		t.Errorf("after: %+v", q)
	}
	if err := alpha.Tend(ctx); err != nil {
		t.Fatal(err)
	}
	alpha.crash()
	if again := quote(alpha); again != q {
		t.Errorf("after a crash: %+v", again)
	}
	if err := beta.SetDelays("alpha", api.Delays{Windows: []api.DelayWindow{{Hour: 7, Jobs: 1, Sum: 9}}}); err == nil {
		t.Error("sums that cannot be")
	}
	if err := beta.SetDelays("beta", api.Delays{}); err != nil {
		t.Error(err)
	}
	if d, err := beta.Delays(ctx, "varq"); err != nil || len(d.Windows) != 60*24 {
		t.Errorf("another site has told beta of itself: %d, %v", len(d.Windows), err)
	}
}

// Jobs that are to begin together count as having done so if nobody reports otherwise for a while.
// If the work of one did not begin in time, the promise is missed. If one was cancelled, no
// forecast is responsible.
func TestTogetherOrNot(t *testing.T) {
	for name, c := range map[string]struct {
		tell api.GroupClaim
		soon string
		in   string // after hear
	}{
		"nothing":   {api.GroupClaim{}, api.StatePending, api.StateKept},
		"missed":    {api.GroupClaim{Missed: true}, api.StateMissed, api.StateMissed},
		"cancelled": {api.GroupClaim{Withdrawn: true}, api.StateCancelled, api.StateCancelled},
		"held":      {api.GroupClaim{Held: true}, api.StatePending, api.StateKept}, // it had begun
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.register(api.GroupAll, start+100)
			h.clock.Store(start + 95)
			h.ask(a)
			h.want(h.ask(b), "go at +100")
			if c.tell != (api.GroupClaim{}) {
				c.tell.Group, c.tell.Plan, c.tell.Job, c.tell.User = group, a, jobs[a], "alice"
				if _, err := h.ClaimGroup(t.Context(), "varq", c.tell); err != nil {
					t.Fatal(err)
				}
			}
			for after, want := range map[int64]string{101: c.soon, 100 + hear + 1: c.in} {
				found, err := h.Ledger.Groups(t.Context(), group)
				if err != nil || len(found) != 1 {
					t.Fatal(found, err)
				}
				if got := State(&found[0], start+after); got != want {
					t.Errorf("after %d s: %s, want %s", after, got, want)
				}
			}
		})
	}
}

// A group whose jobs were all cancelled is cancelled at once.
func TestCancelledAtOnce(t *testing.T) {
	h := newHome(t)
	h.register(api.GroupAny, start+1000)
	for _, plan := range []string{a, b} {
		claim := api.GroupClaim{Group: group, Plan: plan, Job: jobs[plan], User: "alice", Withdrawn: true}
		if _, err := h.ClaimGroup(t.Context(), "varq", claim); err != nil {
			t.Fatal(err)
		}
	}
	found, err := h.Ledger.Groups(t.Context(), group)
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if got := State(&found[0], start+1); got != api.StateCancelled {
		t.Errorf("it is %s", got)
	}
}

// If a user has kept a job of a group from starting, the group has missed nothing, and teaches
// nothing. But work that comes too late may still run.
func TestHeld(t *testing.T) {
	h := newHome(t)
	h.register(api.GroupAny, start+100)
	h.clock.Store(start + 101)
	claim := api.GroupClaim{Group: group, Plan: a, Job: jobs[a], User: "alice", Held: true}
	if _, err := h.ClaimGroup(t.Context(), "varq", claim); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[int64]string{101: api.StatePending, 100 + hear + 1: api.StateCancelled} {
		found, err := h.Ledger.Groups(t.Context(), group)
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		if got := State(&found[0], start+after); got != want {
			t.Errorf("after %d s: %s, want %s", after, got, want)
		}
	}
	h.clock.Store(start + 200)
	h.want(h.ask(a), "go")
	h.want(h.ask(b), "lost: job 17 at alpha started first")
}

// Anybody may register a group of jobs that do not exist. It counts for nothing until a site has
// confirmed one of its promises. It teaches nothing unless the sites have confirmed all of them.
func TestVouched(t *testing.T) {
	said := func(of ...api.MemberPromise) func(h *home) error {
		return func(h *home) error {
			_, err := h.GroupStates(t.Context(), "varq", api.GroupsQuery{Groups: []string{group}, Promises: of})
			return err
		}
	}
	for _, c := range []struct {
		name      string
		ask       func(h *home) error
		some, all bool
	}{
		{"nobody", func(*home) error { return nil }, false, false},
		{"its user", func(h *home) error {
			_, err := h.GroupStates(t.Context(), "alice", api.GroupsQuery{Groups: []string{group}, Promises: promises})
			return err
		}, false, false},
		{"a site that has none of them", said(), false, false},
		{"one site", said(promises[0]), true, false},
		{"all sites", said(promises...), true, true},
		{"sites that promised before the group's probability was known", said(api.MemberPromise{Plan: a}, api.MemberPromise{Plan: b}), true, true},
		{"a job", func(h *home) error {
			_, err := h.ClaimGroup(t.Context(), "varq", api.GroupClaim{Group: group, Plan: a, Job: jobs[a], User: "alice", Promise: promises[0]})
			return err
		}, true, false},
		{"a job, by its user", func(h *home) error {
			_, err := h.ClaimGroup(t.Context(), "alice", api.GroupClaim{Group: group, Plan: a, Job: jobs[a], User: "alice", Promise: promises[0]})
			return err
		}, false, false},
	} {
		h := newHome(t)
		h.register(api.GroupAny, start+100)
		if err := c.ask(h); err != nil {
			t.Fatal(err)
		}
		found, err := h.Ledger.Groups(t.Context(), group)
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		if some, all := found[0].Vouched(); some != c.some || all != c.all || found[0].Lost != "" {
			t.Errorf("%s asks: %+v", c.name, found[0])
		}
		h.clock.Store(start + 100 + hear + 1)
		before := h.model.State()
		if err := h.Tend(t.Context()); err != nil {
			t.Fatal(err)
		}
		if learnt := !cmp.Equal(before, h.model.State()); learnt != c.all {
			t.Errorf("%s asks: learnt is %t", c.name, learnt)
		}
	}
}

// A group is given up if it contradicts a site about a member, or if it requires less than the
// site's promises do.
func TestGroupsThatSaySomethingElse(t *testing.T) {
	for name, p := range map[string]api.MemberPromise{
		"a forecast that is higher": {Plan: a, Prob: .9, GroupProb: .5},
		"one that is lower":         {Plan: a, Prob: .04, GroupProb: .5},
		"more than the site's":      {Plan: a, Prob: .8, GroupProb: .4},
	} {
		for by, ask := range map[string]func(h *home) error{
			"a look": func(h *home) error {
				_, err := h.GroupStates(t.Context(), "varq", api.GroupsQuery{Groups: []string{group}, Promises: []api.MemberPromise{p}})
				return err
			},
			"a claim": func(h *home) error {
				_, err := h.ClaimGroup(t.Context(), "varq", api.GroupClaim{Group: group, Plan: a, Job: jobs[a], User: "alice", Promise: p})
				return err
			},
		} {
			h := newHome(t)
			h.register(api.GroupAny, start+100)
			if err := ask(h); err != nil {
				t.Fatal(err)
			}
			const lost = "lost: job 17 at alpha was not promised with the probability that the group has it with"
			h.want(h.ask(a), lost)
			h.want(h.ask(b), lost)
			h.clock.Store(start + 100 + hear + 1)
			before := h.model.State()
			if err := h.Tend(t.Context()); err != nil || !cmp.Equal(before, h.model.State()) {
				t.Errorf("%s, by %s: it was learnt from (%v)", name, by, err)
			}
		}
	}
}

// A group that is decided at once teaches nothing until all of its sites have asked.
func TestLearntOnceAllHaveVouched(t *testing.T) {
	h := newHome(t)
	h.register(api.GroupAny, start+100)
	h.want(h.ask(a), "go")
	before := h.model.State()
	if err := h.Tend(t.Context()); err != nil || !cmp.Equal(before, h.model.State()) {
		t.Errorf("learnt before (%v)", err)
	}
	h.look()
	if err := h.Tend(t.Context()); err != nil || cmp.Equal(before, h.model.State()) {
		t.Errorf("not learnt after (%v)", err)
	}
}
