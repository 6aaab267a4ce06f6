package daemon

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// clockEvery is how often Slurm's clock is measured.
	clockEvery = time.Minute
	// clockStep is from which jump of the host's clock on Slurm's is measured at once.
	clockStep = time.Second
	// clockDrift bounds how far two clocks come apart between measurements, in seconds a
	// second. A quartz that is ten times worse than usual stays within it.
	clockDrift = 500e-6
	// clockDoubt is the widest interval in which Slurm's time may lie, for promises to be
	// made and jobs to be revised. A measurement is as wide as slurmrestd is slow.
	clockDoubt = 30 * time.Second
	// clockNoted is from which difference on between the two clocks varqd's health notes it.
	clockNoted = 10 * time.Second
)

// clock is Slurm's clock, as slurmctld's answers show it. All times that varqd compares are
// Slurm's: deadlines, begin times, starts. The host's own clock may be wrong, and may be set
// while varqd runs; so between measurements only the host's monotonic clock counts.
//
// Slurm's time is known to lie in an interval. The clock shows the interval's begin, so that
// nothing is taken for late that is not.
type clock struct {
	host func() time.Time // with a monotonic reading

	mu sync.Mutex
	// on the host's clock, when the interval was measured; zero before the first
	at       time.Time
	earliest time.Time     // Slurm's time at that time: at least
	latest   time.Time     // and at most
	ahead    time.Duration // of the host's clock, as measured last
}

func newClock(host func() time.Time) *clock { return &clock{host: host} }

// interval returns the interval in which Slurm's time lies at a time of the host.
func (c *clock) interval(at time.Time) (earliest, latest time.Time) {
	passed := at.Sub(c.at)
	drift := time.Duration(float64(passed) * clockDrift)
	return c.earliest.Add(passed - drift), c.latest.Add(passed + drift)
}

// jumped returns by how much more the host's clock has moved since the last measurement than time
// has passed: it was set, or the host has slept, which the monotonic clock does not count.
func (c *clock) jumped(at time.Time) time.Duration {
	return at.Round(0).Sub(c.at.Round(0)) - at.Sub(c.at)
}

// observe takes in a measurement that was begun at a time of the host: Slurm's clock was ahead of
// the host's by ahead, with an uncertainty on either side. The host's clock may have been set
// since. What was known before narrows it, unless the two contradict each other, as when a clock
// was set.
func (c *clock) observe(at time.Time, ahead, uncertainty time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shown := at.Round(0) // without the monotonic reading
	earliest, latest := shown.Add(ahead-uncertainty), shown.Add(ahead+uncertainty)
	if !c.at.IsZero() {
		before, after := c.interval(at)
		if low, high := later(earliest, before), earlier(latest, after); !low.After(high) {
			earliest, latest = low, high
		}
	}
	c.at, c.earliest, c.latest, c.ahead = at, earliest, latest, ahead
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// now returns Slurm's time in Unix seconds, at least. Before the first measurement it returns
// the host's.
func (c *clock) now() int64 {
	at := c.host()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.IsZero() {
		return at.Unix()
	}
	earliest, _ := c.interval(at)
	return earliest.Unix()
}

// due reports whether Slurm's clock is to be measured again: from time to time, and when the host
// may have slept.
func (c *clock) due() bool {
	at := c.host()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at.IsZero() || at.Sub(c.at) >= clockEvery || c.jumped(at).Abs() >= clockStep
}

// ready returns nil if Slurm's time is known well enough for promises.
func (c *clock) ready() error {
	at := c.host()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.IsZero() {
		return fmt.Errorf("varqd has not reached Slurm yet")
	}
	earliest, latest := c.interval(at)
	if slept := c.jumped(at); slept > clockDoubt {
		return fmt.Errorf("the clock of varqd's host has moved on by %d seconds at once, and Slurm's is not known until varqd has asked for it; try again in a moment", int(slept.Seconds()))
	}
	if width := latest.Sub(earliest); width > clockDoubt {
		return fmt.Errorf("slurmrestd answers so slowly that Slurm's time is known only to %d seconds", int(width.Seconds()))
	}
	return nil
}

// offset returns by how much Slurm's clock is ahead of the host's, as measured last.
func (c *clock) offset() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ahead
}

// notes returns a sentence if the two clocks differ by much. varqd counts in Slurm's time, and
// so works nevertheless.
func (c *clock) notes() []string {
	ahead := c.offset()
	if ahead.Abs() < clockNoted {
		return nil
	}
	relation := "behind"
	if ahead < 0 {
		relation = "ahead of"
	}
	return []string{fmt.Sprintf("the clock of varqd's host is %d s %s Slurm's: set it, for example with chrony; varqd goes by Slurm's", int(ahead.Abs().Seconds()), relation)}
}

// readClock measures Slurm's clock if that is due.
func (d *Daemon) readClock(ctx context.Context) error {
	if !d.clock.due() {
		return nil
	}
	at := d.clock.host()
	ahead, uncertainty, err := d.slurm.Clock(ctx)
	if err != nil {
		return fmt.Errorf("read Slurm's clock: %w", err)
	}
	d.clock.observe(at, ahead, uncertainty)
	return nil
}
