// Package notice tells a program of the site's what becomes of promises. Such a program may, for
// example, send mail.
package notice

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/varq-project/varq/predictor/api"
)

// Messenger runs the program once for each notice, one after the other. A notice is told at most
// once: what waits when varqd stops is lost, and so is what comes while mostWaiting wait.
type Messenger struct {
	command []string
	timeout time.Duration
	log     *slog.Logger
	waiting chan api.Notice
}

// mostWaiting bounds the notices that wait for the program.
const mostWaiting = 1000

// New returns a Messenger that runs a command, which is split at spaces and run without a shell.
// The program has each notice in JSON on its standard input, and is killed after timeout, with what
// it has started.
func New(command string, timeout time.Duration, log *slog.Logger) *Messenger {
	return &Messenger{command: strings.Fields(command), timeout: timeout, log: log, waiting: make(chan api.Notice, mostWaiting)}
}

// Tell has the program told of n. It never waits.
func (m *Messenger) Tell(n api.Notice) {
	select {
	case m.waiting <- n:
	default:
		m.log.Warn("a notice is dropped, as many wait for the program", "event", n.Event, "plan", n.Plan, "command", m.command[0])
	}
}

// Run runs the program until ctx is done.
func (m *Messenger) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-m.waiting:
			if err := m.run(ctx, &n); err != nil && ctx.Err() == nil {
				m.log.Warn("a notice could not be told", "event", n.Event, "plan", n.Plan, "error", err)
			}
		}
	}
}

// mostSaid bounds what is kept of the program's messages, in bytes.
const mostSaid = 400

// run runs the program for one notice.
func (m *Messenger) run(ctx context.Context, n *api.Notice) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.command[0], m.command[1:]...)
	var said head
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(append(text, '\n')), &said, &said
	// varqd's own may hold secrets
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// for what the program has started and left its group, which may hold on to its files
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("it took longer than %v", m.timeout)
		}
		return fmt.Errorf("%s: %w: %q", m.command[0], err, said.text)
	}
	return nil
}

// head keeps the first bytes that are written to it.
type head struct{ text []byte }

func (h *head) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), mostSaid-len(h.text))]...)
	return len(p), nil
}
