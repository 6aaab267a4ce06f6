package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/varq-project/varq/test/cluster"
)

// trigger is a kind of fault. do makes the fault, lets it last for span, and repairs it. It
// returns what is to be said of this one. An error of do is one of the campaign, not of varq.
type trigger struct {
	kind string
	do   func(c *campaign, random *rand.Rand, span time.Duration) (detail string, err error)
}

// lanes are the kinds of faults. One fault of each lane happens at a time, so faults of
// different lanes meet.
var lanes = [][]trigger{
	{
		{"varqd killed", (*campaign).killVarqd},
		{"varqd killed", (*campaign).killVarqd},
		{"varqd stopped", (*campaign).pauseVarqd},
		{"varqd restarted", (*campaign).restartVarqd},
		{"disk full", (*campaign).fillDisk},
		{"cache garbled", (*campaign).garbleCache},
		{"ledger garbled", (*campaign).garbleLedger},
		{"clock wrong", (*campaign).skewClock},
	},
	append(ofDaemons(cluster.Slurmrestd, cluster.Slurmctld, cluster.Slurmdbd, cluster.MariaDB, cluster.Munged), ofNodes()...),
	{ofProxy(delays), ofProxy(cuts), ofProxy(doubles), ofProxy(empties), ofProxy(mangles), ofProxy(refuses)},
}

// trouble makes faults of one lane until ctx ends. All kinds happen equally often.
func (c *campaign) trouble(ctx context.Context, lane []trigger, random *rand.Rand) error {
	for {
		for _, i := range random.Perm(len(lane)) {
			pause := time.Duration((.2 + .8*random.ExpFloat64()) * float64(c.o.Pause))
			span := time.Duration(5e8 + random.Int64N(10e9))
			if cluster.Sleep(ctx, pause) != nil {
				return nil
			}
			f := Fault{Kind: lane[i].kind, Began: now()}
			var err error
			if f.Detail, err = lane[i].do(c, random, span); err != nil {
				return fmt.Errorf("%s: %w", f.Kind, err)
			}
			f.Done = now()
			c.journal.faulted(f)
		}
	}
}

func (c *campaign) killVarqd(_ *rand.Rand, span time.Duration) (string, error) {
	if err := c.varqd.end(syscall.SIGKILL); err != nil {
		return "", err
	}
	time.Sleep(span / 4)
	return "", c.varqd.start()
}

func (c *campaign) pauseVarqd(_ *rand.Rand, span time.Duration) (string, error) {
	c.varqd.signal(syscall.SIGSTOP)
	time.Sleep(span)
	c.varqd.signal(syscall.SIGCONT)
	return "", nil
}

func (c *campaign) restartVarqd(*rand.Rand, time.Duration) (string, error) {
	if err := c.varqd.end(syscall.SIGTERM); err != nil {
		return "", err
	}
	return "", c.varqd.start()
}

// fillDisk fills the disk of varqd's files to the last byte.
func (c *campaign) fillDisk(random *rand.Rand, span time.Duration) (string, error) {
	name := filepath.Join(c.disk(), "filler")
	filler, err := os.Create(name)
	if err != nil {
		return "", err
	}
	block := make([]byte, 64<<10)
	for len(block) > 0 {
		if _, err := filler.Write(block); errors.Is(err, syscall.ENOSPC) {
			block = block[:len(block)/2]
		} else if err != nil {
			return "", errors.Join(err, filler.Close(), os.Remove(name))
		}
	}
	detail := ""
	if random.IntN(3) == 0 { // and it is restarted meanwhile
		detail = "varqd restarted"
		if err := c.varqd.end(syscall.SIGTERM); err != nil {
			return "", err
		}
		if err := c.varqd.start(); err != nil {
			return "", err
		}
	}
	time.Sleep(span)
	return detail, errors.Join(filler.Close(), os.Remove(name))
}

// garbleCache damages the cache of accounting while varqd is down. varqd reads it again.
func (c *campaign) garbleCache(random *rand.Rand, _ time.Duration) (string, error) {
	if err := c.varqd.end(syscall.SIGTERM); err != nil {
		return "", err
	}
	return "", errors.Join(garble(c.history(), random), c.varqd.start())
}

// garbleLedger damages the ledger while varqd is down. varqd must not take it for a ledger. Then
// the ledger is restored.
func (c *campaign) garbleLedger(random *rand.Rand, _ time.Duration) (string, error) {
	if err := c.varqd.end(syscall.SIGTERM); err != nil {
		return "", err
	}
	copies := map[string][]byte{}
	names, err := filepath.Glob(c.ledger() + "*")
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if copies[name], err = os.ReadFile(name); err != nil {
			return "", err
		}
	}
	if err := garble(c.ledger(), random); err != nil {
		return "", err
	}
	refused, err := c.varqd.refuses()
	if err != nil {
		return "", err
	}
	detail := "refused"
	if !refused {
		detail = "not refused"
		c.journal.failed("varqd works with a garbled ledger")
	}
	for name, text := range copies { // in place, which keeps the owner
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return "", err
		}
	}
	return detail, c.varqd.start()
}

// garble overwrites the first page of a file of SQLite with noise.
func garble(name string, random *rand.Rand) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	noise := make([]byte, 512)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	_, err = f.WriteAt(noise, 0)
	return errors.Join(err, f.Close())
}

// skewClock restarts varqd on a host whose clock is wrong.
func (c *campaign) skewClock(random *rand.Rand, span time.Duration) (string, error) {
	ahead := time.Duration(random.Int64N(int64(4*time.Minute))) - 2*time.Minute
	ahead = ahead.Round(time.Second)
	for _, d := range []time.Duration{ahead, 0} {
		if err := c.varqd.end(syscall.SIGTERM); err != nil {
			return "", err
		}
		c.varqd.setAhead(d)
		if err := c.varqd.start(); err != nil {
			return "", err
		}
		if d != 0 {
			time.Sleep(4 * span)
		}
	}
	return "ahead " + ahead.String(), nil
}

// ofDaemons returns the faults of Slurm's daemons, each of one daemon.
func ofDaemons(daemons ...cluster.Daemon) []trigger {
	var all []trigger
	for _, d := range daemons {
		all = append(all, ofThese(string(d), func(*campaign, *rand.Rand) ([]cluster.Daemon, string) { return []cluster.Daemon{d}, "" })...)
	}
	return all
}

// ofNodes returns the faults of slurmd, each on a quarter of the nodes at once.
func ofNodes() []trigger {
	return ofThese("slurmd", func(c *campaign, random *rand.Rand) ([]cluster.Daemon, string) {
		names := c.NodeNames()
		var nodes []cluster.Daemon
		for _, i := range random.Perm(len(names))[:max(1, len(names)/4)] {
			nodes = append(nodes, cluster.Slurmd(names[i]))
		}
		return nodes, fmt.Sprint(nodes)
	})
}

// ofThese returns the faults that all daemons have at once that pick returns, with what is to be
// said of them.
func ofThese(name string, pick func(*campaign, *rand.Rand) (daemons []cluster.Daemon, detail string)) []trigger {
	on := func(kind string, do func(c *campaign, daemons []cluster.Daemon, span time.Duration) error) trigger {
		return trigger{name + " " + kind, func(c *campaign, random *rand.Rand, span time.Duration) (string, error) {
			daemons, detail := pick(c, random)
			return detail, do(c, daemons, span)
		}}
	}
	return []trigger{
		on("killed", func(c *campaign, daemons []cluster.Daemon, span time.Duration) error {
			return errors.Join(each(daemons, func(d cluster.Daemon) error { return ignoreGone(c.KillDaemon(d)) }), c.repair(span/4))
		}),
		on("stopped", func(c *campaign, daemons []cluster.Daemon, span time.Duration) error {
			err := each(daemons, func(d cluster.Daemon) error { return ignoreGone(c.SignalDaemon(d, syscall.SIGSTOP)) })
			time.Sleep(span)
			return errors.Join(err, each(daemons, func(d cluster.Daemon) error { return ignoreGone(c.SignalDaemon(d, syscall.SIGCONT)) }), c.repair(0))
		}),
		on("restarted", func(c *campaign, daemons []cluster.Daemon, _ time.Duration) error {
			return errors.Join(each(daemons, func(d cluster.Daemon) error { return ignoreGone(c.StopDaemon(d)) }), c.repair(0))
		}),
	}
}

func each(daemons []cluster.Daemon, do func(cluster.Daemon) error) error {
	var errs []error
	for _, d := range daemons {
		errs = append(errs, do(d))
	}
	return errors.Join(errs...)
}

// ignoreGone returns nil for the error of a daemon that has ended by itself before it was ended.
func ignoreGone(err error) error {
	if err != nil && strings.Contains(err.Error(), "is not running") {
		return nil
	}
	return err
}

// daemonPID returns the process of a daemon, and whether it runs.
func (c *campaign) daemonPID(d cluster.Daemon) (pid int, ok bool) {
	text, err := os.ReadFile(c.Path("run", string(d)+".pid"))
	if err != nil {
		return 0, false
	}
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		return 0, false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return pid, err == nil && !strings.Contains(string(stat), ") Z ")
}

// repair starts, after a while, each of Slurm's daemons that does not run, as systemd would: some
// end when another does.
func (c *campaign) repair(after time.Duration) error {
	time.Sleep(after)
	daemons := []cluster.Daemon{cluster.Munged, cluster.MariaDB, cluster.Slurmdbd, cluster.Slurmctld, cluster.Slurmrestd}
	for _, name := range c.NodeNames() {
		daemons = append(daemons, cluster.Slurmd(name))
	}
	for _, d := range daemons {
		var err error
		for range 5 {
			if _, runs := c.daemonPID(d); runs {
				err = nil
				break
			}
			if err = c.StartDaemon(context.Background(), d); err == nil {
				break
			}
			time.Sleep(time.Second)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ofProxy returns the fault of a proxy's mode.
func ofProxy(mode string) trigger {
	return trigger{"answers: " + mode, func(c *campaign, _ *rand.Rand, span time.Duration) (string, error) {
		c.proxy.setMode(mode)
		time.Sleep(span)
		c.proxy.setMode("")
		return "", nil
	}}
}
