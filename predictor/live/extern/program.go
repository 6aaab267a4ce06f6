package extern

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin/runner"
)

// program runs a command in a process group of its own, so that Kill also kills what the
// command has started. It implements runner.Runner of go-plugin. Go-plugin calls Wait once,
// after the pipes have ended.
type program struct {
	command []string

	// Set by prepare.
	cmd            *exec.Cmd
	dir            string // of its socket, open to nobody else
	stdout, stderr io.ReadCloser

	exited chan struct{} // closed when the program has ended and state is set
	state  error

	mu     sync.Mutex
	pid    int // 0 before it is started
	killed bool
}

func newProgram(command string) *program {
	return &program{command: strings.Fields(command), exited: make(chan struct{})}
}

// prepare is plugin.ClientConfig.RunnerFunc. The environment is that of go-plugin and little
// else. It leaves out varqd's own, which may hold secrets.
func (p *program) prepare(_ hclog.Logger, like *exec.Cmd, dir string) (runner.Runner, error) {
	p.dir = dir
	p.cmd = exec.Command(p.command[0], p.command[1:]...)
	p.cmd.Dir = dir
	p.cmd.Env = append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=" + dir, "TMPDIR=" + dir}, like.Env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.stdout = &firstLine{ReadCloser: stdout, left: maxFirstLine}
	p.stderr, err = p.cmd.StderrPipe()
	return p, err
}

// Start implements runner.Runner.
func (p *program) Start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed {
		return context.Canceled
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.pid = p.cmd.Process.Pid
	return nil
}

// Wait implements runner.AttachedRunner.
func (p *program) Wait(context.Context) error {
	p.state = p.cmd.Wait()
	close(p.exited)
	return p.state
}

// Kill implements runner.AttachedRunner. It may be called at any time. A program that has not
// started yet never starts. If the program has ended, Kill still kills what it left running.
func (p *program) Kill(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	if p.pid == 0 {
		return nil
	}
	if err := syscall.Kill(-p.pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// endedItself reports whether the program has ended, or ends within a time, other than by
// Kill.
func (p *program) endedItself(within time.Duration) bool {
	select {
	case <-p.exited:
	case <-time.After(within):
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var exit *exec.ExitError
	if !p.killed || !errors.As(p.state, &exit) {
		return true
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return !ok || status.Signal() != syscall.SIGKILL
}

// ID implements runner.AttachedRunner.
func (p *program) ID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strconv.Itoa(p.pid)
}

// Name implements runner.Runner.
func (p *program) Name() string { return p.command[0] }

// Stdout implements runner.Runner.
func (p *program) Stdout() io.ReadCloser { return p.stdout }

// Stderr implements runner.Runner.
func (p *program) Stderr() io.ReadCloser { return p.stderr }

// Diagnose implements runner.Runner.
func (p *program) Diagnose(context.Context) string { return "" }

// PluginToHost implements runner.AddrTranslator. It refuses an address outside the program's
// own folder, which others on this host might reach or have taken.
func (p *program) PluginToHost(network, address string) (string, string, error) {
	if network != "unix" || filepath.Dir(address) != p.dir {
		return "", "", fmt.Errorf("it listens on %s %s, not on a unix socket in PLUGIN_UNIX_SOCKET_DIR", network, address)
	}
	return network, address, nil
}

// HostToPlugin implements runner.AddrTranslator.
func (*program) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

// maxFirstLine bounds the first line of a program's output, in bytes. Go-plugin reads the
// program's address from it.
const maxFirstLine = 1024

// firstLine reads the first line, cut after left bytes. It drops the rest, so that a program
// that prints on and on never blocks.
type firstLine struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (f *firstLine) Read(buf []byte) (int, error) {
	for f.left == 0 {
		if _, err := f.ReadCloser.Read(buf); err != nil {
			return 0, err
		}
	}
	n, err := f.ReadCloser.Read(buf[:min(len(buf), f.left)])
	f.left -= n
	for i, c := range buf[:n] {
		if c == '\n' {
			n, f.left = i+1, 0
			break
		}
	}
	if n > 0 && f.left == 0 && buf[n-1] != '\n' {
		buf[n-1] = '\n'
	}
	return n, err
}
