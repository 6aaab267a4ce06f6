package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/varq-project/varq/test/cluster"
)

// varqd runs varqd as systemd would: one that ends by itself is started again.
type varqd struct {
	c               *campaign
	program, skewed string

	mu      sync.Mutex
	ahead   time.Duration // of its clock
	running *running      // nil if it should not run
}

// running is a process.
type running struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

func newVarqd(c *campaign, program, skewed string) *varqd {
	return &varqd{c: c, program: program, skewed: skewed}
}

func (v *varqd) logFile() string { return v.c.evidence("varqd.log") }

// start starts varqd, and does not wait until it answers.
func (v *varqd) start() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	r, err := v.launch()
	v.running = r
	return err
}

func (v *varqd) launch() (*running, error) {
	args := []string{v.program, "--config", v.c.Config()}
	if v.ahead != 0 {
		args = []string{v.skewed, "--config", v.c.Config(), "--ahead", v.ahead.String()}
	}
	cmd := v.c.Command(context.Background(), "varq", args[0], args[1:]...)
	log, err := os.OpenFile(v.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr.Setsid = true
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("varqd: %w", err)
	}
	r := &running{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // supervise looks at the state
		close(r.done)
	}()
	return r, nil
}

// signal sends varqd a signal.
func (v *varqd) signal(sig syscall.Signal) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.running != nil {
		_ = v.running.cmd.Process.Signal(sig) // it may have ended
	}
}

// end ends varqd by a signal, and waits until it has ended.
func (v *varqd) end(sig syscall.Signal) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	r := v.running
	v.running = nil
	if r == nil {
		return nil
	}
	_ = r.cmd.Process.Signal(sig) // it may have ended
	select {
	case <-r.done:
		return nil
	case <-time.After(cluster.Patience):
		return errors.New("varqd does not end")
	}
}

// supervise starts varqd again whenever it has ended by itself.
func (v *varqd) supervise(ctx context.Context) {
	for cluster.Sleep(ctx, 500*time.Millisecond) == nil {
		v.mu.Lock()
		if r := v.running; r != nil {
			select {
			case <-r.done:
				v.c.journal.ended(r.cmd.ProcessState.String())
				if again, err := v.launch(); err == nil {
					v.running = again
				}
			default:
			}
		}
		v.mu.Unlock()
	}
}

// refuses starts varqd, and reports whether it ends with an error.
func (v *varqd) refuses() (bool, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	r, err := v.launch()
	if err != nil {
		return false, err
	}
	select {
	case <-r.done:
		return !r.cmd.ProcessState.Success(), nil
	case <-time.After(v.c.Paced(20 * time.Second)):
		_ = r.cmd.Process.Kill()
		<-r.done
		return false, nil
	}
}

// setAhead sets varqd's clock from its next start on.
func (v *varqd) setAhead(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ahead = d
}

// waitWell waits until varqd is healthy.
func (c *campaign) waitWell(ctx context.Context) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	var last string
	for end := time.Now().Add(cluster.Patience); time.Now().Before(end); {
		h, err := client.Health(ctx)
		if err == nil && h.OK {
			return nil
		}
		last = fmt.Sprintf("%v %v", h.Problems, err)
		if cluster.Sleep(ctx, 500*time.Millisecond) != nil {
			return ctx.Err()
		}
	}
	return fmt.Errorf("varqd does not become well: %s", last)
}
