package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/live/keeper"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/varqd/config"
)

// lookLatest is the longest time between two readings of the queue, whatever they cost. It is
// as long as the longest pause that varq.yaml allows: forecasts rest on what was read.
const lookLatest = 30 * time.Minute

// looks decides when the queue is looked at, and what is read of it: all of it, the jobs of
// reservations alone, or nothing.
//
// The whole queue is read while slurmrestd has been busy for at most the share of the time that
// it may be. Between these readings the jobs of reservations are read, for half of that share:
// so that in the other half the debt of the last whole reading is paid.
type looks struct {
	now      func() time.Time
	interval time.Duration // between two looks while reservations are open, and
	idle     time.Duration // otherwise
	all      *load         // all that is asked of slurmrestd
	bound    *load         // what readings of the jobs of reservations take
	last     time.Time     // when the whole queue was read last; zero before, and after a failure
	looked   time.Time     // when the last look ended; zero before, and after a failure
	took     *prometheus.HistogramVec
}

// What is read at a look.
const (
	readQueue        = "queue"
	readReservations = "reservations"
)

func newLooks(c config.Watch, now func() time.Time) *looks {
	return &looks{
		now: now, interval: time.Duration(c.Interval), idle: time.Duration(c.Idle), all: newLoad(c.Load, now), bound: newLoad(c.Load/2, now),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "varq_look_seconds",
			Help:    "How long looks took, by what was read: with all that was due then for reservations.",
			Buckets: []float64{.005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120},
		}, []string{"read"}),
	}
}

// due returns how long it is until the next look, given whether reservations are open; 0 or less if
// it is due.
func (l *looks) due(open bool) time.Duration {
	pause := l.idle
	if open {
		pause = l.interval
	}
	return pause - l.now().Sub(l.looked)
}

// timed notes that a look begins at which something is read. The function that it returns notes
// that it is over.
func (l *looks) timed(read string) func() {
	began := l.now()
	return func() { l.took.WithLabelValues(read).Observe(l.now().Sub(began).Seconds()) }
}

// whole reports whether the whole queue is to be read.
func (l *looks) whole() bool {
	return l.last.IsZero() || l.now().Sub(l.last) >= lookLatest || l.all.free()
}

// watch is a loop. It looks at the queue, more often while reservations are open.
func (d *Daemon) watch(ctx context.Context) { d.repeat(ctx, partQueue, d.look) }

// look looks at the queue if that is due. It returns the time until it is to be called again, which
// is no longer than the interval between looks while reservations are open: a promise may be made
// at any time.
func (d *Daemon) look(ctx context.Context) (pause time.Duration, err error) {
	read, l := false, d.looks
	defer func() {
		d.reads.done(read)
		if err != nil { // Invariant: trouble is over only when a look has succeeded.
			l.looked = time.Time{}
		}
	}()
	open, err := d.ledger.AnyOpen(ctx)
	if err != nil {
		return 0, err
	}
	if l.due(open) <= 0 {
		if read, pause, err = d.lookNow(ctx, open); err != nil {
			return pause, err
		}
		l.looked = l.now()
	}
	return min(l.interval, l.due(open)), nil
}

// lookNow reads the queue, and passes it to the keeper and to follow, or has the keeper read the
// jobs of reservations if any are open, or does nothing, as d.looks says. It reports whether it has
// read all that is due: while none are open, the whole queue is not while slurmrestd is to be
// spared. After an error it returns the time until the next look.
func (d *Daemon) lookNow(ctx context.Context, open bool) (read bool, pause time.Duration, err error) {
	if err := d.readClock(ctx); err != nil {
		d.queueTried.set()
		return false, 0, err
	}
	if err := d.groups.Tend(ctx); err != nil {
		d.log.Error("what has become of groups cannot be learnt", "error", err)
	}
	switch l := d.looks; {
	case l.whole():
		began := l.now()
		if err := d.lookAtAll(ctx); err != nil {
			// Invariant: the next look is at all again, so that the trouble is over only when that
			// has succeeded. repeat sees to it that it is not too soon after one that was too much
			// for slurmrestd.
			l.last = time.Time{}
			if errors.Is(err, slurm.ErrTooMuch) {
				pause = time.Duration(float64(l.now().Sub(began)) / l.all.share)
			}
			return false, pause, err
		}
		l.last = l.now()
	case open:
		read, err = d.lookAtBound(ctx)
		return read, 0, err
	}
	return true, 0, nil
}

// lookAtBound has the keeper read the jobs of reservations, for as long as makes up for itself
// until the next look. It reports false if none could be read because the last ones took too long
// for that.
func (d *Daemon) lookAtBound(ctx context.Context) (read bool, err error) {
	defer d.looks.timed(readReservations)()
	l, asked, spared := d.looks, false, false
	err = d.keeper.WatchBound(ctx, d.clock.now(), func(ctx context.Context, id int64) (j slurm.QueueEntry, err error) {
		if !l.bound.paidWithin(l.interval) {
			spared = true
			return j, keeper.ErrEnough
		}
		asked = true
		end := l.bound.begin("job", true)
		defer func() { end(err) }()
		return d.slurm.Job(ctx, id)
	})
	return asked || !spared, err
}

// lookAtAll reads the whole queue, and passes it to the keeper and to follow.
func (d *Daemon) lookAtAll(ctx context.Context) error {
	defer d.looks.timed(readQueue)()
	// Invariant: the clock is read before the queue. So a job that is pending in the
	// queue had not started at that time.
	at := d.clock.now()
	queue, err := d.slurm.Queue(ctx)
	if err != nil {
		d.queueTried.set()
		return fmt.Errorf("read the queue: %w", err)
	}
	l := look.New(queue, at)
	if err := d.checkLedger(ctx, l); err != nil {
		return err
	}
	err = d.keeper.Watch(ctx, l)
	if err := d.flows.Look(ctx, l); err != nil {
		d.log.Error("promises of flows cannot be followed", "error", err)
	}
	if err := d.resizer.Look(ctx, l); err != nil {
		d.log.Error("sizes of jobs that wait cannot be chosen again", "error", err)
	}
	d.offer(l)
	return err
}

// offer passes a look to follow, and drops an older one that follow has not taken yet.
// It does not wait.
func (d *Daemon) offer(l *look.Look) {
	select {
	case <-d.seen:
	default:
	}
	d.seen <- l
}
