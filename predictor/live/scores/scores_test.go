package scores

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/workload"
)

// noon is the noon of day 20000.
const noon = 20_000*86400 + 43_200

// forecastOf returns a forecast for a job that becomes eligible after seconds after noon.
func forecastOf(job, after int64, forecaster string) Forecast {
	return Forecast{
		Submission: workload.Submission{ID: job, Submit: noon}, Eligible: noon + after, Forecaster: forecaster,
		Partition: "batch", Class: "nodes=1", Delay: *forecasttest.ExponentialOrNone(.25, 3600),
	}
}

// started returns the start of a job after a wait, or its end after a time.
func started(f *Forecast, wait int64) Outcome {
	return Outcome{Submission: f.Submission, Eligible: f.Eligible, At: f.Eligible + wait}
}

func mustScore(t *testing.T, l *Store, w Changes) score.Table {
	t.Helper()
	table, err := l.Score(t.Context(), w, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func mustScored(t *testing.T, l *Store, q Query) score.Table {
	t.Helper()
	table, err := l.Scored(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func open(t testing.TB, path string) *Store {
	t.Helper()
	file, err := statefile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return New(file)
}

func openNew(t *testing.T) *Store { return open(t, filepath.Join(t.TempDir(), "ledger.db")) }

// TestScores compares the tables with sums that were never on disk.
func TestScores(t *testing.T) {
	l := openNew(t)
	r := rand.New(rand.NewPCG(7, 7))
	want := score.Table{}
	for look := range 20 {
		var w Changes
		for i := range int64(5) {
			for _, name := range []string{"blend", "qbets"} {
				f := forecastOf(int64(look)*5+i, 5000*int64(look), name)
				f.Partition = []string{"batch", "gpu"}[i%2]
				f.Delay = *forecasttest.ExponentialOrNone(.25, 1000+9000*r.Float64())
				w.Begun = append(w.Begun, f)
			}
		}
		mustScore(t, l, w)
		starts := Changes{}
		for i := range w.Begun {
			if f := &w.Begun[i]; f.Forecaster == "blend" {
				starts.Started = append(starts.Started, started(f, r.Int64N(20_000)))
			}
		}
		for k, s := range mustScore(t, l, starts) {
			want.At(k).Plus(s)
		}
		if len(mustScore(t, l, starts)) != 0 {
			t.Fatal("starts told twice counted twice")
		}
	}
	near := cmpopts.EquateApprox(1e-9, 0)
	if diff := cmp.Diff(want, mustScored(t, l, Query{ByPartition: true, ByClass: true}), near); diff != "" {
		t.Error(diff)
	}
	qbets, gpu := score.Table{}, score.Table{}
	for k, s := range want {
		if k.Forecaster == "qbets" && k.Day > 20_000 {
			qbets.At(score.Key{Day: k.Day, Forecaster: "qbets"}).Plus(s)
		}
		if k.Partition == "gpu" {
			gpu.At(score.Key{Day: k.Day, Forecaster: k.Forecaster, Class: k.Class}).Plus(s)
		}
	}
	if diff := cmp.Diff(qbets, mustScored(t, l, Query{Forecaster: "qbets", From: 20_001, To: 20_009}), near); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(gpu, mustScored(t, l, Query{Partition: "gpu", Class: "nodes=1", ByClass: true}), near); diff != "" {
		t.Error(diff)
	}
	if left, err := l.UnscoredJobs(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("%d jobs are still unscored, %v", len(left), err)
	}
}

func TestForecastsThatAreNotScored(t *testing.T) {
	l := openNew(t)
	held, moved, cancelled, clock, late := forecastOf(1, 0, "blend"), forecastOf(2, 0, "blend"), forecastOf(3, 0, "blend"), forecastOf(4, 0, "blend"), forecastOf(5, 0, "blend")
	broken := forecastOf(6, 0, "blend")
	broken.Delay[7] = math.NaN()
	mustScore(t, l, Changes{Begun: []Forecast{held, moved, cancelled, clock, late, broken}})
	again := moved
	again.Eligible += 600
	table := mustScore(t, l, Changes{
		Begun: []Forecast{again},
		Started: []Outcome{
			// its wait began anew
			{Submission: held.Submission, Eligible: held.Eligible + 60, At: held.Eligible + 90},
			started(&again, 5),
			started(&clock, -1),
			started(&broken, 5),
		},
		Gone: []workload.Submission{cancelled.Submission},
	})
	if len(table) != 1 || table.At(score.Key{Day: 20_000, Forecaster: "blend", Partition: "batch", Class: "nodes=1"}).Forecasts != 1 {
		t.Errorf("scored %v", table)
	}
	left, err := l.UnscoredJobs(t.Context())
	if diff := cmp.Diff(map[workload.Submission]Open{late.Submission: {Wait: true}}, left); err != nil || diff != "" {
		t.Error(err, diff)
	}
	key := score.Key{Day: 20_000, Forecaster: "blend"}
	for now, want := range map[int64]score.Unscored{late.Eligible + 3600: {Open: 1}, late.Eligible + 86400: {Open: 1, Overdue: 1}} {
		got, err := l.Unscored(t.Context(), Query{Partition: "batch"}, now)
		if diff := cmp.Diff(map[score.Key]score.Unscored{key: want}, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
}

// A start scores the forecasts of waits alone, and an end that of the end, each once.
func TestEndsAreScoredApart(t *testing.T) {
	l := openNew(t)
	forecasters := func(table score.Table) (names []string) {
		for k, s := range table {
			names = append(names, fmt.Sprint(k.Forecaster, " ", s.Forecasts))
		}
		slices.Sort(names)
		return names
	}
	wait, end := forecastOf(1, 0, "blend"), forecastOf(1, 0, completion.Name)
	moved, gone, early := forecastOf(2, 0, completion.Name), forecastOf(3, 0, completion.Name), forecastOf(4, 0, completion.Name)
	mustScore(t, l, Changes{Begun: []Forecast{wait, end, moved, gone, forecastOf(3, 0, "blend"), early}})
	begins, ends := Changes{Started: []Outcome{started(&wait, 60)}}, Changes{Ended: []Outcome{started(&end, 600)}}
	for _, step := range []struct {
		changes Changes
		scored  []string
		open    map[workload.Submission]Open
	}{
		{Changes{}, nil, map[workload.Submission]Open{wait.Submission: {Wait: true, End: true}, moved.Submission: {End: true}, gone.Submission: {Wait: true, End: true}, early.Submission: {End: true}}},
		{begins, []string{"blend 1"}, map[workload.Submission]Open{end.Submission: {End: true}, moved.Submission: {End: true}, gone.Submission: {Wait: true, End: true}, early.Submission: {End: true}}},
		{begins, nil, map[workload.Submission]Open{end.Submission: {End: true}, moved.Submission: {End: true}, gone.Submission: {Wait: true, End: true}, early.Submission: {End: true}}},
		{ends, []string{"completion 1"}, map[workload.Submission]Open{moved.Submission: {End: true}, gone.Submission: {Wait: true, End: true}, early.Submission: {End: true}}},
		{ends, nil, map[workload.Submission]Open{moved.Submission: {End: true}, gone.Submission: {Wait: true, End: true}, early.Submission: {End: true}}},
		{Changes{Ended: []Outcome{{Submission: moved.Submission, Eligible: noon + 60, At: noon + 90}, started(&early, -1)}, Gone: []workload.Submission{gone.Submission}}, nil, map[workload.Submission]Open{}},
	} {
		if got := forecasters(mustScore(t, l, step.changes)); !slices.Equal(got, step.scored) {
			t.Errorf("%+v: scored %v, want %v", step.changes, got, step.scored)
		}
		open, err := l.UnscoredJobs(t.Context())
		if diff := cmp.Diff(step.open, open); err != nil || diff != "" {
			t.Errorf("%+v: %v %s", step.changes, err, diff)
		}
	}
	if got := forecasters(mustScored(t, l, Query{})); !slices.Equal(got, []string{"blend 1", "completion 1"}) {
		t.Errorf("stored are the sums of %v", got)
	}
}

// A job that started and lost its nodes at once is scored for its wait, and not for its end.
func TestGoneAfterTheStart(t *testing.T) {
	l := openNew(t)
	wait, end := forecastOf(1, 0, "blend"), forecastOf(1, 0, completion.Name)
	var ranks []Rank
	table := mustScore(t, l, Changes{Begun: []Forecast{wait, end}, Started: []Outcome{started(&wait, 60)}, Gone: []workload.Submission{wait.Submission}, Ranked: func(r Rank) { ranks = append(ranks, r) }})
	if len(ranks) != 1 || ranks[0].Forecaster != wait.Forecaster || ranks[0].Eligible != wait.Eligible || !(ranks[0].Rank >= 0 && ranks[0].Rank <= 1) {
		t.Errorf("ranks %+v; want that of the wait alone", ranks)
	}
	open, err := l.UnscoredJobs(t.Context())
	if err != nil || len(table) != 1 || len(open) != 0 || table[score.Key{Day: 20_000, Forecaster: "blend", Partition: "batch", Class: "nodes=1"}] == nil {
		t.Errorf("scored %v, open %v, %v", table, open, err)
	}
}

func TestForecastsAreBounded(t *testing.T) {
	l := openNew(t)
	// More classes than mostClasses in a day.
	var w Changes
	for i := range int64(mostClasses + 10) {
		f := forecastOf(i, 0, "blend")
		f.Class = fmt.Sprint(i)
		w.Begun = append(w.Begun, f)
		w.Started = append(w.Started, started(&f, 60))
	}
	mustScore(t, l, w)
	table := mustScored(t, l, Query{ByPartition: true, ByClass: true})
	others := table[score.Key{Day: 20_000, Forecaster: "blend", Partition: Others, Class: Others}]
	if len(table) != mostClasses+1 || others == nil || others.Forecasts != 10 {
		t.Errorf("%d classes, others %+v", len(table), others)
	}
	// Old sums.
	mustScore(t, l, Changes{Begun: []Forecast{forecastOf(1, (mostDays+1)*86400, "blend")}})
	if table := mustScored(t, l, Query{}); len(table) != 0 {
		t.Errorf("after %d days there are still %v", mostDays, table)
	}
}

// A full table has all forecasts for a job or none, and keeps those that have waited
// longest.
func TestForecastsBeyondTheMostAreLeftOut(t *testing.T) {
	l := openNew(t)
	for i := range int64(10) {
		both := []Forecast{forecastOf(i, i, "blend"), forecastOf(i, i, "qbets")}
		if err := l.db.Write(t.Context(), func(tx *sql.Tx) error { return insertForecasts(t.Context(), tx, both, 15) }); err != nil {
			t.Fatal(err)
		}
	}
	left, err := l.UnscoredJobs(t.Context())
	if err != nil || len(left) != 7 {
		t.Errorf("%d jobs are kept, %v", len(left), err)
	}
	for job := range int64(7) {
		if _, ok := left[workload.Submission{ID: job, Submit: noon}]; !ok {
			t.Errorf("job %d, which has waited longer, was dropped", job)
		}
	}
}

// A table that is full of forecasts of ends takes those of waits, and one full of those of waits
// takes neither.
func TestForecastsOfEndsHaveABoundOfTheirOwn(t *testing.T) {
	l := openNew(t)
	add := func(list ...Forecast) {
		t.Helper()
		if err := l.db.Write(t.Context(), func(tx *sql.Tx) error { return insertForecasts(t.Context(), tx, list, 3) }); err != nil {
			t.Fatal(err)
		}
	}
	for i := range int64(3) {
		add(forecastOf(i, 0, completion.Name))
	}
	for i := range int64(4) {
		add(forecastOf(10+i, 0, "blend"), forecastOf(10+i, 0, completion.Name))
	}
	if _, err := l.Score(t.Context(), Changes{Gone: []workload.Submission{{ID: 0, Submit: noon}}}, nil); err != nil {
		t.Fatal(err)
	}
	add(forecastOf(20, 0, "blend"), forecastOf(20, 0, completion.Name))
	open, err := l.UnscoredJobs(t.Context())
	want := map[workload.Submission]Open{}
	for _, id := range []int64{1, 2} {
		want[workload.Submission{ID: id, Submit: noon}] = Open{End: true}
	}
	for _, id := range []int64{10, 11, 12} {
		want[workload.Submission{ID: id, Submit: noon}] = Open{Wait: true}
	}
	if diff := cmp.Diff(want, open); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestForecastsOfLongAgoAreDropped(t *testing.T) {
	l := openNew(t)
	for i, left := range [...]int{1, 2, 2} { // the third call drops the first job
		mustScore(t, l, Changes{Begun: []Forecast{forecastOf(int64(i), int64(i)*(mostAge/2+1)*86400, "blend")}})
		if runs, err := l.UnscoredJobs(t.Context()); err != nil || len(runs) != left {
			t.Errorf("%d jobs are kept, want %d, %v", len(runs), left, err)
		}
	}
}

const killed = 100 // jobs

// TestKilledWhileScoring kills a process in the middle of scoring, again and again. In the
// end each forecast counts once.
func TestKilledWhileScoring(t *testing.T) {
	if path := os.Getenv("VARQ_TEST_LEDGER"); path != "" {
		scoreAll(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	var w Changes
	for i := range int64(killed) {
		w.Begun = append(w.Begun, forecastOf(i, 0, "blend"), forecastOf(i, 0, "qbets"))
	}
	mustScore(t, l, w)
	l.db.Close()
	r := rand.New(rand.NewPCG(9, 9))
	for range 5 {
		child := exec.Command(os.Args[0], "-test.run=^TestKilledWhileScoring$")
		child.Env = append(os.Environ(), "VARQ_TEST_LEDGER="+path)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for left := 2 + r.IntN(8); left > 0 && lines.Scan(); left-- {
		}
		_ = child.Process.Kill()
		_ = child.Wait()
	}
	l = open(t, path)
	left, err := l.UnscoredJobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum := func() (n int) {
		for _, s := range mustScored(t, l, Query{}) {
			n += s.Forecasts
			bins := 0
			for _, b := range s.Bins {
				bins += b.N
			}
			if bins != s.Forecasts*len(score.Budgets) {
				t.Errorf("%d probabilities of %d forecasts", bins, s.Forecasts)
			}
		}
		return n
	}
	if n := sum(); n+2*len(left) != 2*killed || len(left) == 0 || n == 0 {
		t.Errorf("%d forecasts are scored and %d are not, of %d", n, 2*len(left), 2*killed)
	}
	scoreAll(t, path)
	if n := sum(); n != 2*killed {
		t.Errorf("%d forecasts are scored, of %d", n, 2*killed)
	}
}

// scoreAll scores all starts, from the first, and prints a line for each.
func scoreAll(t *testing.T, path string) {
	l := open(t, path)
	for i := range int64(killed) {
		f := forecastOf(i, 0, "")
		mustScore(t, l, Changes{Started: []Outcome{started(&f, 60*i)}})
		if os.Getenv("VARQ_TEST_LEDGER") != "" {
			fmt.Println(i)
		}
	}
}

func TestScoringOnAFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	f := forecastOf(1, 0, "blend")
	mustScore(t, l, Changes{Begun: []Forecast{f}})
	limit := func(pages int) {
		if err := l.db.Write(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages))
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	limit(1) // SQLite raises it to the present size
	var many Changes
	for i := range int64(100) {
		many.Begun = append(many.Begun, forecastOf(10+i, 0, "blend"))
	}
	many.Started = []Outcome{started(&f, 60)}
	if _, err := l.Score(t.Context(), many, rand.New(rand.NewPCG(1, 1))); err == nil {
		t.Fatal("the disk never filled")
	}
	if n := len(mustScored(t, l, Query{})); n != 0 {
		t.Errorf("%d sums of a transaction that failed", n)
	}
	limit(1_000_000)
	if len(mustScore(t, l, many)) != 1 {
		t.Error("the forecast was lost")
	}
}

func TestScoringRace(t *testing.T) {
	l := openNew(t)
	f := forecastOf(1, 0, "blend")
	mustScore(t, l, Changes{Begun: []Forecast{f}})
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			_, err := l.Score(t.Context(), Changes{Started: []Outcome{started(&f, 60)}}, rand.New(rand.NewPCG(1, 1)))
			_, err2 := l.Scored(t.Context(), Query{})
			errs[i] = errors.Join(err, err2)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if s := mustScored(t, l, Query{})[score.Key{Day: 20_000, Forecaster: "blend"}]; s == nil || s.Forecasts != 1 {
		t.Errorf("scored %+v, once was right", s)
	}
}

func FuzzDecode(f *testing.F) {
	d := forecasttest.ExponentialOrNone(.25, 3600)
	whole, _ := encode(d)
	f.Add(whole)
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var d delay.Distribution
		if !decode(b, &d) {
			return
		}
		again, ok := encode(&d)
		if !ok || string(again) != string(b) {
			t.Errorf("%v is written as %v", d, again)
		}
	})
}

// BenchmarkScore measures one snapshot of a busy queue, with five forecasters, 20 jobs that
// begin to wait and 20 that start.
func BenchmarkScore(b *testing.B) {
	l := open(b, filepath.Join(b.TempDir(), "ledger.db"))
	r := rand.New(rand.NewPCG(1, 1))
	var last Changes
	for job := int64(0); b.Loop(); {
		w := Changes{}
		for i := range last.Begun {
			w.Started = append(w.Started, started(&last.Begun[i], 60))
		}
		for range 20 {
			job++
			for _, name := range []string{"blend", "qbets", "forest", "twin", "site"} {
				w.Begun = append(w.Begun, forecastOf(job, job, name))
			}
		}
		if _, err := l.Score(b.Context(), w, r); err != nil {
			b.Fatal(err)
		}
		last = w
	}
}
