package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/slurm"
)

// lookLatest is the longest time between two readings of the queue, whatever they cost. It is
// as long as the longest pause that varq.yaml allows: forecasts rest on what was read.
const lookLatest = 30 * time.Minute

// looks decides what is read of the queue when: all of it, the jobs of reservations alone, or
// nothing.
//
// The whole queue is read while slurmrestd has been busy for at most the share of the time that
// it may be. Between these readings the jobs of reservations are read, for half of that share:
// so that in the other half the debt of the last whole reading is paid.
type looks struct {
	now   func() time.Time
	all   *load     // all that is asked of slurmrestd
	bound *load     // what readings of the jobs of reservations take
	last  time.Time // when the queue was read last; zero before, and after a failure
	open  int       // reservations, as of the last look
}

func newLooks(share float64, now func() time.Time) *looks {
	return &looks{now: now, all: newLoad(share, now), bound: newLoad(share/2, now)}
}

// whole reports whether the whole queue is to be read.
func (l *looks) whole() bool {
	return l.last.IsZero() || l.now().Sub(l.last) >= lookLatest || l.all.free()
}

// watch is a loop. It looks at the queue, more often while reservations are open.
func (d *Daemon) watch(ctx context.Context) { d.repeat(ctx, partQueue, d.look) }

// look reads the queue, and passes it to the keeper and to follow, or has the keeper read the
// jobs of reservations, or does nothing, as d.looks says. It returns the time until the next
// look.
func (d *Daemon) look(ctx context.Context) (pause time.Duration, err error) {
	defer d.reads.done()
	if err := d.readClock(ctx); err != nil {
		d.queueTried.set()
		return 0, err
	}
	if err := d.groups.Tend(ctx); err != nil {
		d.log.Error("what has become of groups cannot be learnt", "error", err)
	}
	switch l := d.looks; {
	case l.whole():
		began := l.now()
		if err := d.lookAtAll(ctx); err != nil {
			// Invariant: the next look is at all again, so that the trouble is over only when
			// that has succeeded. repeat sees to it that it is not too soon.
			l.last = time.Time{}
			l.all.forgive()
			return time.Duration(float64(l.now().Sub(began)) / l.all.share), err
		}
		l.last = l.now()
	case l.open > 0 && l.bound.free():
		end := l.bound.begin("", true)
		open, err := d.keeper.WatchBound(ctx, d.clock.now())
		end()
		if err != nil {
			l.bound.forgive() // so that the next look is not at nothing
			return 0, err
		}
		l.open = open
	}
	if d.looks.open > 0 {
		return time.Duration(d.config.Watch.Interval), nil
	}
	return time.Duration(d.config.Watch.Idle), nil
}

// lookAtAll reads the whole queue, and passes it to the keeper and to follow.
func (d *Daemon) lookAtAll(ctx context.Context) error {
	// Invariant: the clock is read before the queue. So a job that is pending in the
	// queue had not started at that time.
	at := d.clock.now()
	queue, err := d.slurm.Queue(ctx)
	if err != nil {
		d.queueTried.set()
		return fmt.Errorf("read the queue: %w", err)
	}
	d.keeper.MarkPinned(queue)
	if err := d.checkLedger(ctx, queue); err != nil {
		return err
	}
	d.looks.open, err = d.keeper.Watch(ctx, queue, at)
	if err := d.resizer.Look(ctx, queue, at); err != nil {
		d.log.Error("sizes of jobs that wait cannot be chosen again", "error", err)
	}
	d.offer(snapshot{queue, at})
	return err
}

// snapshot is the queue as Slurm showed it.
type snapshot struct {
	queue []slurm.QueueEntry
	at    int64 // Unix seconds
}

// offer passes a snapshot to follow, and drops an older one that follow has not taken yet.
// It does not wait.
func (d *Daemon) offer(s snapshot) {
	select {
	case <-d.snapshots:
	default:
	}
	d.snapshots <- s
}
