package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/slurm"
)

// What a program printed is asked for again only after a while, also by another process, and so is
// a program that failed.
func TestSparing(t *testing.T) {
	now, runs, fails := time.Unix(1_800_000_000, 0), 0, error(nil)
	process := func(folder string) *Sparing {
		return &Sparing{Folder: folder, Every: time.Minute, Now: func() time.Time { return now }, Run: func(_ context.Context, path string, _ []string, args ...string) ([]byte, error) {
			runs++
			return []byte(path + " " + strings.Join(args, " ")), fails
		}}
	}
	folder := t.TempDir()
	ask := func(args ...string) (string, error) {
		out, err := process(folder).Output(t.Context(), "/usr/bin/squeue", nil, args...)
		return string(out), err
	}
	for _, c := range []struct {
		after time.Duration
		args  string
		fails error
		runs  int
		want  string
	}{
		{0, "-a", nil, 1, "/usr/bin/squeue -a"},
		{59 * time.Second, "-a", nil, 1, "/usr/bin/squeue -a"},
		{0, "-b", nil, 2, "/usr/bin/squeue -b"}, // another question
		{2 * time.Second, "-a", nil, 3, "/usr/bin/squeue -a"},
		{time.Minute, "-a", errors.New("no answer"), 4, ""},
		{59 * time.Second, "-a", nil, 4, ""},
		{2 * time.Second, "-a", nil, 5, "/usr/bin/squeue -a"},
		{-time.Hour, "-a", nil, 6, "/usr/bin/squeue -a"}, // the clock was wrong
	} {
		now, fails = now.Add(c.after), c.fails
		got, err := ask(c.args)
		if got != c.want || (err == nil) != (c.want != "") || runs != c.runs {
			t.Errorf("%s after %v: %q, %v, in %d runs; want %q in %d", c.args, c.after, got, err, runs, c.want, c.runs)
		}
		if err != nil && !strings.Contains(err.Error(), "no answer; to spare Slurm, it is asked again after "+time.Unix(1_800_000_181, 0).Format(time.TimeOnly)) {
			t.Error(err)
		}
	}
	if _, err := process("/nonexistent").Output(t.Context(), "squeue", nil); err == nil {
		t.Error("without a folder")
	}
	now, fails = now.Add(time.Hour), fmt.Errorf("%w: it is down", slurm.ErrUnavailable)
	for range 2 {
		if _, err := ask("-a"); !errors.Is(err, slurm.ErrUnavailable) || !strings.HasPrefix(err.Error(), "no answer from Slurm: it is down; ") {
			t.Error(err)
		}
	}
}

// A failure is remembered for a minute, though what a program prints serves for longer.
func TestFailure(t *testing.T) {
	now, runs := time.Unix(1_800_000_000, 0), 0
	s := Sparing{Folder: t.TempDir(), Every: 5 * time.Minute, Now: func() time.Time { return now }, Run: func(context.Context, string, []string, ...string) ([]byte, error) {
		runs++
		return nil, errors.New("no answer")
	}}
	for i, after := range []time.Duration{0, 59 * time.Second, time.Second} {
		now = now.Add(after)
		if _, err := s.Output(t.Context(), "scontrol", nil); err == nil || runs != 1+i/2 {
			t.Errorf("%v in %d runs", err, runs)
		}
	}
}

// A program that hangs counts as one that fails.
func TestPatience(t *testing.T) {
	s := Sparing{Folder: t.TempDir(), Every: time.Minute, Patience: 50 * time.Millisecond, Now: time.Now}
	for range 2 {
		if _, err := s.Output(t.Context(), "sleep", nil, "10"); !errors.Is(err, slurm.ErrUnavailable) || !strings.HasPrefix(err.Error(), "no answer from Slurm: sleep 10: no answer within 50ms; to spare Slurm") {
			t.Error(err)
		}
	}
}

// What a full disk does not keep is asked again, and nothing tells of what was kept before.
func TestFullDisk(t *testing.T) {
	now, runs := time.Unix(1_800_000_000, 0), 0
	s := Sparing{Folder: t.TempDir(), Every: time.Minute, Now: func() time.Time { return now }, Run: func(context.Context, string, []string, ...string) ([]byte, error) {
		runs++
		return []byte("queue"), nil
	}}
	for i, full := range []bool{false, true, true, false} {
		if now = now.Add(time.Minute); full { // nothing can be written where a folder is
			_ = os.Mkdir(s.kept("squeue", nil)+".new", 0o700)
		} else {
			_ = os.Remove(s.kept("squeue", nil) + ".new")
		}
		out, err := s.Output(t.Context(), "squeue", nil)
		if string(out) != "queue" || err != nil || runs != i+1 {
			t.Errorf("%q, %v in %d runs", out, err, runs)
		}
		if told := s.Told("squeue"); told.IsZero() != full || !full && !told.Equal(now) {
			t.Errorf("full %v: told at %v", full, told)
		}
	}
}

// What is not as it was kept is asked again.
func TestRuined(t *testing.T) {
	now, runs := time.Unix(1_800_000_000, 0), 0
	s := Sparing{Folder: t.TempDir(), Every: time.Minute, Now: func() time.Time { return now }, Run: func(context.Context, string, []string, ...string) ([]byte, error) {
		runs++
		return []byte("one line\nand another\n"), nil
	}}
	for i, ruin := range []func(text []byte) []byte{
		func(text []byte) []byte { return text[:len(text)-12] },
		func(text []byte) []byte { return text[:3] },
		func([]byte) []byte { return nil },
		func(text []byte) []byte { text[len(text)-1] ^= 1; return text },
		func([]byte) []byte { return []byte(strings.Repeat("random ", 20)) },
	} {
		if _, err := s.Output(t.Context(), "squeue", nil); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(s.kept("squeue", nil))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.WriteFile(s.kept("squeue", nil), ruin(text), 0o600), os.Chtimes(s.kept("squeue", nil), now, now)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if out, err := s.Output(t.Context(), "squeue", nil); string(out) != "one line\nand another\n" || err != nil || runs != i+2 {
				t.Errorf("%d: %q, %v in %d runs", i, out, err, runs)
			}
		}
	}
}

// Questions that differ each time are refused until the time has passed.
func TestOnce(t *testing.T) {
	now, runs := time.Unix(1_800_000_000, 0), 0
	s := Sparing{Folder: t.TempDir(), Every: time.Minute, Now: func() time.Time { return now }, Run: func(context.Context, string, []string, ...string) ([]byte, error) {
		runs++
		return nil, nil
	}}
	for _, c := range []struct {
		after time.Duration
		runs  int
		want  error
	}{{0, 1, nil}, {0, 1, ErrSpared}, {59 * time.Second, 1, ErrSpared}, {time.Second, 2, nil}, {time.Second, 2, ErrSpared}} {
		now = now.Add(c.after)
		if _, err := s.Once(t.Context(), "sacct", nil, now.String()); !errors.Is(err, c.want) || runs != c.runs {
			t.Errorf("after %v: %v in %d runs", c.after, err, runs)
		}
	}
	if _, err := (&Sparing{Folder: "/nonexistent"}).Once(t.Context(), "sacct", nil); err == nil {
		t.Error("without a folder")
	}
}
