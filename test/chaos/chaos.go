// Package chaos is a campaign against varq on a real Slurm. Users submit jobs with and without
// reservations and change them, daemons are killed, stopped and restarted, files are damaged,
// disks fill, clocks are wrong, and slurmrestd's answers are garbled, all at random from a seed.
// Then a checker that knows nothing of varqd's code compares what users were promised with the
// ledger, Slurm's accounting, and what the jobs themselves wrote. See CONTRIBUTING.md for how to
// read what it reports.
package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
)

// Options describe a campaign. It ends after Duration, or once there have been that many
// Submissions, whichever comes first; 0 is not a bound.
type Options struct {
	// Seed determines every decision, but not when things happen.
	Seed        uint64
	Duration    time.Duration
	Submissions int
	// Pace is the mean time between two submissions, if Slurm answers that fast.
	Pace time.Duration
	// Pause is the mean time between two faults of the same lane.
	Pause   time.Duration
	Nodes   int
	Version cluster.Version
	// Evidence is the folder for what the campaign saw. It is created.
	Evidence string
	// Progress receives messages; nil discards them.
	Progress io.Writer
}

// campaign is a campaign that runs.
type campaign struct {
	*site.Site
	o       Options
	journal *journal
	proxy   *proxy
	varqd   *varqd
	began   time.Time
}

// Run runs a campaign and checks it. Violations are not an error: they are in the report. ctx ends
// the campaign early.
func Run(ctx context.Context, o Options) (_ *Report, err error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	if err := os.MkdirAll(o.Evidence, 0o755); err != nil {
		return nil, err
	}
	s, err := site.Start(ctx, site.Options{
		Nodes: o.Nodes, Version: o.Version, Progress: o.Progress,
		History:   site.Calm(time.Now().Unix()),
		SlurmConf: slurmConf(o.Nodes),
		NodeConf:  "Features=ib",
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	c := &campaign{Site: s, o: o, journal: newJournal()}
	if err := c.prepare(ctx); err != nil {
		return nil, err
	}
	defer c.proxy.close()
	c.began = time.Now()
	c.say("the campaign begins, with seed %d", o.Seed)
	if err := c.run(ctx); err != nil {
		return nil, errors.Join(err, c.save(context.WithoutCancel(ctx)))
	}
	return c.judge(context.WithoutCancel(ctx))
}

// run runs the campaign until its end, and then waits until all is settled.
func (c *campaign) run(ctx context.Context) error {
	during, end := context.WithCancel(ctx)
	defer end()
	if c.o.Duration > 0 {
		during, end = context.WithTimeout(ctx, c.o.Duration)
		defer end()
	}
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	var watchers sync.WaitGroup
	watchers.Go(func() { c.varqd.supervise(watching) })
	watchers.Go(func() { c.watchQueue(watching) })
	watchers.Go(func() { c.tell(watching) })
	defer watchers.Wait()
	defer stopWatching()

	var faults sync.WaitGroup
	failures := make(chan error, len(lanes))
	for i, lane := range lanes {
		faults.Go(func() { failures <- c.trouble(during, lane, c.random(1_000_000+uint64(i))) })
	}
	c.submitAll(during)
	end()
	faults.Wait()
	close(failures)
	var errs []error
	for err := range failures {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return c.drain(context.WithoutCancel(ctx))
}

// random returns the source of one part of the campaign's decisions. Each part has its own, so
// that when things happen changes no decision.
func (c *campaign) random(part uint64) *rand.Rand { return rand.New(rand.NewPCG(c.o.Seed, part)) }

func (c *campaign) say(format string, args ...any) {
	fmt.Fprintf(c.o.Progress, "%s %s\n", time.Now().Format("15:04:05"), fmt.Sprintf(format, args...))
}

// tell says every minute how the campaign stands.
func (c *campaign) tell(ctx context.Context) {
	for cluster.Sleep(ctx, time.Minute) == nil {
		submissions, promises, faults := c.journal.counts()
		c.say("%d submissions, %d promises, %d faults", submissions, promises, faults)
	}
}

// evidence returns the path of a file in the folder of evidence.
func (c *campaign) evidence(name string) string { return filepath.Join(c.o.Evidence, name) }
