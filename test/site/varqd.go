package site

import (
	"cmp"
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

// Socket returns the path of varqd's Unix socket.
func (s *Site) Socket() string { return s.Path("varq", "varqd.sock") }

// Address returns the HOST:PORT on which varqd listens for other hosts. On a site it is a
// loopback address.
func (s *Site) Address() string { return s.address }

// Config returns the path of the configuration file of varqd and its clients.
func (s *Site) Config() string { return s.config }

// configure creates varqd's folder, chooses its address, and writes varq.yaml. Unless o.Operator
// is true, it also writes a token of SlurmUser for varqd.
func (s *Site) configure(ctx context.Context, o Options) error {
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
	identity := ""
	if !o.Operator {
		identity = "  user: slurm\n  token_file: " + s.token() + "\n"
		if err := s.writeToken(ctx); err != nil {
			return err
		}
	}
	if o.RestTimeout != 0 {
		identity += fmt.Sprintf("  timeout: %s\n", o.RestTimeout)
	}
	watch := ""
	if !o.DefaultWatch {
		watch = fmt.Sprintf("watch:\n  interval: %s\n  idle: %s\n  refresh: 3s\n  load: 1\n", cmp.Or(o.Looks, time.Second), cmp.Or(o.Looks, 2*time.Second))
	}
	text := fmt.Sprintf(`slurmrestd:
  url: %s
%sserver:
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
%slog:
  level: debug
`, s.RestURL(), identity, s.Socket(), s.address, s.MungeSocket(), s.Socket(), s.MungeSocket(),
		filepath.Join(dir, "ledger.db"), s.History(), watch)
	return os.WriteFile(s.Config(), []byte(text+o.VarqConf), 0o644)
}

// token returns the path of the file with SlurmUser's token, which only varqd can read.
func (s *Site) token() string { return s.Path("varq", "slurm.token") }

// tokenLife is longer than any site runs.
const tokenLife = 365 * 24 * time.Hour

// writeToken writes SlurmUser's token.
func (s *Site) writeToken(ctx context.Context) error {
	token, err := s.Token(ctx, "slurm", tokenLife)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.token(), []byte(token+"\n"), 0o600); err != nil {
		return err
	}
	if out, err := exec.Command("chown", "varq:", s.token()).CombinedOutput(); err != nil {
		return fmt.Errorf("chown: %w: %s", err, out)
	}
	return nil
}

// freeAddress returns an unused TCP address of the loopback interface.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// StartVarqd starts varqd as the user varq and waits until its health check succeeds, that is,
// until varqd has read the cluster's history.
func (s *Site) StartVarqd(ctx context.Context) error {
	args := []string{filepath.Join(s.programs.sbin, "varqd")}
	if s.ahead != 0 {
		skewed, err := s.Skewed(ctx)
		if err != nil {
			return err
		}
		args = []string{skewed, "--ahead", s.ahead.String()}
	}
	s.Say("starting varqd")
	var err error
	if s.varqd, err = s.launch(args...); err != nil {
		return err
	}
	return s.awaitVarqd(ctx)
}

// launch starts a varqd, in whose log its own lines follow those of former ones.
func (s *Site) launch(args ...string) (*daemon, error) {
	args = append(args, "--config", s.Config())
	cmd := s.Command(context.Background(), "varq", args[0], args[1:]...)
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	s.Adopt(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("varqd: %w", err)
	}
	d := &daemon{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // ignored: varqd's log contains the reason
		close(d.done)
	}()
	return d, nil
}

// reportEvery is the least time between two lines about what varqd does before it is ready.
const reportEvery = 2 * time.Second

// awaitVarqd waits until varqd's health check succeeds, and says meanwhile what varqd says of
// itself.
func (s *Site) awaitVarqd(ctx context.Context) error {
	client, err := s.Client()
	if err != nil {
		return err
	}
	said, doing := time.Now(), ""
	ready := eventually(ctx, func() bool {
		h, err := client.Health(ctx)
		if err == nil && len(h.Problems) > 0 && h.Problems[0] != doing && time.Since(said) >= reportEvery {
			said, doing = time.Now(), h.Problems[0]
			s.Say("%s", doing)
		}
		return err == nil && h.OK || s.varqd.ended()
	})
	if !ready || s.varqd.ended() {
		return fmt.Errorf("varqd does not become ready:\n%s", s.VarqdLog())
	}
	return nil
}

// SetAhead sets by how much varqd's clock is ahead, from its next start on.
func (s *Site) SetAhead(d time.Duration) { s.ahead = d }

// Skewed builds a varqd whose clock is ahead by its option --ahead, unless that is done, and
// returns its path.
func (s *Site) Skewed(ctx context.Context) (string, error) {
	name := filepath.Join(s.programs.sbin, "skewed")
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	return name, run(ctx, "go", "-C", sourceTree(), "build", "-o", name, "./test/site/skewed")
}

func (d *daemon) ended() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// StopVarqd ends varqd with SIGTERM, as systemd does. It returns an error if varqd then exits
// with a non-zero code.
func (s *Site) StopVarqd() error { return s.endVarqd(syscall.SIGTERM) }

// KillVarqd ends varqd with SIGKILL, which simulates a crash.
func (s *Site) KillVarqd() error { return s.endVarqd(syscall.SIGKILL) }

func (s *Site) endVarqd(sig syscall.Signal) error {
	d := s.varqd
	if d == nil || d.ended() {
		return errors.New("varqd is not running")
	}
	if err := s.end(d, sig); err != nil {
		return err
	}
	s.varqd = nil
	return nil
}

// end ends a varqd by a signal.
func (s *Site) end(d *daemon, sig syscall.Signal) error {
	if err := d.cmd.Process.Signal(sig); err != nil {
		return err
	}
	select {
	case <-d.done:
	case <-time.After(cluster.Patience):
		return errors.New("varqd does not end")
	}
	if state := d.cmd.ProcessState; sig == syscall.SIGTERM && !state.Success() {
		return fmt.Errorf("varqd ended badly: %v:\n%s", state, s.VarqdLog())
	}
	return nil
}

// VarqdLog returns the last 16 KiB of varqd's log.
func (s *Site) VarqdLog() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-16<<10):])
}

// VarqdPID returns the process id of varqd, which must have been started.
func (s *Site) VarqdPID() int { return s.varqd.cmd.Process.Pid }

// History returns the path of varqd's cache of accounting data. While varqd runs, no other
// process may use the file.
func (s *Site) History() string { return s.Path("varq", "history.db") }
