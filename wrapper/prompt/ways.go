package prompt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Ways prompt an application in all ways that Settings name: by a file, then by a signal, then by a
// command.
type Ways struct {
	Settings
	Application *Application
	// SignalSteps sends a signal to the steps of the job.
	SignalSteps func(syscall.Signal) error
	// Output receives what the command prints.
	Output io.Writer
}

const (
	// glance is the time between two looks whether the application has removed the file.
	glance = time.Second
	// A command may take patienceTimes times the cost of a checkpoint, but at least leastPatience.
	patienceTimes = 4
	leastPatience = time.Minute
)

// Prompt prompts the application. It does not send a signal that would end the application. It
// returns when the checkpoint is done: when the application has removed the file, or else when the
// command has ended, or else after the time that a checkpoint takes. There is no other prompt
// before that.
func (w *Ways) Prompt(ctx context.Context, why string) error {
	var errs []error
	filed := false
	if w.File != "" {
		err := makeFile(w.File, why)
		filed = err == nil
		errs = append(errs, err)
	}
	if w.Signal != 0 {
		if w.Alone {
			err := w.Application.takes(w.Signal)
			if err == nil {
				err = w.Application.signal(w.Signal)
			}
			errs = append(errs, err)
		} else {
			errs = append(errs, w.SignalSteps(w.Signal))
		}
	}
	if w.Command != "" {
		errs = append(errs, w.command(ctx))
	}
	switch {
	case filed:
		for exists(w.File) && sleep(ctx, glance) {
		}
	case w.Command == "":
		sleep(ctx, w.Cost)
	}
	return errors.Join(errs...)
}

// Ready returns an error, which says what to do, if a prompt now would only end the application.
// That is so if only a signal prompts the application, and it does not handle the signal yet.
func (w *Ways) Ready() error {
	if !w.Alone || w.File != "" || w.Command != "" {
		return nil
	}
	return w.Application.takes(w.Signal)
}

// signature begins every prompt in a file.
const signature = "varq: checkpoint: "

// makeFile creates the file that prompts the application. If the file is an old prompt, it serves
// as the prompt.
func makeFile(path, why string) error {
	for {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if errors.Is(err, fs.ErrExist) {
			if err = isPrompt(path); errors.Is(err, fs.ErrNotExist) {
				continue // the application has just removed it
			}
			return err
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(file, signature+why)
		return errors.Join(err, file.Close())
	}
}

// CheckFile returns an error if a file that prompts could not be created or removed in its folder.
func CheckFile(path string) error {
	dir := filepath.Dir(path)
	if err := unix.Access(dir+"/.", unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("files cannot be made in %s: %w", dir, err)
	}
	return nil
}

// longestPrompt bounds the length of a file that prompts, in bytes.
const longestPrompt = 1 << 10

// isPrompt returns nil if a file is a prompt: one line, and nothing else. Otherwise it returns an
// error that says why not: the user may have named the file by mistake.
func isPrompt(path string) error {
	return inFolder(path, func(dir *os.Root, name string) error { return isPromptIn(dir, name, path) })
}

// isPromptIn is isPrompt for a file name in a folder. path is for the error's message.
func isPromptIn(dir *os.Root, name, path string) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() {
		// the file may have been replaced by a pipe in between
		file, err := dir.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		defer file.Close()
		text, err := io.ReadAll(io.LimitReader(file, longestPrompt+1))
		line, rest, ended := strings.Cut(string(text), "\n")
		if err == nil && strings.HasPrefix(line, signature) && ended && rest == "" && len(text) <= longestPrompt {
			return nil
		}
	}
	return fmt.Errorf("%s is there already, and is not a prompt of varq's: it is left alone, and --checkpoint-file should name another", path)
}

// RemovePrompt removes an old prompt. It returns an error, and leaves the file alone, if the file
// is something else. The file that it checks and the file that it removes are in the same folder,
// even if folders are moved meanwhile.
func RemovePrompt(path string) error {
	err := inFolder(path, func(dir *os.Root, name string) error {
		if err := isPromptIn(dir, name, path); err != nil {
			return err
		}
		return dir.Remove(name)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// inFolder calls do with the folder of a file, and the file's name in it.
func inFolder(path string, do func(dir *os.Root, name string) error) error {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return do(dir, filepath.Base(path))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// command runs the command. When its time is over or the application has ended, the command and the
// processes that it has started are killed.
//
// Invariant: processes that a command leaves behind have none of this process's files open.
// Otherwise they would keep the job's step from ending.
func (w *Ways) command(ctx context.Context) error {
	patience := max(patienceTimes*w.Cost, leastPatience)
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	prints, written, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(limited, "/bin/sh", "-c", w.Command)
	cmd.Stdout, cmd.Stderr = written, written
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err = cmd.Start()
	_ = written.Close() // cannot fail
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		defer prints.Close()
		_, _ = io.Copy(w.Output, prints)
	}()
	if err == nil {
		err = cmd.Wait()
	}
	select {
	case <-copied:
	case <-time.After(time.Second): // it has left a process behind, which may still print
	}
	switch {
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s: killed after %v", w.Command, patience)
	case err != nil:
		return fmt.Errorf("%s: %w", w.Command, err)
	}
	return nil
}

// sleep returns true after a time, or false when the context is done.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// Application is the process that is prompted. It need not be a child of this process. It is known
// by a file descriptor, because its process number may be reused.
type Application struct{ fd int }

// Self returns a descriptor of this process, for an Application in another process. It needs Linux
// 5.3.
func Self() (*os.File, error) {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return nil, fmt.Errorf("pidfd_open: %w", err)
	}
	return os.NewFile(uintptr(fd), "pidfd"), nil
}

// Inherited returns the application whose descriptor this process has inherited as number fd.
func Inherited(fd int) *Application {
	unix.CloseOnExec(fd)
	return &Application{fd}
}

// Ended returns a context that is done when the application has ended.
func (a *Application) Ended() context.Context {
	ctx, end := context.WithCancel(context.Background())
	go func() {
		defer end()
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(a.fd), Events: unix.POLLIN}}, -1)
			if !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}()
	return ctx
}

func (a *Application) signal(s syscall.Signal) error {
	return unix.PidfdSendSignal(a.fd, s, nil, 0)
}

// takes returns an error, which says what to do, if a signal would end the application, as far as
// Linux shows. It would if the application neither catches nor ignores it, and has no thread that
// blocks it or waits for signals.
func (a *Application) takes(s syscall.Signal) error {
	switch s {
	case unix.SIGCHLD, unix.SIGCONT, unix.SIGURG, unix.SIGWINCH:
		return nil // these signals end nothing
	}
	info, _ := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", a.fd))
	threads, _ := filepath.Glob("/proc/" + field(info, "Pid:") + "/task/*")
	for _, thread := range threads {
		status, _ := os.ReadFile(thread + "/status")
		waits, _ := os.ReadFile(thread + "/wchan")
		if strings.Contains(string(waits), "sigtimedwait") {
			return nil
		}
		for _, name := range []string{"SigCgt:", "SigIgn:", "SigBlk:"} {
			signals, err := strconv.ParseUint(field(status, name), 16, 64)
			if err != nil || signals>>(s-1)&1 == 1 {
				return nil
			}
		}
	}
	if threads == nil {
		return nil
	}
	name := cmp.Or(unix.SignalName(s), fmt.Sprintf("signal %d", s))
	return fmt.Errorf("%s would end it, as it neither catches nor ignores that yet, and is not sent; it is once there is a handler, which is best installed early", name)
}

// field returns the first word after a name in the lines of a file in /proc, or "".
func field(text []byte, name string) string {
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
