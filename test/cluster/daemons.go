package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// Daemon is the name of one of a cluster's daemons.
type Daemon string

// These are the daemons of which a cluster has exactly one. Slurmd returns a node's daemon.
const (
	Munged     Daemon = "munged"
	MariaDB    Daemon = "mariadbd"
	Slurmdbd   Daemon = "slurmdbd"
	Slurmctld  Daemon = "slurmctld"
	Slurmrestd Daemon = "slurmrestd"
)

// Slurmd returns the slurmd of a node.
func Slurmd(node string) Daemon { return Daemon("slurmd-" + node) }

// program describes how to run a daemon and how to check that it is ready.
type program struct {
	user  string
	args  []string
	env   []string
	ready func(context.Context) bool
}

func (c *Cluster) program(d Daemon) (program, error) {
	switch d {
	case Munged:
		return program{
			user: "munge",
			args: []string{
				"munged", "--foreground", "--force", "--num-threads=4",
				"--key-file=" + c.Path("etc/munge.key"), "--socket=" + c.MungeSocket(),
				"--pid-file=" + c.Path("run/munge/munged.pid"), "--seed-file=" + c.Path("run/munge/seed"),
			},
			ready: answers("unix", c.MungeSocket()),
		}, nil
	case MariaDB:
		return program{user: "mysql", args: c.mariadbArgs(), ready: answers("unix", c.databaseSocket())}, nil
	case Slurmdbd:
		return program{
			user: "slurm", args: []string{"slurmdbd", "-D"},
			env:   []string{"MYSQL_UNIX_PORT=" + c.databaseSocket()},
			ready: answersPort(c.Ports.Slurmdbd),
		}, nil
	case Slurmctld:
		return program{
			user: "slurm", args: c.slurmctldArgs(),
			ready: func(ctx context.Context) bool {
				out, err := c.output(ctx, "scontrol", "ping")
				return err == nil && strings.Contains(out, "UP")
			},
		}, nil
	case Slurmrestd:
		return program{
			user: restUser, args: []string{"slurmrestd", "-a", "rest_auth/jwt", fmt.Sprintf("127.0.0.1:%d", c.Ports.Slurmrestd)},
			// without the latter each thread keeps what one reading takes
			env:   []string{"SLURM_JWT=daemon", "MALLOC_ARENA_MAX=1"},
			ready: answersPort(c.Ports.Slurmrestd),
		}, nil
	}
	for i, node := range c.NodeNames() {
		if d == Slurmd(node) {
			args := []string{"slurmd", "-D", "-N", node}
			if c.stopCloud != nil {
				// as if the node had just booted, for which Slurm waits where it powered it up
				args = append(args, "-b")
			}
			return program{
				user: "root", args: args,
				ready: answersPort(c.Ports.Slurmd + i),
			}, nil
		}
	}
	return program{}, fmt.Errorf("no daemon %q in this cluster", d)
}

// slurmctldArgs lets Slurm 26.05 start without a saved state where it was killed before it saved
// any: "fatal: No Assoc usage file to recover". Earlier versions do so by themselves.
func (s state) slurmctldArgs() []string {
	args := []string{"slurmctld", "-D"}
	if s.Version == Slurm2605 {
		args = append(args, "-i")
	}
	return args
}

func answers(network, address string) func(context.Context) bool {
	return func(ctx context.Context) bool {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	}
}

func answersPort(port int) func(context.Context) bool {
	return answers("tcp", "127.0.0.1:"+strconv.Itoa(port))
}

// startAll starts every daemon and returns when all nodes are idle. Daemons that do not depend
// on each other start in parallel. startAll also creates the database and the accounts.
func (c *Cluster) startAll(ctx context.Context) error {
	began := time.Now()
	c.Say("starting munge and MariaDB")
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return c.StartDaemon(gctx, Munged) })
	if c.ownsDatabase() {
		g.Go(func() error { return c.startDatabase(gctx) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	c.Say("starting slurmdbd, and making accounts")
	if c.ownsDatabase() {
		if err := c.StartDaemon(ctx, Slurmdbd); err != nil {
			return err
		}
	}
	if err := c.loadAccounts(ctx); err != nil {
		return err
	}
	g, gctx = errgroup.WithContext(ctx)
	daemons := []Daemon{Slurmctld, Slurmrestd}
	cloud := c.stopCloud != nil // so that the nodes are powered down
	if !cloud {
		daemons = append(daemons, c.slurmds()...)
	}
	c.Say("starting slurmctld, slurmrestd and %d slurmd", len(daemons)-2)
	for _, d := range daemons {
		g.Go(func() error { return c.StartDaemon(gctx, d) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if !cloud {
		c.Say("waiting until all %d nodes are idle", c.Nodes+c.Declared)
		if err := c.WaitIdle(ctx); err != nil {
			return err
		}
	}
	c.took = time.Since(began)
	return nil
}

func (s state) slurmds() []Daemon {
	var ds []Daemon
	for _, node := range s.NodeNames() {
		ds = append(ds, Slurmd(node))
	}
	return ds
}

const pollInterval = 20 * time.Millisecond

// StartDaemon starts a daemon and waits until it answers. It returns an error if the daemon
// runs already, ends, or does not answer within Patience.
func (c *Cluster) StartDaemon(ctx context.Context, d Daemon) error {
	p, err := c.program(d)
	if err != nil {
		return err
	}
	if running, ok := c.running(d); ok {
		return fmt.Errorf("%s runs already, as process %d", d, running.PID)
	}
	proc, err := c.launch(d, p)
	if err != nil {
		return fmt.Errorf("starting %s: %w", d, err)
	}
	if err := c.writePID(d, proc); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	for !p.ready(ctx) {
		if !proc.alive() {
			return fmt.Errorf("%s ended at once:\n%s", d, c.LogTail(d))
		}
		if err := Sleep(ctx, pollInterval); err != nil {
			return fmt.Errorf("%s does not answer: %w:\n%s", d, err, c.LogTail(d))
		}
	}
	return nil
}

// Adopt makes a command of Command one of the cluster's daemons, which Stop kills. It runs in a
// session of its own, so that it does not receive the terminal's signals. Unless the cluster is
// detached, it is killed when its starter dies.
func (c *Cluster) Adopt(cmd *exec.Cmd) {
	cmd.Env = append(cmd.Env, mark+c.Dir)
	cmd.SysProcAttr.Setsid = true
	if !c.Detached {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
}

// launch runs one of Slurm's own daemons, or what these need.
func (c *Cluster) launch(d Daemon, p program) (process, error) {
	u, err := c.root.lookup(p.user)
	if err != nil {
		return process{}, err
	}
	out, err := os.OpenFile(c.outFile(d), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return process{}, err
	}
	defer out.Close()
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Path, cmd.Err = c.root.lookPath(searchPath, p.args[0])
	cmd.Dir = "/"
	cmd.Env = append(append(c.Env(), "PATH="+searchPath, "LANG=C.UTF-8"), p.env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = c.root.attributes(p.user, u)
	c.Adopt(cmd)
	if err := cmd.Start(); err != nil {
		return process{}, err
	}
	proc, err := processOf(cmd.Process.Pid)
	go func() { _ = cmd.Wait() }() // only reaps the daemon: alive reads its state from /proc
	return proc, err
}

// StopDaemon sends SIGTERM to a daemon and waits until it has ended.
func (c *Cluster) StopDaemon(d Daemon) error { return c.end(d, syscall.SIGTERM) }

// KillDaemon ends a daemon with SIGKILL, which simulates a crash. A killed slurmctld loses the
// jobs of its last seconds, because it has not saved them yet.
func (c *Cluster) KillDaemon(d Daemon) error { return c.end(d, syscall.SIGKILL) }

// SignalDaemon sends a signal to a daemon, such as SIGSTOP.
func (c *Cluster) SignalDaemon(d Daemon, sig syscall.Signal) error {
	p, ok := c.running(d)
	if !ok {
		return fmt.Errorf("%s is not running", d)
	}
	return syscall.Kill(p.PID, sig)
}

// PID returns the process id of a daemon that runs.
func (c *Cluster) PID(d Daemon) (int, error) {
	p, ok := c.running(d)
	if !ok {
		return 0, fmt.Errorf("%s is not running", d)
	}
	return p.PID, nil
}

func (c *Cluster) end(d Daemon, sig syscall.Signal) error {
	p, ok := c.running(d)
	if !ok {
		return fmt.Errorf("%s is not running", d)
	}
	for began := time.Now(); ; {
		if err := syscall.Kill(p.PID, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("%s: %w", d, err)
		}
		// Repeat the signal every 2 s: slurmctld 24.11 misses a signal that arrives while it
		// reads its configuration again.
		if p.waitGone(2 * time.Second) {
			break
		}
		if time.Since(began) > Patience {
			return fmt.Errorf("%s, process %d, does not end", d, p.PID)
		}
	}
	return os.Remove(c.pidFile(d))
}

// Restart stops a daemon, starts it again, and waits until it answers.
func (c *Cluster) Restart(ctx context.Context, d Daemon) error {
	if err := c.StopDaemon(d); err != nil {
		return err
	}
	return c.StartDaemon(ctx, d)
}

// Reconfigure makes the daemons read slurm.conf and plugstack.conf again.
func (c *Cluster) Reconfigure(ctx context.Context) error {
	_, err := c.output(ctx, "scontrol", "reconfigure")
	return err
}

// WaitIdle waits until every node is up and without a job.
func (c *Cluster) WaitIdle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	nodes := c.Nodes + c.Declared
	for {
		out, err := c.output(ctx, "sinfo", "--noheader", "--partition=main", "--states=idle", "--format=%D")
		if err == nil && out == strconv.Itoa(nodes) {
			return nil
		}
		if Sleep(ctx, pollInterval) != nil {
			return fmt.Errorf("%q of %d nodes idle: %w:\n%s", out, nodes, ctx.Err(), c.LogTail(Slurmctld))
		}
	}
}
