package site

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/varq-project/varq/test/cluster"
)

// daemon is a running varqd.
type daemon struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// Socket returns the name of varqd's socket.
func (s *Site) Socket() string { return s.Path("varq", "varqd.sock") }

// Address returns varqd's HOST:PORT for other hosts.
func (s *Site) Address() string { return s.address }

// Config returns the name of the configuration file that varqd and its clients
// read.
func (s *Site) Config() string { return s.installed("/etc/varq/varq.yaml") }

// configure writes varq.yaml and makes varqd's folder.
func (s *Site) configure() error {
	dir := s.Path("varq")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if out, err := exec.Command("chown", "varq:", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("chown: %w: %s", err, out)
	}
	var err error
	if s.address, err = freeAddress(); err != nil {
		return err
	}
	text := fmt.Sprintf(`slurmrestd:
  url: %s
server:
  socket: %s
  listen: %s
  munge_socket: %s
client:
  endpoint: unix://%s
  munge_socket: %s
ledger:
  path: %s
history:
  path: %s
watch:
  interval: 1s
  idle: 2s
  refresh: 3s
log:
  level: debug
`, s.RestURL(), s.Socket(), s.address, s.MungeSocket(), s.Socket(), s.MungeSocket(),
		filepath.Join(dir, "ledger.db"), s.History())
	return os.WriteFile(s.Config(), []byte(text), 0o644)
}

// freeAddress returns an address on this host that nobody listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// StartVarqd starts varqd as its own user and waits until it has learnt the
// cluster's past.
func (s *Site) StartVarqd(ctx context.Context) error {
	cmd := s.Command(context.Background(), "varq", s.installed("/usr/sbin/varqd"), "--config", s.Config())
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr.Setsid = true
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("varqd: %w", err)
	}
	d := &daemon{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(d.done)
	}()
	s.varqd = d
	client, err := s.Client()
	if err != nil {
		return err
	}
	ready := eventually(ctx, func() bool {
		h, err := client.Health(ctx)
		return err == nil && h.OK || d.ended()
	})
	if !ready || d.ended() {
		return fmt.Errorf("varqd does not become ready:\n%s", s.VarqdLog())
	}
	return nil
}

func (d *daemon) ended() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// StopVarqd ends varqd as systemd would.
func (s *Site) StopVarqd() error { return s.endVarqd(syscall.SIGTERM) }

// KillVarqd ends varqd as a crash would.
func (s *Site) KillVarqd() error { return s.endVarqd(syscall.SIGKILL) }

func (s *Site) endVarqd(sig syscall.Signal) error {
	d := s.varqd
	if d == nil || d.ended() {
		return errors.New("varqd is not running")
	}
	if err := d.cmd.Process.Signal(sig); err != nil {
		return err
	}
	select {
	case <-d.done:
	case <-time.After(cluster.Patience):
		return errors.New("varqd does not end")
	}
	s.varqd = nil
	if state := d.cmd.ProcessState; sig == syscall.SIGTERM && !state.Success() {
		return fmt.Errorf("varqd ended badly: %v:\n%s", state, s.VarqdLog())
	}
	return nil
}

func (s *Site) logFile() string { return s.installed("/varqd.log") }

// VarqdLog returns the end of varqd's log.
func (s *Site) VarqdLog() string {
	text, err := os.ReadFile(s.logFile())
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-16<<10):])
}

// VarqdPID returns the process that varqd runs as.
func (s *Site) VarqdPID() int { return s.varqd.cmd.Process.Pid }

// History returns the name of varqd's cache of accounting. It belongs to varqd
// while that runs.
func (s *Site) History() string { return s.Path("varq", "history.db") }
