// Package cluster runs a real, private Slurm on one machine, for tests and demonstrations.
// A cluster has munge, MariaDB, slurmdbd, slurmctld, any number of slurmd, slurmrestd, users
// and accounts. Each cluster has its own folder and ports, so that several clusters can run
// at once. Stopping a cluster removes all its processes, its files, and the users that it
// had to create.
//
// A cluster needs root, because Slurm's daemons run as several users. It needs Debian's
// packages, and installs missing ones. Slurm 22.05 is Debian 12's own; Slurm 24.11 comes
// from Debian 13 in a chroot.
package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Cluster is a running private Slurm.
type Cluster struct {
	state
	root     root
	progress io.Writer
	took     time.Duration // to start
}

// state is what a cluster is found again by, in DIR/cluster.json.
type state struct {
	Dir      string
	Version  Version
	Nodes    int
	CPUs     int
	Memory   int
	Ports    ports
	Detached bool
	Starter  process // who started it; a cluster that is not detached dies with it
}

// Start brings up a cluster and returns when all its nodes are idle. On failure
// it stops what it started; the error then ends in the failed daemon's log.
func Start(ctx context.Context, o Options) (c *Cluster, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return nil, err
	}
	if os.Geteuid() != 0 {
		return nil, ErrNotRoot
	}
	if err := Install(ctx, o.Version, o.Progress); err != nil {
		return nil, err
	}
	c, err = create(o)
	if err != nil {
		return nil, err
	}
	if err := c.start(ctx, o); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// ErrNotRoot is returned when a cluster is asked for by anyone but root.
var ErrNotRoot = errors.New("a private Slurm needs root: its daemons run as several users")

// create makes the cluster's folder and enters it in the registry.
func create(o Options) (*Cluster, error) {
	dir := o.Dir
	var err error
	if dir == "" {
		dir, err = os.MkdirTemp("", "varq-slurm-")
	} else if dir, err = filepath.Abs(dir); err == nil {
		err = makeEmpty(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster folder: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("cluster folder: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cluster folder: %w", err)
	}
	if err := openToAll(filepath.Dir(dir)); err != nil {
		return nil, errors.Join(fmt.Errorf("cluster folder: %w", err), os.Remove(dir))
	}
	c := &Cluster{
		state: state{
			Dir: dir, Version: o.Version, Nodes: o.Nodes, CPUs: o.CPUs, Memory: o.Memory,
			Detached: o.Detached, Starter: self(),
		},
		root:     rootOf(o.Version, dir),
		progress: o.Progress,
	}
	if err := c.register(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, nil
}

// makeEmpty makes dir unless it is there and empty already.
func makeEmpty(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty", dir)
	}
	return nil
}

// openToAll checks that every user can reach what is in dir.
func openToAll(dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("%s is closed to the daemons' users", dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

func (c *Cluster) start(ctx context.Context, o Options) error {
	if err := c.save(); err != nil {
		return err
	}
	if err := c.root.enter(c.Dir, o.Bind); err != nil {
		return err
	}
	if err := c.addUsers(); err != nil {
		return err
	}
	if err := c.layout(); err != nil {
		return err
	}
	if err := c.configure(o); err != nil {
		return err
	}
	return c.startAll(ctx)
}

// Open finds a running cluster again by its folder.
func Open(dir string) (*Cluster, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("no cluster: %w", err)
	}
	name := filepath.Join(dir, stateFile)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("no cluster: %w", err)
	}
	c := &Cluster{progress: io.Discard}
	if err := json.Unmarshal(text, &c.state); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if c.Dir != dir {
		return nil, fmt.Errorf("%s: describes the cluster in %q", name, c.Dir)
	}
	c.root = rootOf(c.Version, dir)
	return c, nil
}

const stateFile = "cluster.json"

func (c *Cluster) save() error {
	text, err := json.MarshalIndent(c.state, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(c.Path(stateFile), append(text, '\n'), 0o644)
}

// Stop ends every process of the cluster, its jobs' included, and removes its
// folder and, with the last cluster of this machine, the users made for it.
// It also clears up after a starter that crashed half way.
func (c *Cluster) Stop() error {
	if err := c.killAll(); err != nil {
		return err
	}
	if err := leave(c.Dir); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(c.Dir), c.unregister())
}

// Path returns the absolute name of a file in the cluster's folder. It is the
// same inside and outside a chroot.
func (c *Cluster) Path(elem ...string) string {
	return filepath.Join(append([]string{c.Dir}, elem...)...)
}

// Conf returns the name of the cluster's slurm.conf.
func (c *Cluster) Conf() string { return c.Path("etc", "slurm.conf") }

// JobDir returns the folder that commands run in. Every user may write to it.
func (c *Cluster) JobDir() string { return c.Path("jobs") }

// MungeSocket returns the name of the socket of the cluster's own munged.
func (c *Cluster) MungeSocket() string { return c.Path("run", "munge", "socket") }

// RestURL returns the base address of slurmrestd.
func (c *Cluster) RestURL() string {
	return "http://127.0.0.1:" + strconv.Itoa(c.Ports.Slurmrestd)
}

// Root returns the folder under which the cluster's system files lie: "/", or
// the root of its chroot. What is written there, a plugin for example,
// disappears with the cluster when it is a chroot.
func (c *Cluster) Root() string { return c.root.path("/") }

// Env returns the variables that make any Slurm command, and any client of
// munge, speak to this cluster.
func (c *Cluster) Env() []string {
	return []string{"SLURM_CONF=" + c.Conf(), "MUNGE_SOCKET=" + c.MungeSocket()}
}

// Patience is how long anything may take before it counts as hanging, on the
// slowest of machines.
const Patience = 15 * time.Minute

// quickStart is in what time a machine starts a cluster that needs no Paced.
const quickStart = 15 * time.Second

// Paced stretches a time for a machine that is slow, as it showed when it started
// the cluster. Tests take from it how far ahead of an event they have to be.
func (c *Cluster) Paced(d time.Duration) time.Duration {
	return time.Duration(float64(d) * max(1, c.took.Seconds()/quickStart.Seconds()))
}

// say tells the user about a step, with the seconds since began.
func (c *Cluster) say(began time.Time, format string, args ...any) {
	fmt.Fprintf(c.progress, "%5.1fs %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
}
