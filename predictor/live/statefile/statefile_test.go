package statefile

import (
	"bufio"
	"database/sql"
	_ "embed" // an old file
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/scores"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/workload"
)

func open(t *testing.T, path string) *sqlitefile.File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestLaterSchemaIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	f := open(t, path)
	if _, err := f.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := Open(path); !errors.Is(err, sqlitefile.ErrTooNew) || !strings.Contains(err.Error(), "Install the varq again that has written it") {
		t.Errorf("Open = %v, want ErrTooNew, and what to do", err)
	}
}

func TestDurability(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "ledger.db"))
	var synchronous int
	var journal string
	if err := errors.Join(f.QueryRow("PRAGMA synchronous").Scan(&synchronous), f.QueryRow("PRAGMA journal_mode").Scan(&journal)); err != nil {
		t.Fatal(err)
	}
	if synchronous != 2 || journal != "wal" {
		t.Errorf("synchronous %d, journal %s; want 2 (full), wal", synchronous, journal)
	}
	if _, err := f.Exec(`INSERT INTO events (plan, at, kind, text) VALUES ('none', 0, '', '')`); err == nil {
		t.Error("foreign keys are not enforced")
	}
}

// version3 is a file as SQL, written by the varq in which the ledger stored the scores. It
// has three promises, one of which is settled and one of which has a held job. It has
// forecasts of two forecasters for three jobs, two of which have started, and odds.
//
//go:embed testdata/version3.sql
var version3 string

// noon is the noon of day 20000.
const noon = 20_000*86400 + 43_200

func TestOldFileKeepsItsData(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "ledger.db")
	old, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Exec(version3); err != nil {
		t.Fatal(err)
	}
	old.Close()
	f := open(t, path)

	l := ledger.New(f)
	entries, err := l.Select(ctx, ledger.Query{})
	if err != nil || len(entries) != 3 {
		t.Fatalf("%v, %v", entries, err)
	}
	want := ledger.Entry{
		Reservation: api.Reservation{
			Plan: api.Plan{
				ID: "aaaaaaaaaaaa", BeginTime: 9400, TimeLimit: 4200, BeginBy: 10_000, HoldUntil: 9940, Slot: 10_000, WorkLimit: 3600, Earliest: 9400,
				Prob: .9, Estimate: .93, OnMiss: "cancel",
				Work: api.Cost{NodeSeconds: 1, BillingSeconds: 2}, Worst: api.Cost{NodeSeconds: 3, BillingSeconds: 4},
				Expected: api.Cost{NodeSeconds: 5, BillingSeconds: 6},
				Evidence: api.Evidence{Sample: 77, Class: "main"}, Comment: "varq:aaaaaaaaaaaa",
			},
			Job: 7, User: "alice", Account: "phys", Partition: "main", QOS: "normal",
			Size:       workload.Size{Nodes: 4, CPUs: 16, GPUs: 1, Memory: 2048},
			BestEffort: true, State: api.StateMissed, Promised: 6400,
			Eligible: 9701, Start: 10_800, WorkStart: 10_801, End: 13_900, Note: "not started by the deadline",
		},
		Progress: ledger.Progress{
			State: api.StateMissed, Submit: 6400, BeginTime: 9700, TimeLimit: 3900, WasBegin: 9400, WasLimit: 4200, Earliest: 9400, Late: true,
			Eligible: 9701, Start: 10_800, WorkStart: 10_801,
		},
		Run: 6400,
	}
	if diff := cmp.Diff(want, entries[0]); diff != "" {
		t.Error(diff)
	}
	held := ledger.Progress{State: api.StatePending, Submit: 6500, BeginTime: 19_700, TimeLimit: 3901, WasBegin: 19_400, WasLimit: 4201, Earliest: 19_400, Held: true, Yielded: true}
	if b := entries[1]; b.Job != 8 || !b.Open || b.Progress != held || b.Note != "held" {
		t.Errorf("%+v", b)
	}
	if c := entries[2]; c.User != "carol" || c.State != api.StatePromised {
		t.Errorf("%+v", c)
	}
	if events, err := l.Events(ctx, "aaaaaaaaaaaa"); err != nil || len(events) != 3 {
		t.Errorf("%v, %v", events, err)
	}

	s := scores.New(f)
	if odds, err := s.Odds(ctx); err != nil || !slices.Equal(odds, []forecast.Odds{
		{Range: 0, Missed: 0, Expected: 1}, {Range: 1, Missed: 1.5, Expected: 3}, {Range: 2, Missed: 3.5, Expected: 5}, {Range: 3, Missed: 5.5, Expected: 7.5},
	}) {
		t.Errorf("%v, %v", odds, err)
	}
	waiting := workload.Submission{ID: 2, Submit: noon}
	unscored, err := s.UnscoredJobs(ctx)
	if diff := cmp.Diff(map[workload.Submission]scores.Open{waiting: {Wait: true}}, unscored); err != nil || diff != "" {
		t.Error(err, diff)
	}
	// The third job starts now, and joins the two that were scored long ago.
	start := scores.Outcome{Submission: waiting, Eligible: noon + 2, At: noon + 62}
	if _, err := s.Score(ctx, scores.Changes{Started: []scores.Outcome{start}}, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Fatal(err)
	}
	table, err := s.Scored(ctx, scores.Query{ByPartition: true, ByClass: true})
	blend := table[score.Key{Day: 20_000, Forecaster: "blend", Partition: "batch", Class: "nodes=1"}]
	if err != nil || len(table) != 2 || blend == nil || blend.Forecasts != 3 {
		t.Fatalf("%v, %v", table, err)
	}
	// The forecasts were exponential, with an atom of 1/4 at 0 and a mean of an hour.
	var forecasts delay.Distribution
	for i := range forecasts {
		forecasts[i] = .25 - .75*math.Expm1(-delay.At(i)/3600)
	}
	sum := 0.
	for _, wait := range []float64{60, 6999, 60} {
		x := forecasts.Quantile(.5)
		sum += max(.5*(wait-x), .5*(x-wait))
	}
	if got := blend.Levels[0].Pinball; math.Abs(got-sum) > 1 {
		t.Errorf("pinball loss %v, want %v", got, sum)
	}
}

// The first varq kept no scores.
func TestScoresComeToAnOldFile(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "ledger.db")
	old, err := sqlitefile.Open(path, sqlitefile.SurvivesPowerCut, steps[:1])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Exec(`INSERT INTO plans VALUES ('aaaaaaaaaaaa', 'alice', '', '', '', 0, 0, 0, 0, 9000, 0, 10000, 9500, 0, 0, 0, 0, '', 0, 0, 0, 0, 0, 0, 0, '', '', 0, 1)`); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	if got, err := ledger.New(f).Select(ctx, ledger.Query{}); err != nil || len(got) != 1 || got[0].User != "alice" {
		t.Errorf("the promise is now %+v, %v", got, err)
	}
	s := scores.New(f)
	job := workload.Submission{ID: 1, Submit: noon}
	w := scores.Changes{
		Begun:   []scores.Forecast{{Submission: job, Eligible: noon, Forecaster: "blend"}},
		Started: []scores.Outcome{{Submission: job, Eligible: noon, At: noon + 60}},
	}
	if _, err := s.Score(ctx, w, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Fatal(err)
	}
	if table, err := s.Scored(ctx, scores.Query{}); err != nil || len(table) != 1 {
		t.Errorf("scored %v, %v", table, err)
	}
}

// The lock of a process that is killed ends with it. This test is that process too.
func TestLockOfAKilledProcess(t *testing.T) {
	if path := os.Getenv("VARQ_TEST_LOCK"); path != "" {
		release, err := Lock(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("locked")
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
		_ = release()
		return
	}
	path := filepath.Join(t.TempDir(), "ledger.db")
	holder := exec.Command(os.Args[0], "-test.run=^TestLockOfAKilledProcess$")
	holder.Env = append(os.Environ(), "VARQ_TEST_LOCK="+path)
	if _, err := holder.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Errorf("%q, %v", line, err)
	}
	if _, err := Lock(path); !errors.Is(err, ErrLocked) {
		t.Errorf("a lock that another process has: %v", err)
	}
	_ = holder.Process.Kill()
	_ = holder.Wait()
	release, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(path); !errors.Is(err, ErrLocked) {
		t.Errorf("a lock of one's own: %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

// Groups that were decided before their members had parts keep their winners.
func TestOldGroupsKeepTheirWinners(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	before := slices.Index(steps, partsSQL)
	old, err := sqlitefile.Open(path, sqlitefile.SurvivesPowerCut, steps[:before])
	if err != nil {
		t.Fatal(err)
	}
	for id, decided := range map[string]string{"any": "'any', 7, 'any-2', 0, ''", "all": "'all', 7, '', 9, ''", "lost": "'all', 7, '', 0, 'gone'", "open": "'any', 0, '', 0, ''"} {
		if _, err := old.Exec("INSERT INTO groups (id, user, deadline, registered_at, independent, joint, prob, kind, decided, winner, go, lost) VALUES (?, 'alice', 8, 1, .5, .5, .5, "+decided+")", id); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			if _, err := old.Exec("INSERT INTO group_members (group_id, position, site, partition, plan, job, prob, asked) VALUES (?, ?, 'alpha', '', ?, ?, .5, 6)", id, i, fmt.Sprintf("%s-%d", id, i+1), i+1); err != nil {
				t.Fatal(err)
			}
		}
	}
	old.Close()
	f := open(t, path)
	groups, err := ledger.New(f).Groups(t.Context(), "any", "all", "lost", "open")
	if err != nil || len(groups) != 4 {
		t.Fatalf("%v, %v", groups, err)
	}
	for i, want := range []string{"[false true]", "[true true]", "[false false]", "[false false]"} {
		g := groups[i]
		if got := fmt.Sprint([]bool{g.Members[0].Won, g.Members[1].Won}); got != want || g.Members[1].Asked != 6 || g.Members[1].Part != 0 {
			t.Errorf("%s: %s of %+v", g.ID, got, g)
		}
	}
	if n := len(groups[1].Parts()); n != 2 {
		t.Errorf("all of two jobs has %d parts", n)
	}
	if n := len(groups[0].Parts()); n != 1 {
		t.Errorf("any of two jobs has %d parts", n)
	}
}
