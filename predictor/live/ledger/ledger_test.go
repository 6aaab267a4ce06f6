package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/promise/policy"
	"github.com/varq-project/varq/predictor/workload"
)

func open(t testing.TB, path string) *Ledger {
	t.Helper()
	file, err := statefile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return New(file)
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
	if err := l.Promise(t.Context(), r, 0); err != nil {
		t.Fatal(err)
	}
}

// SettleAll settles all or none.
func TestSettleAll(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	ctx := t.Context()
	for _, id := range []string{"aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc"} {
		mustPromise(t, l, promise(id, "alice", 10_000))
	}
	cancelled := Settlement{At: 99, Outcome: api.StateCancelled}
	if err := l.Settle(ctx, "cccccccccccc", cancelled); err != nil {
		t.Fatal(err)
	}
	if err := l.SettleAll(ctx, []string{"aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc"}, cancelled); err == nil {
		t.Error("a closed promise was closed again")
	}
	if open, err := l.Select(ctx, Query{Open: true}); err != nil || len(open) != 2 {
		t.Errorf("%d open after an error, %v", len(open), err)
	}
	if open, err := l.AnyOpen(ctx); err != nil || !open {
		t.Errorf("any open after an error: %v, %v", open, err)
	}
	if err := l.SettleAll(ctx, []string{"aaaaaaaaaaaa", "bbbbbbbbbbbb"}, cancelled, Event{At: 99, Kind: Note, Text: "why"}); err != nil {
		t.Fatal(err)
	}
	if open, err := l.AnyOpen(ctx); err != nil || open {
		t.Errorf("any open after all are settled: %v, %v", open, err)
	}
	for _, id := range []string{"aaaaaaaaaaaa", "bbbbbbbbbbbb"} {
		e := one(t, l, Query{Plan: id})
		events, err := l.Events(ctx, id)
		if err != nil || e.Open || e.State != api.StateCancelled || e.Note != "why" || len(events) != 2 {
			t.Errorf("%+v, %v, %v", e, events, err)
		}
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
	l.db.Close()
	got := one(t, open(t, path), Query{Plan: want.ID})
	if diff := cmp.Diff(*want, got.Reservation); diff != "" {
		t.Error(diff)
	}
	if got.Progress.BeginTime != want.BeginTime || got.Progress.TimeLimit != want.TimeLimit {
		t.Errorf("before binding the job's times are %+v, want the plan's", got.Progress)
	}
}

// Every column holds the value of the field that it is named after. Each field has a different
// value. The test reads the columns by name, without the code that wrote them.
func TestColumns(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	ctx := t.Context()
	r := &api.Reservation{
		Plan: api.Plan{
			ID: "ID", BeginTime: 101, TimeLimit: 102, BeginBy: 103, HoldUntil: 104, FinishBy: 95, TimeOut: .96, Lost: .97, CheckpointInterval: 85, Slot: 94, Tentative: 84, Group: "Group", Home: "Home", GroupProb: .98, WorkLimit: 105, Dependency: "afterok:1", Array: api.Array{Tasks: 81, AtOnce: 80}, Tasks: 79, AtOnce: 77, Earliest: 90, Prob: .106, Estimate: .107, OnMiss: "OnMiss",
			Work: api.Cost{NodeSeconds: 108, BillingSeconds: 109}, Worst: api.Cost{NodeSeconds: 110, BillingSeconds: 111},
			Expected: api.Cost{NodeSeconds: 112, BillingSeconds: 113},
			Evidence: api.Evidence{Sample: 114, Class: "Class"}, Comment: "Comment",
		},
		User: "User", Account: "Account", Partition: "Partition", NodeSet: "NodeSet", Inside: "Inside", QOS: "QOS",
		Size: workload.Size{Nodes: 115, CPUs: 116, GPUs: 117, Memory: 118, Licences: "a:1"}, BestEffort: true, TasksNodes: 78,
		Pieces: workload.Pieces{Count: 86, Each: workload.Size{CPUs: 87, GPUs: 88, Memory: 89}, Exclusive: true}, Promised: 119,
	}
	mustPromise(t, l, r)
	if err := l.Bind(ctx, "ID", "User", 120, 121, 122, true); err != nil {
		t.Fatal(err)
	}
	p := Progress{
		State: "State", Submit: 123, BeginTime: 124, TimeLimit: 125, WasBegin: 126, WasLimit: 127, Earliest: 91, Name: "Name", Asks: "Asks",
		Stopped: "Stopped", HeldBefore: 92, WorkedBefore: 94, Confirmed: 83, Gate: "Gate", Gated: 82, Eligible: 128, Start: 129, WorkStart: 130, Nodes: 93,
	}
	for _, flag := range []struct {
		column string
		value  *bool
	}{{"held", &p.Held}, {"yielded", &p.Yielded}, {"late", &p.Late}, {"interrupted", &p.Interrupted}, {"interactive", &p.Interactive}} {
		p.Held, p.Yielded, p.Late, p.Interrupted, p.Interactive = false, false, false, false, false
		*flag.value = true
		if err := l.Record(ctx, "ID", p, Event{At: 131, Kind: Note, Text: "Note"}); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"id": "ID", "user": "User", "account": "Account", "partition": "Partition", "node_set": "NodeSet", "inside": "Inside", "qos": "QOS",
			"nodes": int64(115), "cpus": int64(116), "gpus": int64(117), "memory": int64(118), "licences": "a:1", "dependency": "afterok:1",
			"array_tasks": int64(81), "array_at_once": int64(80), "tasks": int64(79), "tasks_nodes": int64(78), "at_once": int64(77), "started": int64(0),
			"pieces": int64(86), "piece_cpus": int64(87), "piece_gpus": int64(88), "piece_memory": int64(89), "exclusive": int64(1),
			"begin_time": int64(101), "time_limit": int64(102), "begin_by": int64(103), "hold_until": int64(104), "finish_by": int64(95), "time_out": .96, "lost": .97, "checkpoint_interval": int64(85), "slot": int64(94), "tentative": int64(84), "group_id": "Group", "home": "Home", "group_prob": .98, "work_limit": int64(105), "earliest": int64(90),
			"prob": .106, "estimate": .107, "best_effort": int64(1), "on_miss": "OnMiss",
			"work_node_seconds": 108., "work_billing_seconds": 109., "worst_node_seconds": 110., "worst_billing_seconds": 111.,
			"expected_node_seconds": 112., "expected_billing_seconds": 113.,
			"sample": int64(114), "class": "Class", "comment": "Comment", "promised_at": int64(119), "open": int64(1), "withdrawn": int64(0),
			"state": "State", "job": int64(120), "submit": int64(123), "set_begin_time": int64(124), "set_time_limit": int64(125),
			"was_begin": int64(126), "was_limit": int64(127), "set_earliest": int64(91), "name": "Name", "asks": "Asks", "run": int64(0), "held": int64(0), "yielded": int64(0), "late": int64(0),
			"stopped": "Stopped", "interrupted": int64(0), "interactive": int64(0), "held_before": int64(92), "worked_before": int64(94), "confirmed": int64(83), "gate": "Gate", "gated": int64(82), "evicted": int64(0), "refused": int64(0),
			"eligible": int64(128), "start": int64(129), "work_start": int64(130), "end": int64(0), "alloc_nodes": int64(93), "note": "Note",
		}
		want[flag.column] = int64(1)
		if diff := cmp.Diff(want, row(t, l, "reservations")); diff != "" {
			t.Error(diff)
		}
		stored := *r
		stored.Job, stored.Name, stored.State, stored.Eligible, stored.Start, stored.WorkStart, stored.Note = 120, "Name", "State", 128, 129, 130, "Note"
		stored.Allocated = 93
		if diff := cmp.Diff(Entry{Reservation: stored, Open: true, Progress: p}, one(t, l, Query{})); diff != "" {
			t.Error(diff)
		}
	}
	settled := Settlement{At: 140, Outcome: "Outcome", Eligible: 141, Start: 142, WorkStart: 143, End: 144, Run: 145, Nodes: 146, Evicted: true, Refused: 147}
	if err := l.Settle(ctx, "ID", settled); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"plan": "ID", "at": int64(140), "outcome": "Outcome",
		"eligible": int64(141), "start": int64(142), "work_start": int64(143), "end": int64(144), "run": int64(145), "alloc_nodes": int64(146), "evicted": int64(1), "refused": int64(147),
	}
	if diff := cmp.Diff(want, row(t, l, "settlements")); diff != "" {
		t.Error(diff)
	}
	corrected := Settlement{At: 150, Outcome: "Other", Eligible: 151, Start: 152, WorkStart: 153, End: 154, Run: 155, Nodes: 156}
	if err := l.Correct(ctx, "ID", corrected, Event{At: 150, Kind: Note, Text: "later"}); err != nil {
		t.Fatal(err)
	}
	want = map[string]any{
		"plan": "ID", "at": int64(150), "outcome": "Other",
		"eligible": int64(151), "start": int64(152), "work_start": int64(153), "end": int64(154), "run": int64(155), "alloc_nodes": int64(156), "evicted": int64(0), "refused": int64(147),
	}
	if diff := cmp.Diff(want, row(t, l, "settlements")); diff != "" {
		t.Error(diff)
	}
	events, err := l.Events(ctx, "ID")
	if err != nil || !slices.Equal(events[len(events)-2:], []Event{{150, Note, "later"}, {150, Corrected, "Other"}}) {
		t.Errorf("%v, %v", events, err)
	}
	if err := l.Correct(ctx, "NONE", corrected); !errors.Is(err, ErrNoPlan) {
		t.Errorf("correct a promise that there is not: %v", err)
	}
	if err := l.Correct(ctx, "ID", settled); err != nil {
		t.Fatal(err)
	}
	if got := one(t, l, Query{}); got.State != "Outcome" || got.Eligible != 141 || got.Start != 142 || got.WorkStart != 143 || got.End != 144 {
		t.Errorf("settled as %+v", got.Reservation)
	}
}

// row returns the only row of a table or view, by column.
func row(t *testing.T, l *Ledger, table string) map[string]any {
	t.Helper()
	values := map[string]any{}
	if err := l.db.Each(t.Context(), "SELECT * FROM "+table, nil, func(rows *sql.Rows) error {
		names, err := rows.Columns()
		if err != nil {
			return err
		}
		list := make([]any, len(names))
		for i := range list {
			list[i] = new(any)
		}
		if err := rows.Scan(list...); err != nil {
			return err
		}
		for i, name := range names {
			values[name] = *list[i].(*any)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return values
}

func TestPromiseTwiceIsAnError(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	mustPromise(t, l, promise("aaaaaaaaaaaa", "alice", 10_000))
	if err := l.Promise(t.Context(), promise("aaaaaaaaaaaa", "bob", 20_000), 0); err == nil {
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
		if err := l.Bind(t.Context(), step.plan, step.user, step.job, 6400, 6401, true); !errors.Is(err, step.want) {
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
		wg.Go(func() { errs[i] = l.Bind(t.Context(), "aaaaaaaaaaaa", "alice", int64(i+1), 6400, 6401, true) })
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

// Of trims that follow one another, only the newest is told.
func TestTrims(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	for _, plan := range []string{"aaaaaaaaaaaa", "bbbbbbbbbbbb"} {
		mustPromise(t, l, promise(plan, "alice", 10_000))
	}
	for plan, job := range map[string]int64{"aaaaaaaaaaaa": 7, "bbbbbbbbbbbb": 8} {
		if err := l.Bind(t.Context(), plan, "alice", job, 6400, 6401, true); err != nil {
			t.Fatal(err)
		}
	}
	for at, kind := range []Kind{Moved, Trimmed, Trimmed, Trimmed, User, Trimmed, Trimmed} {
		for _, plan := range []string{"aaaaaaaaaaaa", "bbbbbbbbbbbb"} {
			if err := l.Record(t.Context(), plan, Progress{}, Event{At: int64(at), Kind: kind}); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []Event{{At: 0, Kind: Moved}, {At: 3, Kind: Trimmed}, {At: 4, Kind: User}, {At: 6, Kind: Trimmed}}
	for _, plan := range []string{"aaaaaaaaaaaa", "bbbbbbbbbbbb"} {
		events, err := l.Events(t.Context(), plan)
		if diff := cmp.Diff(want, slices.DeleteFunc(events, func(e Event) bool { return e.Kind == Bound })); err != nil || diff != "" {
			t.Errorf("%s: %s %v", plan, diff, err)
		}
	}
}

func TestRecordAndSettle(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	ctx := t.Context()
	mustPromise(t, l, promise("aaaaaaaaaaaa", "alice", 10_000))
	if err := l.Record(ctx, "aaaaaaaaaaaa", Progress{}); !errors.Is(err, ErrNoPlan) {
		t.Errorf("recording a plan without a job: %v", err)
	}
	if err := l.Bind(ctx, "aaaaaaaaaaaa", "alice", 7, 6400, 6401, true); err != nil {
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
	entries, err := l.Select(t.Context(), Query{Selection: api.Selection{Start: 10_000, End: 30_000}})
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

// Pages come from the end of the list, and have each reservation once, also if several have the
// same deadline.
func TestSelectInPages(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	for i := range 26 {
		mustPromise(t, l, promise(strings.Repeat(string(rune('a'+i*7%26)), 12), "alice", int64(10_000*(1+i/10))))
	}
	all, err := l.Select(t.Context(), Query{})
	if err != nil || len(all) != 26 {
		t.Fatal(len(all), err)
	}
	var paged []Entry
	for q := (Query{Last: 4}); ; {
		page, err := l.Select(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		paged = append(page, paged...)
		q.Before = api.PlaceOf(&page[0].Reservation)
	}
	if diff := cmp.Diff(all, paged); diff != "" {
		t.Error(diff)
	}
}

// Long texts of an earlier version are cut to the length that this version writes. Of many events
// only the latest are read.
func TestLongTexts(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	p := promise("aaaaaaaaaaaa", "alice", 10_000)
	mustPromise(t, l, p)
	if err := l.Settle(t.Context(), p.ID, Settlement{At: 1, Outcome: api.StateMissed}, Event{At: 1, Kind: Note, Text: "\x1b[31m" + strings.Repeat("x", 1<<20)}); err != nil {
		t.Fatal(err)
	}
	var stored string
	if err := l.db.QueryRow(`SELECT text FROM events WHERE kind = 'note'`).Scan(&stored); err != nil || len(stored) != 1003 || stored[0] != '?' {
		t.Errorf("%d bytes are stored, %.10q, %v", len(stored), stored, err)
	}
	for range 600 {
		if _, err := l.db.Exec(`INSERT INTO events (plan, at, kind, text) VALUES ('aaaaaaaaaaaa', 2, 'note', ?)`, strings.Repeat("y", 4096)); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := l.Select(t.Context(), Query{})
	if err != nil || len(entries) != 1 || entries[0].Note != strings.Repeat("y", 1000) {
		t.Errorf("%v, %v", entries, err)
	}
	events, err := l.Events(t.Context(), p.ID)
	if err != nil || len(events) != 500 || events[499].Text != strings.Repeat("y", 1000) {
		t.Errorf("%d events, %v", len(events), err)
	}
}

func TestSelectByName(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	for i, id := range []string{"aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc", "dddddddddddd"} {
		r := promise(id, "alice", int64(10_000*(i+1)))
		r.Account, r.Partition = []string{"phys", "chem", "bio", "phys"}[i], []string{"main", "gpu"}[i%2]
		mustPromise(t, l, r)
	}
	for plan, job := range map[string]int64{"bbbbbbbbbbbb": 1, "cccccccccccc": 2} {
		err := errors.Join(l.Bind(t.Context(), plan, "alice", job, 100, 100, true), l.Record(t.Context(), plan, Progress{State: api.StatePending, Submit: 100, Name: fmt.Sprintf("fit %d", job)}))
		if err != nil {
			t.Fatal(err)
		}
	}
	for id, outcome := range map[string]string{"aaaaaaaaaaaa": api.StateKept, "bbbbbbbbbbbb": api.StateMissed} {
		if err := l.Settle(t.Context(), id, Settlement{At: 1, Outcome: outcome}); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		selection api.Selection
		want      string
	}{
		{api.Selection{}, "abcd"},
		{api.Selection{Accounts: []string{"phys"}}, "ad"},
		{api.Selection{Accounts: []string{"bio", "chem"}}, "bc"},
		{api.Selection{Accounts: []string{"phys", "x' OR '1'='1"}, Partitions: []string{"gpu"}}, "d"},
		{api.Selection{Names: []string{"fit 1", "fit 3"}}, "b"},
		{api.Selection{States: []string{api.StateKept}}, "a"},
		{api.Selection{States: []string{api.StateMissed, api.StatePending, api.StatePromised}}, "bcd"},
		{api.Selection{Start: 30_000, States: []string{api.StateMissed, api.StatePending, api.StatePromised}}, "cd"},
		{api.Selection{Partitions: []string{"main"}, States: []string{api.StateMissed}}, ""},
	} {
		entries, err := l.Select(t.Context(), Query{User: "alice", Selection: test.selection})
		got := ""
		for i := range entries {
			got += entries[i].ID[:1]
		}
		if err != nil || got != test.want {
			t.Errorf("%+v: %q, %v, want %q", test.selection, got, err, test.want)
		}
	}
}

// TestFullDisk: a full disk fails the promise and leaves no half of it. The ledger is usable
// once there is room.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	pragma := func(statement string) { // on the writer's connection
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
		if err := l.Promise(t.Context(), promise(fmt.Sprintf("plan%08d", i), "alice", 10_000), 0); err != nil {
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

// A user asks for another promise. The ledger has 200,000 promises, half of them hers.
func BenchmarkPromise(b *testing.B) {
	l := open(b, filepath.Join(b.TempDir(), "ledger.db"))
	const past = 200_000
	err := l.db.Write(b.Context(), func(tx *sql.Tx) error {
		for i := range past {
			columns := promiseColumns(promise(fmt.Sprintf("plan%08d", i), []string{"alice", "bob"}[i%2], int64(i)*600))
			if _, err := tx.Exec(columns.Insert("plans"), columns.Pointers()...); err != nil {
				return err
			}
		}
		_, err := tx.Exec("UPDATE plans SET open = 0")
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		id := fmt.Sprintf("more%08d", i)
		if err := l.Promise(b.Context(), promise(id, "alice", past*600), 0); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := l.Settle(b.Context(), id, Settlement{Outcome: api.StateCancelled}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// Each plan reads the claims of all open promises: here of 3,000 waiting jobs, two of which have
// changed since the last plan.
func BenchmarkClaims(b *testing.B) {
	l := open(b, filepath.Join(b.TempDir(), "ledger.db"))
	const promises = 3000
	for i := range promises {
		id := fmt.Sprintf("plan%08d", i)
		if err := errors.Join(l.Promise(b.Context(), promise(id, "alice", 1_000_000), 0), l.Bind(b.Context(), id, "alice", int64(i+1), 10, 10, true)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		l.book.changed("plan00000007", "plan00000100")
		if claims, err := l.Claims(b.Context(), 10); err != nil || len(claims) != promises {
			b.Fatal(len(claims), err)
		}
	}
}

func TestFirst(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	if at, ok, err := l.First(t.Context()); ok || err != nil {
		t.Errorf("of an empty ledger: %d, %v, %v", at, ok, err)
	}
	for i, promised := range []int64{2000, 1000, 3000} {
		mustPromise(t, l, promise(fmt.Sprintf("aaaaaaaaaaa%d", i+2), "alice", promised+3600))
	}
	if at, ok, err := l.First(t.Context()); at != 1000 || !ok || err != nil {
		t.Errorf("%d, %v, %v", at, ok, err)
	}
}

// Held returns the open reservations of a user and of accounts, with the ceilings agreed on last.
func TestHeld(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	ctx := t.Context()
	add := func(id, user, account string, earliest int64) {
		r := promise(id, user, 10_000)
		r.Account, r.Earliest, r.Work.NodeSeconds = account, earliest, 4*3600
		mustPromise(t, l, r)
	}
	add("aaaaaaaaaaaa", "alice", "chem", 9_900)
	add("bbbbbbbbbbbb", "bob", "Phys", 9_800)
	add("cccccccccccc", "bob", "chem", 9_700)
	add("dddddddddddd", "alice", "phys", 9_600)
	if err := l.Settle(ctx, "dddddddddddd", Settlement{Outcome: api.StateCancelled}); err != nil {
		t.Fatal(err)
	}
	if err := l.Bind(ctx, "bbbbbbbbbbbb", "bob", 7, 100, 100, true); err != nil {
		t.Fatal(err)
	}
	e := one(t, l, Query{Plan: "bbbbbbbbbbbb"})
	e.Progress.Earliest = 9_500
	if err := l.Record(ctx, e.ID, e.Progress); err != nil {
		t.Fatal(err)
	}
	add("eeeeeeeeeeee", "alice", "phys", 9_600)
	if err := l.Withdraw(ctx, "eeeeeeeeeeee", 100); err != nil {
		t.Fatal(err)
	}
	promised := one(t, l, Query{Plan: "aaaaaaaaaaaa"}).Promised
	unclaimed := policy.Held{Who: policy.Who{User: "alice", Account: "chem", Partition: "main", QOS: "normal"}, NodeSeconds: 400}
	bound := policy.Held{Who: policy.Who{User: "bob", Account: "Phys", Partition: "main", QOS: "normal"}, NodeSeconds: 2000}
	for now, want := range map[int64][]policy.Held{
		promised + bindsFor:     {unclaimed, bound},
		promised + bindsFor + 1: {bound},
	} {
		got, err := l.Held(ctx, now, "alice", "phys")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// An open promise claims its room from its deadline on. Once its job runs, it claims its room from
// the beginning of its work on. After any writes, the book gives the same claims as a ledger that
// reads everything anew.
func TestClaimsAfterWrites(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	random := rand.New(rand.NewPCG(1, 2))
	const plans = 2 * manyStale
	for i := range plans {
		mustPromise(t, l, promise(fmt.Sprintf("plan%08d", i), []string{"alice", "bob", "carol"}[i%3], int64(1000+random.IntN(9000))))
		if err := l.Bind(t.Context(), fmt.Sprintf("plan%08d", i), []string{"alice", "bob", "carol"}[i%3], int64(i+1), 10, 10, true); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 12 {
		for range []int{1, 5, manyStale}[round%3] {
			plan := fmt.Sprintf("plan%08d", random.IntN(plans))
			switch random.IntN(3) {
			case 0: // some are closed already
				_ = l.Settle(t.Context(), plan, Settlement{Outcome: api.StateCancelled})
			case 1:
				_ = l.Record(t.Context(), plan, Progress{State: api.StatePending, BeginTime: random.Int64N(9000), Held: random.IntN(4) == 0})
			default:
				_ = l.Record(t.Context(), plan, Progress{State: api.StateRunning, Start: 500 + random.Int64N(500)})
			}
		}
		mustPromise(t, l, promise(fmt.Sprintf("more%08d", round), "dave", 9000))
		now := int64(500 * round)
		got, err := l.Claims(t.Context(), now)
		want, err2 := New(l.db).Claims(t.Context(), now)
		if diff := cmp.Diff(want, got); err != nil || err2 != nil || diff != "" || len(got) == 0 {
			t.Fatalf("round %d: %v, %v\n%s", round, err, err2, diff)
		}
	}
}

func TestClaims(t *testing.T) {
	const now = 50
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	for job, c := range map[int64]struct {
		slot, holdUntil, begin int64
		progress               Progress
		start, from            int64 // 0 if it claims nothing
	}{
		1: {100, 100, 60, Progress{BeginTime: 60}, 80, 100}, // half of the time
		2: {100, 100, 60, Progress{BeginTime: 90}, 95, 100}, // moved
		3: {40, 40, 30, Progress{BeginTime: 30}, 0, 0},      // late
		4: {100, 90, 95, Progress{BeginTime: 95}, 100, 100}, // a window
		5: {100, 90, 60, Progress{Start: 60}, 60, 90},
		6: {100, 0, 60, Progress{Start: 60}, 60, 60}, // best effort
		7: {100, 90, 60, Progress{Start: 60, WorkStart: 95}, 60, 95},
		// it starts in time if it is released before
		8:  {100, 100, 60, Progress{BeginTime: 60, Held: true}, 80, 100},
		16: {100, 100, 40, Progress{BeginTime: 50, Held: true}, 0, 0},
		9:  {100, 100, 60, Progress{BeginTime: 101, Yielded: true}, 0, 0},
		12: {100, 100, 60, Progress{BeginTime: 60, Yielded: true}, 80, 100},
		13: {100, 100, 60, Progress{BeginTime: 60, TimeLimit: 1000, WasLimit: 900}, 80, 100},
		// 790 s after the hold
		14: {100, 100, 60, Progress{BeginTime: 90, TimeLimit: 800, WasLimit: 800, Yielded: true}, 95, 100},
		15: {100, 100, 60, Progress{BeginTime: 60, TimeLimit: 760, WasLimit: 760, Yielded: true}, 80, 100},
		10: {100, 100, 60, Progress{BeginTime: 60, Stopped: "AdminHold"}, 0, 0},
		11: {100, 90, 60, Progress{Start: 60, Yielded: true}, 60, 90},
	} {
		id := fmt.Sprint("plan", job)
		r := promise(id, "alice", max(c.slot, c.holdUntil))
		r.Slot, r.HoldUntil, r.BeginTime, r.WorkLimit, r.Nodes, r.CPUs = c.slot, c.holdUntil, c.begin, 600, 2, 16
		r.TimeLimit = 800
		r.Pieces = workload.Pieces{Count: 2, Each: workload.Size{CPUs: 8, GPUs: 1, Memory: 100}, Exclusive: true}
		r.Expected.NodeSeconds, r.Worst.NodeSeconds = 40, 80
		mustPromise(t, l, r)
		if err := l.Bind(t.Context(), id, "alice", job, 1, 1, true); err != nil {
			t.Fatal(err)
		}
		c.progress.State = api.StatePending
		if err := l.Record(t.Context(), id, c.progress); err != nil {
			t.Fatal(err)
		}
		claims, err := l.Claims(t.Context(), now)
		want := []workload.Claim{{
			Request: workload.Request{User: r.User, Account: r.Account, Partition: r.Partition, QOS: r.QOS, Size: r.Size, Limit: r.WorkLimit},
			Pieces:  r.Pieces,
			Job:     job, Runs: c.progress.Start != 0, Start: c.start, From: c.from,
		}}
		if job == 14 {
			want[0].Limit = 790
		}
		if c.start == 0 {
			want = nil
		}
		if diff := cmp.Diff(want, claims); err != nil || diff != "" {
			t.Errorf("job %d: %v\n%s", job, err, diff)
		}
		if err := l.Settle(t.Context(), id, Settlement{Outcome: api.StateKept}); err != nil {
			t.Fatal(err)
		}
	}
	if claims, err := l.Claims(t.Context(), now); err != nil || len(claims) != 0 {
		t.Errorf("of settled promises: %v, %v", claims, err)
	}
	jobless := promise("jobless", "alice", now+3600)
	mustPromise(t, l, jobless)
	second := promise("second", "alice", now+3600)
	second.Promised = jobless.Promised + unclaimedFor - 1
	mustPromise(t, l, second)
	for later, want := range map[int64]int{0: 2, unclaimedFor - 1: 2, unclaimedFor: 1, 2*unclaimedFor - 2: 1, 2*unclaimedFor - 1: 0} {
		if claims, err := l.Claims(t.Context(), jobless.Promised+later); err != nil || len(claims) != want {
			t.Errorf("without a job, %d s after the promise: %v, %v", later, claims, err)
		}
	}
	if err := l.Withdraw(t.Context(), second.ID, 1); err != nil {
		t.Fatal(err)
	}
	if claims, err := l.Claims(t.Context(), jobless.Promised); err != nil || len(claims) != 1 {
		t.Errorf("when the second is taken back: %v, %v", claims, err)
	}
	if err := l.Bind(t.Context(), second.ID, "alice", 20, 1, 1, true); err != nil {
		t.Fatal(err)
	}
	if claims, err := l.Claims(t.Context(), jobless.Promised+unclaimedFor); err != nil || len(claims) != 1 || claims[0].Job != 20 {
		t.Errorf("of a plan taken back that a job has taken up nevertheless: %v, %v", claims, err)
	}
}
