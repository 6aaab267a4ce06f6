package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cmd/varq-lab/progress"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/trial/scenario"
	"github.com/varq-project/varq/test/clitest"
	"github.com/varq-project/varq/test/golden"
)

// expect compares got with a file in testdata.
func expect(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	want := golden.Want(t, path, got)
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwhich is not %s; if it should be, run the test with -update", got, path)
	}
}

// TestGoldenReports simulates the log with every policy, backfilling and kind of
// reservations. It compares the reports, as text and as JSON, with files.
func TestGoldenReports(t *testing.T) {
	log := "--trace=" + clitest.Log()
	for _, policy := range policies {
		for _, backfill := range backfills {
			for kind, reservations := range map[string]string{"none": "none", "hard": "hard=20%", "varq": "varq=20%,prob=.75,max-cost=none,forecaster=qbets"} {
				name := fmt.Sprintf("%s-%v-%s.txt", policy.Name, backfill, kind)
				args := []string{log, "--policy=" + policy.Name, "--backfill=" + backfill.String(), "--reservations=" + reservations}
				report := clitest.Run(t, New, args...)
				expect(t, name, append(report, brief(t, clitest.Run(t, New, append(args, "--json")...))...))
			}
		}
	}
}

// brief removes the long lists of numbers from JSON, and the digits that differ between
// processors.
func brief(t *testing.T, text []byte) []byte {
	t.Helper()
	var answer any
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatal(err)
	}
	var cut func(any)
	cut = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				cut(item)
			}
		case map[string]any:
			for key, item := range v {
				switch item := item.(type) {
				case float64:
					v[key] = math.Round(item*1e6) / 1e6
				case []any:
					if key != "scenarios" {
						v[key] = fmt.Sprintf("%d numbers", len(item))
					}
				}
				cut(v[key])
			}
		}
	}
	cut(answer)
	var b bytes.Buffer
	if err := cli.WriteJSON(&b, answer); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGoldenComparison(t *testing.T) {
	dir := t.TempDir()
	args := []string{"compare", "--trace=" + clitest.Log(),
		"--reservations=hard=10%", "--reservations=varq=10%,prob=.75", "--reservations=varq=20%,prob=.75,max-cost=2x",
		"--reservations=varq=10%,prob=.75,take-offers", "--seeds=2", "--plot=" + dir}
	expect(t, "compare.txt", clitest.Run(t, New, args...))
	expect(t, "compare.json", brief(t, clitest.Run(t, New, append(args, "--json")...)))

	page, err := os.ReadFile(filepath.Join(dir, comparePage))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, comparePage, page)
	for _, says := range []string{"600 jobs of log.swf on 64 processors", "varq at 0.75, 20 % (max-cost=2x)", "varq at 0.75, 10 %, offers taken", "seed 1 and the next, 2 in all",
		"too little to tell whether varq keeps its promises", "This is a simulation", "1.5 times the booked time", "Simply submitted, ", "prefers-color-scheme: dark", `content="light dark"`, `<meta name="viewport" content="width=device-width`} {
		if !strings.Contains(string(page), says) {
			t.Errorf("the page does not say %q", says)
		}
	}
	// The page needs no other file, speaks plain words, and fits the width of any screen.
	for _, from := range []string{"src=", "href=", "<script", "<?xml", "ZgotmplZ", "hard=", "varq="} {
		if strings.Contains(string(page), from) {
			t.Errorf("the page has %q in it", from)
		}
	}
	if fixed := regexp.MustCompile(`width: *[0-9.]+(px|pt|in|cm)`).Find(page); fixed != nil {
		t.Errorf("the page has a fixed width: %s", fixed)
	}
}

// TestComparesWhatVarqdDoes: unless told otherwise, compare's reservations of VARQ's are planned
// as varqd plans, which TestDefaultIsVarqds of package scenario compares with varqd itself.
func TestComparesWhatVarqdDoes(t *testing.T) {
	varqd, err := newTrial("varq=10%")
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := newCompare(new(cli.Env)).Flags().GetStringArray("reservations")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, kind := range kinds {
		trial, err := newTrial(kind)
		if err != nil {
			t.Fatal(err)
		}
		if v, want := trial.kind.VARQ, varqd.kind.VARQ; v != nil {
			n++
			if v.Method != scenario.Blend || v.Method != want.Method || v.MaxHold != want.MaxHold || v.MaxCost != want.MaxCost {
				t.Errorf("%s is %+v", kind, v)
			}
		}
	}
	if n == 0 {
		t.Error("nothing is varq's")
	}
}

// TestSummary tells what is said first of results that are good, bad, few, none, or not VARQ's.
func TestSummary(t *testing.T) {
	base := &trial{Reservations: "none", Result: &scenario.Result{Others: scenario.Waits{Mean: 1000}}}
	idle := &trial{Reservations: "none", Result: &scenario.Result{}}
	kept := func(kept, promised int, low, high float64) *scenario.VARQResult {
		return &scenario.VARQResult{Asked: 500, Promised: promised, Kept: kept, KeptLow: low, KeptHigh: high, Overhead: .5}
	}
	for _, c := range []struct {
		base     *trial
		kind     string
		mean     float64
		varq     *scenario.VARQResult
		hard     *scenario.HardResult
		headline string
		verdict  score.Verdict
	}{
		{base, "varq=10%", 1100, kept(96, 100, .91, .99), nil, "In a replay of 1 week varq kept 96.0 % of its promises, as promised (95 %), and all others waited 10.0 % longer", score.AsPromised},
		{base, "varq=10%", 900, kept(80, 100, .7, .9), nil, "In a replay of 1 week varq kept 80.0 % of its promises, less than promised (95 %), and all others waited 10.0 % less", score.LessThanPromised},
		{base, "varq=10%,prob=.5", 1000, kept(80, 100, .7, .9), nil, "In a replay of 1 week varq kept 80.0 % of its promises, more than promised (50 %), and all others waited as long as before", score.MoreThanPromised},
		{base, "varq=10%", 1000, kept(9, 10, .1, 1), nil, "It is too little to tell whether varq keeps its promises: it made 10, in 0 weeks", score.TooLittle},
		{idle, "varq=10%", 5, kept(96, 100, .91, .99), nil, "In a replay of 1 week varq kept 96.0 % of its promises, as promised (95 %), and all others waited for 00:00:05 on average, where nobody did before", score.AsPromised},
		{base, "varq=10%", 1000, kept(0, 0, 0, 1), nil, "varq could promise nothing to any of the 500 jobs that asked", ""},
		{base, "hard=10%", 1500, nil, &scenario.HardResult{Jobs: 10, Exact: 5}, "With fixed times for 10 % of the jobs, all others wait 50.0 % longer", ""},
	} {
		reserved, err := newTrial(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		reserved.Result = &scenario.Result{Others: scenario.Waits{Mean: c.mean}, VARQ: c.varq, Hard: c.hard}
		got := newComparison(new(simulation), [][]*trial{{c.base, reserved}}).summary()
		if got.Headline != c.headline || got.Verdict != c.verdict {
			t.Errorf("%s: %q, verdict %q; want %q, verdict %q", c.kind, got.Headline, got.Verdict, c.headline, c.verdict)
		}
		if some := c.varq == nil || c.varq.Promised > 0; some != (len(got.Numbers) >= 3) {
			t.Errorf("%s: %d numbers", c.kind, len(got.Numbers))
		}
	}
}

// TestNoHeadlineIsTakenBack: where the verdict is that too little is known, no share of promises is
// told as a number, neither in the headline nor first of a figure.
func TestNoHeadlineIsTakenBack(t *testing.T) {
	base := &trial{Reservations: "none", Result: &scenario.Result{Others: scenario.Waits{Mean: 1000}}}
	reserved, err := newTrial("varq=10%")
	if err != nil {
		t.Fatal(err)
	}
	reserved.Result = &scenario.Result{
		Others: scenario.Waits{Mean: 1100},
		VARQ:   &scenario.VARQResult{Asked: 500, Promised: 100, Kept: 99, KeptLow: .4, KeptHigh: 1, Work: 1},
		Weeks:  []scenario.Week{{Week: 1, Promised: 60, Kept: 59}, {Week: 2, Promised: 40, Kept: 40}, {Week: 3}},
	}
	got := newComparison(new(simulation), [][]*trial{{base, reserved}}).summary()
	if n := got.Numbers[3]; n.Value != "+10.0 %" {
		t.Errorf("without an interval, others wait %+v", n)
	}
	vague := compared{trial: reserved, Change: &change{Wait: new(float64), WaitWithin: &interval{Low: -.3, High: .2}}}
	if n := (&comparison{Trials: []compared{{trial: base}, vague}}).othersWait(vague); n.Value != "not known" {
		t.Errorf("with a vague interval, others wait %+v", n)
	}
	if want := "It is too little to tell whether varq keeps its promises: it made 100, in 2 weeks"; got.Headline != want || got.Numbers[0].Value != "99 of 100" {
		t.Errorf("%q, %+v; want %q", got.Headline, got.Numbers[0], want)
	}
}

// TestWaitOfOthers: the change of what others wait is told with its interval, which is over weeks
// if there are enough of them, and otherwise over seeds.
func TestWaitOfOthers(t *testing.T) {
	// round has the trials of a seed, in which others wait for so long in each week.
	round := func(before, after []float64) []*trial {
		result := func(waits []float64) *scenario.Result {
			r := new(scenario.Result)
			for i, wait := range waits {
				r.Weeks = append(r.Weeks, scenario.Week{Week: int64(i), Others: 10, Wait: 10 * wait})
				r.Others.Jobs += 10
				r.Others.Mean += wait / float64(len(waits))
			}
			return r
		}
		return []*trial{{Reservations: "none", Result: result(before)}, {Reservations: "hard=10%", Result: result(after)}}
	}
	six := []float64{100, 100, 100, 100, 100, 100}
	for _, c := range []struct {
		rounds [][]*trial
		over   string
		says   string
	}{
		{[][]*trial{round(six, []float64{120, 120, 120, 120, 120, 120})}, "weeks", "20.0 % longer (20.0 % to 20.0 %)"},
		{[][]*trial{round(six, []float64{80, 80, 80, 80, 80, 80})}, "weeks", "20.0 % less (20.0 % to 20.0 %)"},
		{[][]*trial{round(six, []float64{98, 102, 99, 101, 100, 100})}, "weeks", "not measurably longer ("},
		{[][]*trial{round(six, []float64{50, 170, 100, 60, 160, 100})}, "weeks", "38.3 % less to 56.7 % longer: too little to tell"},
		{[][]*trial{round(six, []float64{40, 100, 100, 101, 100, 100})}, "weeks", "not measurably longer (40.0 % less to 0.7 % longer)"},
		{[][]*trial{round(six, six)}, "weeks", "as long as before"},
		{[][]*trial{round(six[:2], []float64{120, 120}), round(six[:2], []float64{120, 120})}, "seeds", "20.0 % longer (20.0 % to 20.0 %)"},
		{[][]*trial{round(six[:2], []float64{120, 120})}, "", "20.0 % longer"},
	} {
		got := newComparison(&simulation{jobs: jobs{log: true}}, c.rounds).Trials[1]
		over := ""
		if within := got.Change.WaitWithin; within != nil {
			over = within.Over
			if within.Low > *got.Change.Wait+1e-9 || within.High < *got.Change.Wait-1e-9 {
				t.Errorf("%+v does not have %v in it", within, *got.Change.Wait)
			}
		}
		if over != c.over || !strings.HasPrefix(got.wait(), c.says) {
			t.Errorf("%q over %q, want %q over %q", got.wait(), over, c.says, c.over)
		}
	}
}

// TestEnoughForAVerdict: unless told otherwise, a comparison takes the jobs of the first eight
// weeks, and of more if they are few.
func TestEnoughForAVerdict(t *testing.T) {
	for _, c := range []struct {
		gap  int64 // between two jobs, in seconds
		jobs int
	}{
		{60, stretch / 60}, // many jobs
		{3600, defaultJobs},
	} {
		log := enoughOf(&even{gap: c.gap, jobs: 200_000})
		n, progress := 0, 0.
		for range log.Jobs() {
			n++
			if now := log.Progress(); now < progress || now > 1 {
				t.Fatalf("after %d jobs the progress is %v, and before it was %v", n, now, progress)
			} else {
				progress = now
			}
		}
		if n != c.jobs || !log.cut || progress < .999 {
			t.Errorf("%d jobs of one every %d s, want %d; cut %v, progress %v", n, c.gap, c.jobs, log.cut, progress)
		}
		log = enoughOf(&even{gap: c.gap, jobs: 500})
		for range log.Jobs() {
		}
		if log.cut || log.read != 500 {
			t.Errorf("a log of 500 jobs is cut to %d: %v", log.read, log.cut)
		}
	}
}

// even is a log with a job every so often.
type even struct {
	jobLog
	gap  int64
	jobs int
}

func (e *even) Progress() float64 { return 0 }

func (e *even) Jobs() iter.Seq2[sched.Job, error] {
	return func(yield func(sched.Job, error) bool) {
		for i := range int64(e.jobs) {
			if !yield(sched.Job{ID: i, Submit: 77 + i*e.gap}, nil) {
				return
			}
		}
	}
}

// TestProgressCountsAllSeeds: the time left is that of all seeds, and a trial with forecasts counts
// for more than one without.
func TestProgressCountsAllSeeds(t *testing.T) {
	var out bytes.Buffer
	now := time.Duration(0)
	meter := progress.New(&out, func() time.Duration { return now })
	varq, err := newTrial("varq=10%")
	if err != nil {
		t.Fatal(err)
	}
	first, second := []*trial{{}, varq}, []*trial{{}, {kind: varq.kind}}
	total := newTotals(meter, [][]*trial{first, second})
	total.show(first[0], done{0, 0})
	now = 20 * time.Second
	total.show(first[0], done{1, 100})
	now = 40 * time.Second
	total.show(varq, done{1, 100})
	if got, want := out.String(), "100 jobs, 00:00:20, 00:13:40 left\n200 jobs, 00:00:40, 00:00:40 left\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSameSeed: the same seed gives the same schedule, and another seed another one.
func TestSameSeed(t *testing.T) {
	dir := t.TempDir()
	schedule := func(seed string) []byte {
		path := filepath.Join(dir, "schedule.csv")
		clitest.Run(t, New, "--model=downey", "--jobs=300", "--reservations=hard=10%", "--seed="+seed, "--schedule="+path)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := schedule("1")
	if !bytes.Equal(first, schedule("1")) {
		t.Error("the same seed gives another schedule")
	}
	if bytes.Equal(first, schedule("2")) {
		t.Error("another seed gives the same schedule")
	}
}

func TestWrap(t *testing.T) {
	text := strings.Repeat("longer ", 11) + "5.0 % longer"
	want := strings.Repeat("longer ", 10) + "longer\n5.0 % longer"
	if got := wrap(text); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestInterrupted: an interrupted simulation leaves no files.
func TestInterrupted(t *testing.T) {
	var stdout, stderr bytes.Buffer
	env := cli.Env{Stdout: &stdout, Stderr: &stderr, Elapsed: func() time.Duration { return clitest.Elapsed }}
	f := jobsFlags{model: modelDowney, procs: 8, jobs: 100, load: .5}
	s := &simulation{jobs: f.fromModel()}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.run(ctx, &env, [][]*trial{{{}, {}}}, filepath.Join(dir, "schedule.csv"))
	if !errors.Is(err, cli.ErrInterrupted) {
		t.Errorf("an interrupted simulation ends in %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}

// TestManual finds every column in varq-lab-simulate-compare(1).
func TestManual(t *testing.T) {
	clitest.Explained(t, "varq-lab-simulate-compare", table.Names(othersColumns()[1:]), table.Names(reserversColumns()[1:]), table.Names(refusedColumns()[1:]))
}
