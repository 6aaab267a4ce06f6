package prompt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// start starts a shell that runs a script, and returns it as an Application and as a command.
func start(t *testing.T, script string) (*Application, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	fd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return Inherited(fd), cmd
}

// appears waits until a file exists.
func appears(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !exists(path); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Error("never: " + path)
			return
		}
	}
}

func TestEnded(t *testing.T) {
	a, cmd := start(t, "exec sleep 1d")
	ended := a.Ended()
	if ended.Err() != nil {
		t.Fatal("it has not ended")
	}
	if err := a.signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ended.Done()
	_ = cmd.Wait()
	if err := a.signal(syscall.SIGTERM); !errors.Is(err, unix.ESRCH) {
		t.Errorf("a signal to what has ended: %v", err)
	}
}

// TestTakes: a signal that the application catches, ignores or waits for is sent. A signal that
// would end the application is not sent.
func TestTakes(t *testing.T) {
	for script, takes := range map[string]bool{
		"exec sleep 1d":                         false,
		"trap '' USR2; exec sleep 1d":           false,
		"trap : USR1; sleep 1d":                 true,
		"trap '' USR1; exec sleep 1d":           true,
		"exec env --block-signal=USR1 sleep 1d": true,
	} {
		a, cmd := start(t, script)
		w := Ways{Settings: Settings{Signal: syscall.SIGUSR1, Alone: true}, Application: a}
		for end := time.Now().Add(time.Minute); takes != (w.Ready() == nil) && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
		if err := w.Ready(); takes != (err == nil) {
			t.Errorf("%s: %v", script, err)
		}
		w.Command, w.Output = "true", io.Discard
		if err := w.Prompt(t.Context(), ""); takes != (err == nil) || w.Ready() != nil {
			t.Errorf("%s, prompted by a command too: %v", script, err)
		}
		if err := cmd.Process.Signal(syscall.Signal(0)); err != nil || a.Ended().Err() != nil {
			t.Errorf("%s: it has ended", script)
		}
		if err := a.takes(syscall.SIGWINCH); err != nil {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// TestCommandEndsWithTheApplication: the command and the processes that it has started end with the
// application.
func TestCommandEndsWithTheApplication(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	w := Ways{Settings: Settings{Command: "sleep 1d & echo $! >" + pid + ".new; mv " + pid + ".new " + pid + "; wait"}, Output: io.Discard}
	go func() {
		appears(t, pid)
		cancel()
	}()
	if err := w.Prompt(ctx, ""); err == nil {
		t.Error("it was not killed")
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(n) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it still runs")
		}
	}
}

// TestLeftBehind: a process that a command leaves behind has no file of the job's step, and its
// output is shown.
func TestLeftBehind(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	w := Ways{Settings: Settings{Command: "echo begun >&2; setsid sleep 1d & echo $! >" + pid}, Output: output}
	if err := w.Prompt(t.Context(), ""); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(n, syscall.SIGKILL)
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", n))
	if err != nil || files == nil {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if name, err := os.Readlink(file); err != nil || name == output.Name() {
			t.Errorf("%s is %s, %v", file, name, err)
		}
	}
	if text, err := os.ReadFile(output.Name()); err != nil || string(text) != "begun\n" {
		t.Errorf("it prints %q, %v", text, err)
	}
}

// TestFile: the checkpoint is done when the file is removed. If the file exists before, it is a
// prompt too.
func TestFile(t *testing.T) {
	due := filepath.Join(t.TempDir(), "due")
	w := Ways{Settings: Settings{File: due, Cost: time.Hour}}
	for range 2 {
		done := make(chan error, 1)
		go func() { done <- w.Prompt(t.Context(), "why") }()
		appears(t, due)
		if len(done) > 0 {
			t.Fatal("it is done before the file is removed")
		}
		for ended := false; !ended; {
			_ = os.Remove(due) // again, in case the first was removed too early
			select {
			case err := <-done:
				if ended = true; err != nil {
					t.Error(err)
				}
			case <-time.After(10 * time.Millisecond):
			}
		}
		if err := os.WriteFile(due, []byte(signature+"before\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.File = filepath.Join(due, "x")
	w.Cost = 0
	if err := w.Prompt(t.Context(), "why"); err == nil {
		t.Error("a file that cannot be made")
	}
}

// TestForeignFile: a file that is not a prompt, such as the checkpoint itself, is not removed and
// does not count as a prompt.
func TestForeignFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.ckpt")
	for _, text := range []string{"", "step 7", "varq: checkpoint", signature + "now", signature + "now\nstep 7\n", signature + strings.Repeat("now", longestPrompt) + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := RemovePrompt(path); err == nil {
			t.Errorf("%.40q is removed", text)
		}
		if err := makeFile(path, "now"); err == nil {
			t.Errorf("%.40q is a prompt", text)
		}
		if got, err := os.ReadFile(path); string(got) != text {
			t.Errorf("%.40q is now %.40q, %v", text, got, err)
		}
		_ = os.Remove(path)
	}
	if err := RemovePrompt(path); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := makeFile(path, "now"); err != nil {
			t.Fatal(err)
		}
	}
	if err := RemovePrompt(path); err != nil || exists(path) {
		t.Errorf("a prompt is not removed: %v", err)
	}
}

func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	if err := CheckFile(filepath.Join(dir, "due")); err != nil {
		t.Error(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "none", "due"), filepath.Join(file, "due")} {
		if err := CheckFile(path); err == nil || !strings.Contains(err.Error(), filepath.Dir(path)) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
