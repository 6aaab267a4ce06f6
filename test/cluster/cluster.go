// Package cluster runs a real, private Slurm on one machine, for tests and demonstrations. A
// cluster has munge, MariaDB, slurmdbd, slurmctld, any number of slurmd, slurmrestd, users and
// accounts. Each cluster has its own folder and ports, so that several clusters can run at
// once. Stopping a cluster removes all its processes and its files. Stopping the machine's
// last cluster also removes the users that the clusters created.
//
// A cluster needs root, because Slurm's daemons run as several users. It needs Debian packages
// and installs missing ones. The Slurm of another Debian than the machine's comes with it,
// in a chroot.
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
	root      root
	progress  io.Writer
	began     time.Time     // when Start was called
	took      time.Duration // start-up time, until all nodes were idle; 0 after Open
	stopCloud func()        // or nil if there are no cloud nodes
}

// state describes a cluster. It is stored in DIR/cluster.json, which Open reads, and in
// registryFile.
type state struct {
	folder
	Version  Version
	Name     string
	Nodes    int
	Declared int
	CPUs     int
	Memory   int
	Ports    ports
	Database string   // the folder of the cluster of which this one uses slurmdbd and its database
	More     []string // variables of Env besides the cluster's own
	Programs []string // folders in which Command looks before the usual ones
	Detached bool
	Starter  process // called Start; the daemons die with it unless Detached
}

// Start starts a cluster and returns when all its nodes are idle. On failure it stops
// everything that it started. If a daemon failed, the error contains the end of its log.
func Start(ctx context.Context, o Options) (c *Cluster, err error) {
	began := time.Now()
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
	c.began = began
	if err := c.start(ctx, o); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// ErrNotRoot is returned by Start if the caller is not root.
var ErrNotRoot = errors.New("a private Slurm needs root: its daemons run as several users")

// create creates the cluster's folder and adds the cluster to the registry.
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
	for _, programs := range o.Programs {
		if err := openToAll(programs); err != nil {
			return nil, errors.Join(fmt.Errorf("programs for the cluster's users: %w", err), os.Remove(dir))
		}
	}
	c := &Cluster{
		state: state{
			folder: folder{dir}, Database: dir, Version: o.Version, Name: o.Name, Nodes: o.Nodes, Declared: o.Declared, CPUs: o.CPUs, Memory: o.Memory,
			More: o.Env, Programs: o.Programs, Detached: o.Detached, Starter: self(),
		},
		root:     rootOf(o.Version, dir),
		progress: o.Progress,
	}
	if err := c.register(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if o.Beside != nil {
		c.Database, c.Ports.Slurmdbd = o.Beside.Database, o.Beside.Ports.Slurmdbd
	}
	return c, nil
}

// ownsDatabase reports whether the cluster has a slurmdbd of its own.
func (s state) ownsDatabase() bool { return s.Database == s.Dir }

// makeEmpty creates dir if it does not exist. It returns an error if dir is not empty.
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

// openToAll returns an error if some user cannot access dir: every user needs the search
// permission on dir and on all its parents.
func openToAll(dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("%s is closed to other users: chmod a+x %s", dir, dir)
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
	if err := c.addUsers(o.users()); err != nil {
		return err
	}
	if err := c.layout(); err != nil {
		return err
	}
	if err := c.configure(o); err != nil {
		return err
	}
	if o.Boot != 0 {
		c.runCloud(o.Boot)
	}
	return c.startAll(ctx)
}

// Open returns the cluster in the folder dir, which another process may have started. It does
// not check that the daemons run.
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

func (s state) save() error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(s.Path(stateFile), append(text, '\n'), 0o644)
}

// Stop kills every process of the cluster, including its jobs, and removes its folder. If this
// was the machine's last cluster, Stop also removes the users that the clusters created. Stop
// also cleans up after a starter that crashed.
func (c *Cluster) Stop() error {
	if c.stopCloud != nil {
		c.stopCloud()
	}
	if err := c.killAll(); err != nil {
		return err
	}
	if err := leave(c.Dir); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(c.Dir), c.unregister())
}

// RestURL returns the base address of slurmrestd.
func (s state) RestURL() string {
	return "http://127.0.0.1:" + strconv.Itoa(s.Ports.Slurmrestd)
}

// Root returns the root folder of the cluster's programs: "/", or the root of the chroot.
// Files written into a chroot, such as a plugin, are removed with the cluster.
func (c *Cluster) Root() string { return c.root.path("/") }

// Env returns the environment variables that make Slurm's commands and munge's clients use
// this cluster.
func (s state) Env() []string {
	return append([]string{"SLURM_CONF=" + s.Conf(), "MUNGE_SOCKET=" + s.MungeSocket()}, s.More...)
}

// Patience is the timeout of a single operation. An operation that takes longer counts as
// hanging, even on a very slow machine.
const Patience = 15 * time.Minute

// quickStart is the start-up time of a cluster up to which Paced does not stretch durations.
const quickStart = 15 * time.Second

// Paced stretches a duration on a slow machine. The factor is the time that the cluster took
// to start, divided by quickStart, and at least 1. Tests use Paced for waiting times, and to
// choose how far in the future they schedule an event.
func (c *Cluster) Paced(d time.Duration) time.Duration {
	return time.Duration(float64(d) * max(1, c.took.Seconds()/quickStart.Seconds()))
}

// Say writes a line about the step that begins now to Options.Progress, so that whoever waits knows
// for what. The line begins with the seconds since Start. It writes nothing after Open.
func (c *Cluster) Say(format string, args ...any) {
	fmt.Fprintf(c.progress, "%5.1fs %s\n", time.Since(c.began).Seconds(), fmt.Sprintf(format, args...))
}
