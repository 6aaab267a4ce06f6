package notice

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
)

// log collects what is logged.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// program writes a shell script, and returns its path.
func program(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs a Messenger until so returns true.
func run(t *testing.T, m *Messenger, so func() bool) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { m.Run(ctx) })
	defer running.Wait()
	defer stop()
	for end := time.Now().Add(time.Minute); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never")
		}
	}
}

// The program has each notice, in the order in which they are told, with its arguments.
func TestTell(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	m := New(program(t, `cat >> "$1"`)+" "+out, time.Minute, slog.New(slog.DiscardHandler))
	want := []api.Notice{
		{Event: api.NoticeEndangered, User: "alice", Job: 7, Plan: "p", State: api.StateRunning, FinishBy: 1000, Prob: .9, Now: .4, Later: 1200, Text: `"quoted" $(and) so on`},
		{Event: api.NoticeSettled, User: "alice", Job: 7, Plan: "p", State: api.StateMissed, FinishBy: 1000, Prob: .9, Text: "late"},
	}
	for _, n := range want {
		m.Tell(n)
	}
	var got []api.Notice
	run(t, m, func() bool {
		text, _ := os.ReadFile(out)
		got = nil
		for line := range strings.Lines(string(text)) {
			var n api.Notice
			if json.Unmarshal([]byte(line), &n) != nil {
				return false
			}
			got = append(got, n)
		}
		return len(got) == len(want)
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A program that fails, hangs or is not there holds up neither those who tell nor the next notice.
func TestFailures(t *testing.T) {
	for name, c := range map[string]struct{ command, logged string }{
		"fails":       {program(t, "echo no mail today; exit 3"), "no mail today"},
		"hangs":       {program(t, "sleep 1000"), "it took longer than 300ms"},
		"not there":   {"/nonexistent/program", "no such file"},
		"never reads": {program(t, "exec 0<&-; echo closed; exit 1"), "closed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l log
			m := New(c.command, 300*time.Millisecond, slog.New(slog.NewTextHandler(&l, nil)))
			m.Tell(api.Notice{Event: api.NoticeSafe, Plan: "first"})
			m.Tell(api.Notice{Event: api.NoticeSafe, Plan: "second"})
			run(t, m, func() bool { return strings.Contains(l.String(), "plan=second") })
			if text := l.String(); !strings.Contains(text, c.logged) || !strings.Contains(text, "plan=first") {
				t.Error(text)
			}
		})
	}
}

// A program that hangs leaves nothing running.
func TestLeftovers(t *testing.T) {
	var l log
	pid := filepath.Join(t.TempDir(), "pid")
	m := New(program(t, "sleep 1000 & echo $! > "+pid+"; wait"), 300*time.Millisecond, slog.New(slog.NewTextHandler(&l, nil)))
	m.Tell(api.Notice{Event: api.NoticeSafe, Plan: "first"})
	run(t, m, func() bool { return strings.Contains(l.String(), "plan=first") })
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", number))
		if err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("what the program started is still there: %s", state)
		}
	}
}

// The program sees nothing of varqd's environment.
func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET", "token")
	out := filepath.Join(t.TempDir(), "out")
	m := New(program(t, `env > "$1"; echo done >> "$1"`)+" "+out, time.Minute, slog.New(slog.DiscardHandler))
	m.Tell(api.Notice{Event: api.NoticeSafe})
	var text []byte
	run(t, m, func() bool {
		text, _ = os.ReadFile(out)
		return bytes.HasSuffix(text, []byte("done\n"))
	})
	if bytes.Contains(text, []byte("SECRET")) || !bytes.Contains(text, []byte("PATH=")) {
		t.Errorf("%s", text)
	}
}

// What nobody takes is bounded.
func TestMany(t *testing.T) {
	var l log
	m := New("/bin/true", time.Minute, slog.New(slog.NewTextHandler(&l, nil)))
	for range mostWaiting + 1 {
		m.Tell(api.Notice{Event: api.NoticeSafe})
	}
	if !strings.Contains(l.String(), "dropped") {
		t.Error(l.String())
	}
}
