package extern

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

var (
	_ forecast.Forecaster = (*Forecaster)(nil)
	_ forecast.Preparer   = (*Forecaster)(nil)
	_ forecast.Relearner  = (*Forecaster)(nil)
)

// log keeps what was logged.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(data)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// patient is how long anything may take before it counts as hanging. Only a failing test
// takes that long.
const patient = 5 * time.Minute

// run runs a program until the test ends. The pauses are short.
func run(t *testing.T, name string, change func(*Forecaster)) (*Forecaster, *log) {
	t.Helper()
	l := &log{}
	f := New(Options[forecast.Observer]{
		Name: "site", Command: command(t, name), Timeout: patient,
		Past: func(_ context.Context, o forecast.Observer) error {
			o.Submitted(&workload.Job{ID: 1})
			o.Started(&workload.Job{ID: 1})
			return nil
		},
		Log: slog.New(slog.NewTextHandler(l, nil)),
	})
	f.pace = pace{start: patient, learn: patient, pause: 10 * time.Millisecond, end: patient, gone: patient}
	if change != nil {
		change(f)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		if p := f.process.Load(); p != nil {
			t.Error("a process is left")
		}
	})
	return f, l
}

// eventually waits until ok.
func eventually(t *testing.T, f *Forecaster, what string, ok func(Health) bool) {
	t.Helper()
	for deadline := time.Now().Add(patient); !ok(f.Health()); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never %s: %+v", what, f.Health())
		}
	}
}

func up(h Health) bool { return h.Problem == "" }

func ask(f *Forecaster, r workload.Request) (a forecast.Answer, ok bool) {
	ok = f.Forecast(&forecast.Question{Request: r, Now: 1000, Submit: 1000}, &a)
	return a, ok
}

// good is a question that every program answers correctly. wrong is a question that faulty
// programs do not answer correctly.
var (
	good  = workload.Request{User: "ada", Account: "good", Limit: 60}
	wrong = workload.Request{User: "ada", Limit: 60}
)

func TestAnswers(t *testing.T) {
	f, _ := run(t, "good", nil)
	if a, ok := ask(f, good); ok && a.Sample != 2 {
		t.Errorf("before it is up: %+v", a)
	}
	eventually(t, f, "up", up)
	for i := range 3000 {
		f.Ended(&workload.Job{ID: int64(i)})
	}
	got, ok := ask(f, good)
	want := &counter{events: 3002}
	var a forecast.Answer
	want.Forecast(&forecast.Question{Request: good}, &a)
	if diff := cmp.Diff(a, got); !ok || diff != "" {
		t.Errorf("%v, %s", ok, diff)
	}
	if _, ok := ask(f, workload.Request{User: "nobody"}); ok {
		t.Error("knows what the program does not know")
	}
	if h := f.Health(); h.Name != "site" || h.Version != "counter 1" || h.Answers < 2 || len(h.Failures) > 0 || h.Starts != 1 {
		t.Errorf("%+v", h)
	}
	if f.Name() != "site" {
		t.Errorf("called %s", f.Name())
	}
}

// TestNeverUp runs programs that never become ready to be asked.
func TestNeverUp(t *testing.T) {
	for name, want := range map[string]string{
		"ends at start":    "it ended: exit status 0",
		"crashes at start": "it ended: exit status 2; it wrote: panic: no model here",
		"silent":           "it has not started within 300ms",
		"chatters":         "Unrecognized remote plugin message: hello, world [31m xxx",
		"version 2":        "Plugin version: 2, Client versions: [1]",
		"net/rpc":          `unsupported plugin protocol "netrpc"`,
		"on TCP":           "it listens on tcp 127.0.0.1:6825, not on a unix socket",
		"elsewhere":        "it listens on unix /tmp/varq-test.sock, not",
		"deaf":             "it has not started within 300ms",
		"boasts":           `its version: holds '\n', which cannot be printed`,
		"unknown service":  "it does not describe itself: unknown service",
	} {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			t.Parallel()
			f, log := run(t, name, func(f *Forecaster) {
				f.pace.pause = patient
				if strings.Contains(want, "300ms") {
					f.pace.start = 300 * time.Millisecond
				}
				if !strings.HasPrefix(want, "it ended") { // the program does not end by itself
					f.pace.end = time.Millisecond
				}
			})
			eventually(t, f, "left out", func(h Health) bool { return strings.Contains(h.Problem, want) })
			if h := f.Health(); len(h.Problem) > 3*maxWord || strings.Contains(h.Problem, "\x1b") || h.Starts > 0 {
				t.Errorf("%+v", h)
			}
			if _, ok := ask(f, good); ok {
				t.Error("answers")
			}
			if !strings.Contains(log.String(), "forecaster=site") {
				t.Errorf("log: %s", log)
			}
		})
	}
	for name, command := range map[string]string{"missing": "/does/not/exist", "no program": "/etc/passwd"} {
		t.Run(name, func(t *testing.T) {
			f, _ := run(t, "good", func(f *Forecaster) { f.Command, f.pace.end = command, time.Millisecond })
			eventually(t, f, "left out", func(h Health) bool { return strings.Contains(h.Problem, command) })
		})
	}
}

// TestWrongAnswers runs programs that answer wrongly. Each wrong answer is left out, and after
// a few the program is.
func TestWrongAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		want string
		kind Failure
	}{
		"refuses":         {"failed: not today [31m xxx", Failed},
		"says nothing":    {"nonsense: 0 answers to 1 questions", Nonsense},
		"huge":            {"nonsense: grpc: received message larger than max", Nonsense},
		"half a point":    {"nonsense: 2 seconds and 1 probabilities", Nonsense},
		"NaN":             {"nonsense: point 1: a probability of NaN", Nonsense},
		"never":           {"nonsense: point 0: +Inf seconds", Nonsense},
		"before 0":        {"nonsense: point 0: -1 seconds", Nonsense},
		"back in time":    {"nonsense: point 1: 4 seconds after 5", Nonsense},
		"falls":           {"nonsense: point 1: probability falls from 0.5 to 0.4", Nonsense},
		"more than 1":     {"nonsense: point 0: a probability of 1.5", Nonsense},
		"too many points": {"nonsense: 1001 points, of at most 1000", Nonsense},
		"negative sample": {"nonsense: a sample of -1", Nonsense},
		"endless sample":  {"nonsense: a sample of +Inf", Nonsense},
		"coloured class":  {`nonsense: class: holds '\x1b'`, Nonsense},
		"long class":      {"nonsense: class: 101 bytes, of at most 100", Nonsense},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, log := run(t, name, func(f *Forecaster) { f.pace.pause = patient })
			eventually(t, f, "up", up)
			for i := range patience + 1 {
				if i == patience-1 {
					if _, ok := ask(f, good); !ok {
						t.Error("a good answer is left out")
					}
					ask(f, wrong)
					ask(f, wrong)
				}
				if a, ok := ask(f, wrong); ok || !cmp.Equal(a, forecast.Answer{}) {
					t.Errorf("answers %+v", a)
				}
			}
			eventually(t, f, "left out", func(h Health) bool { return strings.Contains(h.Problem, c.want) })
			h := f.Health()
			if h.Failures[c.kind] != 5 || len(h.Failures) != 1 || h.Answers != 1 || len(h.Problem) > 2*maxWord {
				t.Errorf("%+v", h)
			}
			if n := strings.Count(log.String(), "left out of an answer"); n != 1 {
				t.Errorf("logged %d times:\n%s", n, log)
			}
		})
	}
}

func TestComesBack(t *testing.T) {
	for _, name := range []string{"crashes", "exits"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, log := run(t, name, nil)
			for starts := range uint64(3) {
				eventually(t, f, "up again", func(h Health) bool { return up(h) && h.Starts == starts+1 })
				if a, ok := ask(f, good); !ok || a.Sample != 2 {
					t.Errorf("%+v %v: knows only the past", a, ok)
				}
				if _, ok := ask(f, wrong); ok {
					t.Error("answers")
				}
			}
			want := map[string]string{"crashes": "it ended: exit status 2; it wrote: panic: index out of range", "exits": "it ended: exit status 3"}
			if !strings.Contains(log.String(), want[name]) {
				t.Errorf("log: %s", log)
			}
		})
	}
}

// TestHangs asks a program that never answers, for several plans at the same time. A few
// questions wait until their deadlines, and the others do not wait.
func TestHangs(t *testing.T) {
	f, _ := run(t, "hangs", func(f *Forecaster) { f.Timeout, f.pace.pause = 50*time.Millisecond, patient })
	eventually(t, f, "up", up)
	var plans sync.WaitGroup
	for range 8 {
		plans.Go(func() {
			for range 1000 {
				if _, ok := ask(f, wrong); ok {
					t.Error("answers")
				}
			}
		})
	}
	plans.Wait()
	eventually(t, f, "left out", func(h Health) bool {
		return strings.Contains(h.Problem, "3 failures in succession, the last: no answer within 50ms")
	})
	if h := f.Health(); h.Failures[Late] != 3 || h.Failures[Busy] > 1000 {
		t.Errorf("of 8,000 questions: %+v", h)
	}
}

func TestBadLearners(t *testing.T) {
	for name, c := range map[string]struct {
		program, want string
		news          bool
	}{
		"crashes in the past": {"crashes learning", "it ended: exit status 2; it wrote: panic: cannot learn", false},
		"crashes in the news": {"crashes learning", "it ended: exit status 2; it wrote: panic: cannot learn", true},
		"hangs in the past":   {"hangs learning", "told of 2 events: ", false},
		"hangs in the news":   {"hangs learning", "told of 1 events: ", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, _ := run(t, c.program, func(f *Forecaster) {
				f.pace.pause, f.Timeout = patient, 20*time.Millisecond
				if c.program == "hangs learning" {
					f.pace.learn, f.pace.end = time.Second, time.Millisecond
				}
				if c.news {
					f.Past = nil
				}
			})
			if c.news {
				eventually(t, f, "up", up)
				f.Started(&workload.Job{ID: 1})
				for range 100 { // waits once
					if _, ok := ask(f, good); ok {
						t.Error("answers before it has learnt")
					}
				}
			}
			eventually(t, f, "left out", func(h Health) bool { return strings.Contains(h.Problem, c.want) })
		})
	}
}

// TestFallsBehind sends a program more events than it can learn.
func TestFallsBehind(t *testing.T) {
	f, _ := run(t, "hangs learning", func(f *Forecaster) { f.Past, f.pace.pause = nil, patient })
	eventually(t, f, "up", up)
	for i := range maxBacklog + 1 {
		f.Submitted(&workload.Job{ID: int64(i)})
	}
	eventually(t, f, "left out", func(h Health) bool { return strings.Contains(h.Problem, "fallen behind by 65536 events") })
}

func TestRelearns(t *testing.T) {
	f, l := run(t, "good", nil)
	eventually(t, f, "up", up)
	f.Ended(&workload.Job{ID: 2})
	f.Relearn()
	eventually(t, f, "up again", func(h Health) bool { return up(h) && h.Starts == 2 })
	if a, ok := ask(f, good); !ok || a.Sample != 2 {
		t.Errorf("knows %v events, %v; the past has 2", a.Sample, ok)
	}
	if !strings.Contains(l.String(), "told the past again") {
		t.Error(l)
	}
}

func TestFloods(t *testing.T) {
	for _, name := range []string{"floods", "floods as Go does"} {
		t.Run(name, func(t *testing.T) {
			f, log := run(t, name, nil)
			eventually(t, f, "up", up)
			for range 1000 {
				if _, ok := ask(f, good); !ok {
					t.Fatalf("does not answer: %+v", f.Health())
				}
			}
			if len(log.String()) > 1000 {
				t.Errorf("logs %d bytes", len(log.String()))
			}
		})
	}
}

func TestNothingIsLeft(t *testing.T) {
	f, _ := run(t, "has children", nil)
	eventually(t, f, "up", up)
	child, err := strconv.Atoi(f.Health().Version)
	if err != nil {
		t.Fatal(err)
	}
	dir := f.process.Load().program.dir
	f.process.Load().stop(errors.New("enough"))
	eventually(t, f, "up again", func(h Health) bool { return up(h) && h.Starts == 2 })
	state, err := os.ReadFile("/proc/" + strconv.Itoa(child) + "/stat")
	if err == nil && !strings.Contains(string(state), ") Z ") && syscall.Kill(child, 0) == nil {
		t.Errorf("child %d lives: %s", child, state)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder %s is left: %v", dir, err)
	}
}

func TestPastIsToldInPart(t *testing.T) {
	f, log := run(t, "good", func(f *Forecaster) {
		f.Past = func(_ context.Context, o forecast.Observer) error {
			for i := range 2*maxBatch + 5 {
				o.Started(&workload.Job{ID: int64(i), Request: workload.Request{User: "j\xff"}})
			}
			return errors.New("disk on fire")
		}
	})
	eventually(t, f, "up", up)
	if a, ok := ask(f, good); !ok || a.Sample != 2*maxBatch+5 {
		t.Errorf("%+v %v", a, ok)
	}
	if !strings.Contains(log.String(), "disk on fire") {
		t.Errorf("log: %s", log)
	}
}

// TestPrepare asks all questions of a plan at once.
func TestPrepare(t *testing.T) {
	f, _ := run(t, "good", nil)
	eventually(t, f, "up", up)
	const n = 1441
	questions := make([]forecast.Question, n)
	for i := range questions {
		questions[i] = forecast.Question{Request: good, Now: 1000, Submit: 1000 + 30*int64(i)}
		questions[i].Limit = 60 * (1000 - int64(i)/2)
	}
	f.Prepare(questions)
	answers := f.Health().Answers
	for i := range questions {
		var a forecast.Answer
		if !f.Forecast(&questions[i], &a) || a.Sample != 2 || a.Wait[delay.Points-1] < .999999 {
			t.Fatalf("question %d: %+v", i, a)
		}
	}
	if h := f.Health(); h.Answers != answers {
		t.Errorf("asked %d times for a plan that was prepared", h.Answers-answers)
	}
	other := questions[7]
	other.Now++
	f.Forecast(&other, new(forecast.Answer))
	if h := f.Health(); h.Answers != answers+1 {
		t.Error("an old answer is taken for a new one")
	}
	f.Prepare(nil)
}

func BenchmarkForecast(b *testing.B) {
	f := New(Options[forecast.Observer]{Name: "site", Command: os.Args[0] + " forecaster=good", Timeout: patient, Log: slog.New(slog.DiscardHandler)})
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	defer running.Wait()
	defer stop()
	for f.Health().Problem != "" {
		time.Sleep(time.Millisecond)
	}
	f.Started(&workload.Job{ID: 1})
	plan := make([]forecast.Question, 1440)
	for i := range plan {
		plan[i] = forecast.Question{Request: good, Now: 1000, Submit: 1000 + 30*int64(i)}
	}
	b.Run("question", func(b *testing.B) {
		for b.Loop() {
			if _, ok := ask(f, good); !ok {
				b.Fatal("no answer")
			}
		}
	})
	b.Run("plan", func(b *testing.B) {
		var a forecast.Answer
		for b.Loop() {
			f.Prepare(plan)
			for i := range plan {
				if !f.Forecast(&plan[i], &a) {
					b.Fatal("no answer")
				}
			}
		}
	})
	b.Run("past", func(b *testing.B) { // one event, with its share of a batch
		n := sender{process: f.process.Load()}
		for b.Loop() {
			n.Started(job)
		}
	})
}

// BenchmarkEvent measures what an event costs varqd, without the program.
func BenchmarkEvent(b *testing.B) {
	f := New(Options[forecast.Observer]{Name: "site", Log: slog.New(slog.DiscardHandler)})
	f.backlog.reopen()
	for i := 0; b.Loop(); i++ {
		f.Started(job)
		if i%maxBatch == 0 {
			f.backlog.next()
			f.backlog.sent()
		}
	}
}

var job = &workload.Job{ID: 1, Request: good, Submit: 900, Eligible: 900, Start: 1000, State: workload.Running}
