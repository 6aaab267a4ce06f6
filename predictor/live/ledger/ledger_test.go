package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/workload"
)

func open(t *testing.T, path string) *Ledger {
	t.Helper()
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// promise returns a promise with every field set.
func promise(id, user string, beginBy int64) *api.Reservation {
	return &api.Reservation{
		Plan: api.Plan{
			ID: id, BeginTime: beginBy - 600, TimeLimit: 4200, BeginBy: beginBy, HoldUntil: beginBy, WorkLimit: 3600,
			Prob: .9, Estimate: .93, OnMiss: "run",
			Work: api.Cost{NodeSeconds: 1, BillingSeconds: 2}, Worst: api.Cost{NodeSeconds: 3, BillingSeconds: 4},
			Expected: api.Cost{NodeSeconds: 5, BillingSeconds: 6},
			Evidence: api.Evidence{Sample: 77, Class: "main"}, Comment: "varq:" + id,
		},
		User: user, Account: "phys", Partition: "main", QOS: "normal",
		Size:     workload.Size{Nodes: 4, CPUs: 16, GPUs: 1, Memory: 2048},
		Promised: beginBy - 3600, State: api.StatePromised,
	}
}

func mustPromise(t *testing.T, l *Ledger, r *api.Reservation) {
	t.Helper()
	if err := l.Promise(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

func one(t *testing.T, l *Ledger, q Query) Entry {
	t.Helper()
	entries, err := l.Select(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Fatalf("Select(%+v) found %d reservations, want 1", q, len(entries))
	}
	return entries[0]
}

func TestPromiseSurvivesReopening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	want := promise("aaaaaaaaaaaa", "alice", 10_000)
	l := open(t, path)
	mustPromise(t, l, want)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	l.Close()
	got := one(t, open(t, path), Query{Plan: want.ID})
	if diff := cmp.Diff(*want, got.Reservation); diff != "" {
		t.Error(diff)
	}
	if got.Progress.BeginTime != want.BeginTime || got.Progress.TimeLimit != want.TimeLimit {
		t.Errorf("before binding the job's times are %+v, want the plan's", got.Progress)
	}
}

func TestPromiseTwiceIsAnError(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	mustPromise(t, l, promise("aaaaaaaaaaaa", "alice", 10_000))
	if err := l.Promise(t.Context(), promise("aaaaaaaaaaaa", "bob", 20_000)); err == nil {
		t.Error("a second promise with the same identifier was taken")
	}
	if got := one(t, l, Query{}); got.User != "alice" {
		t.Errorf("the promise is now %s's", got.User)
	}
}

func TestBind(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	mustPromise(t, l, promise("aaaaaaaaaaaa", "alice", 10_000))
	mustPromise(t, l, promise("bbbbbbbbbbbb", "alice", 20_000))
	mustPromise(t, l, promise("cccccccccccc", "alice", 30_000))
	if err := l.Settle(t.Context(), "cccccccccccc", Settlement{At: 1, Outcome: api.StateCancelled}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name, plan, user string
		job              int64
		want             error
	}{
		{"unknown plan", "zzzzzzzzzzzz", "alice", 7, ErrNoPlan},
		{"another user", "aaaaaaaaaaaa", "bob", 7, ErrNotYours},
		{"first", "aaaaaaaaaaaa", "alice", 7, nil},
		{"the same again", "aaaaaaaaaaaa", "alice", 7, nil},
		{"a second job", "aaaaaaaaaaaa", "alice", 8, ErrBound},
		{"a job that has a plan", "bbbbbbbbbbbb", "alice", 7, ErrJobTaken},
		{"settled", "cccccccccccc", "alice", 9, ErrClosed},
	} {
		if err := l.Bind(t.Context(), step.plan, step.user, step.job, 6400, 6401); !errors.Is(err, step.want) {
			t.Errorf("%s: %v, want %v", step.name, err, step.want)
		}
	}
	got := one(t, l, Query{Job: 7})
	if got.ID != "aaaaaaaaaaaa" || got.State != api.StatePending || got.Progress.Submit != 6400 {
		t.Errorf("job 7 is bound as %s %s, submitted %d", got.ID, got.State, got.Progress.Submit)
	}
}

func TestBindRace(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	mustPromise(t, l, promise("aaaaaaaaaaaa", "alice", 10_000))
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() { errs[i] = l.Bind(t.Context(), "aaaaaaaaaaaa", "alice", int64(i+1), 6400, 6401) })
	}
	wg.Wait()
	bound := 0
	for _, err := range errs {
		switch {
		case err == nil:
			bound++
		case !errors.Is(err, ErrBound):
			t.Error(err)
		}
	}
	if bound != 1 {
		t.Errorf("%d jobs were bound to one plan", bound)
	}
}

func TestRecordAndSettle(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	ctx := t.Context()
	mustPromise(t, l, promise("aaaaaaaaaaaa", "alice", 10_000))
	if err := l.Record(ctx, "aaaaaaaaaaaa", Progress{}); !errors.Is(err, ErrNoPlan) {
		t.Errorf("recording a plan without a job: %v", err)
	}
	if err := l.Bind(ctx, "aaaaaaaaaaaa", "alice", 7, 6400, 6401); err != nil {
		t.Fatal(err)
	}
	moved := Progress{State: api.StatePending, Submit: 6400, BeginTime: 9700, TimeLimit: 3900, WasBegin: 9400, WasLimit: 4200, Held: true, Yielded: true, Late: true, Eligible: 9700}
	if err := l.Record(ctx, "aaaaaaaaaaaa", moved,
		Event{At: 7000, Kind: Moved, Text: "begin"}, Event{At: 7001, Kind: User, Text: "held by the user"}, Event{At: 7002, Kind: Limited, Text: "limit"}); err != nil {
		t.Fatal(err)
	}
	got := one(t, l, Query{User: "alice", Open: true})
	if diff := cmp.Diff(moved, got.Progress); diff != "" {
		t.Error(diff)
	}
	if got.BeginTime != 9400 || got.Note != "held by the user" {
		t.Errorf("begin time %d, note %q: want the promised one, 9400, and the user's doing", got.BeginTime, got.Note)
	}
	kept := Settlement{At: 14_000, Outcome: api.StateKept, Eligible: 9700, Start: 9800, WorkStart: 10_000, End: 13_900}
	if err := l.Settle(ctx, "aaaaaaaaaaaa", kept); err != nil {
		t.Fatal(err)
	}
	if err := l.Settle(ctx, "aaaaaaaaaaaa", kept); err == nil {
		t.Error("settled twice")
	}
	got = one(t, l, Query{Plan: "aaaaaaaaaaaa"})
	if got.State != api.StateKept || got.Open || got.Start != 9800 || got.WorkStart != 10_000 || got.End != 13_900 {
		t.Errorf("settled as %+v", got.Reservation)
	}
	if left, _ := l.Select(ctx, Query{Open: true}); len(left) != 0 {
		t.Errorf("%d reservations are still open", len(left))
	}
	events, err := l.Events(ctx, "aaaaaaaaaaaa")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []Kind
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	if diff := cmp.Diff([]Kind{Bound, Moved, User, Limited, Settled}, kinds); diff != "" {
		t.Error(diff)
	}
	if _, err := l.db.Exec(`DELETE FROM events`); err == nil {
		t.Error("events could be deleted")
	}
}

func TestSelectByDeadline(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	for i, id := range []string{"cccccccccccc", "aaaaaaaaaaaa", "bbbbbbbbbbbb"} {
		mustPromise(t, l, promise(id, []string{"alice", "bob"}[i%2], int64(10_000*(3-i))))
	}
	entries, err := l.Select(t.Context(), Query{From: 10_000, To: 30_000})
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 || entries[0].ID != "bbbbbbbbbbbb" || entries[1].ID != "aaaaaaaaaaaa" {
		t.Errorf("got %v", entries)
	}
	counts, err := l.Outcomes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{api.StatePromised: 3}, counts); diff != "" {
		t.Error(diff)
	}
}

// A full disk must fail the promise, leave no half of it, and leave the ledger
// usable once there is room.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	pragma := func(statement string) { // for the writer
		if err := l.db.Write(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(statement); return err }); err != nil {
			t.Fatal(err)
		}
	}
	var pages int
	if err := l.db.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	pragma(fmt.Sprintf("PRAGMA max_page_count = %d", pages+1))
	promised, failed := 0, false
	for i := range 1000 {
		if err := l.Promise(t.Context(), promise(fmt.Sprintf("plan%08d", i), "alice", 10_000)); err != nil {
			failed = true
			break
		}
		promised++
	}
	if !failed {
		t.Fatal("the disk never filled")
	}
	entries, err := l.Select(t.Context(), Query{})
	if err != nil || len(entries) != promised {
		t.Errorf("%d promises in the ledger, %v; %d were made", len(entries), err, promised)
	}
	pragma("PRAGMA max_page_count = 1000000")
	mustPromise(t, l, promise("aaaaaaaaaaaa", "alice", 10_000))
}

func TestLaterSchemaIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	if _, err := l.db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := Open(path); !errors.Is(err, sqlitefile.ErrTooNew) {
		t.Errorf("Open = %v, want ErrTooNew", err)
	}
}

func TestDurability(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	var synchronous int
	var journal string
	if err := errors.Join(l.db.QueryRow("PRAGMA synchronous").Scan(&synchronous), l.db.QueryRow("PRAGMA journal_mode").Scan(&journal)); err != nil {
		t.Fatal(err)
	}
	if synchronous != 2 || journal != "wal" {
		t.Errorf("synchronous %d, journal %s; want 2 (full), wal", synchronous, journal)
	}
	if _, err := l.db.Exec(`INSERT INTO events (plan, at, kind, text) VALUES ('none', 0, '', '')`); err == nil {
		t.Error("foreign keys are not enforced")
	}
}

func BenchmarkPromise(b *testing.B) {
	l, err := Open(filepath.Join(b.TempDir(), "ledger.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for i := 0; b.Loop(); i++ {
		if err := l.Promise(b.Context(), promise(fmt.Sprintf("%012d", i), "alice", 10_000)); err != nil {
			b.Fatal(err)
		}
	}
}
