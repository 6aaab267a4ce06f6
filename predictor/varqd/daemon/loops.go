package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// The parts of varqd that can be in trouble.
const (
	partHistory   = "history"
	partLimits    = "limits"
	partQueue     = "queue"
	partForecasts = "forecasts"
)

// The wait after a failure, doubled with each that follows.
const (
	retryFirst = time.Second
	retryMost  = 15 * time.Second
)

// repeat calls do until ctx is done. After a success it waits as long as do says, after a
// failure from retryFirst to retryMost. A failure is a problem of the part until do
// succeeds again.
func (d *Daemon) repeat(ctx context.Context, part string, do func(context.Context) (pause time.Duration, err error)) {
	retry := retryFirst
	for ctx.Err() == nil {
		pause, err := do(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			d.errors.WithLabelValues(part).Inc()
			if d.problems.set(part, err) {
				d.log.Error("trouble", "part", part, "error", err)
			}
			pause, retry = retry, min(2*retry, retryMost)
		} else {
			if d.problems.clear(part) {
				d.log.Info("trouble is over", "part", part)
			}
			retry = retryFirst
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// latch is an event that happens once, and can be waited for.
type latch struct {
	once sync.Once
	done chan struct{}
}

func newLatch() *latch { return &latch{done: make(chan struct{})} }

// open says that the event has happened.
func (l *latch) open() { l.once.Do(func() { close(l.done) }) }

// wait waits for the event. It reports false if ctx is done first.
func (l *latch) wait(ctx context.Context) bool {
	select {
	case <-l.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// learn loads the past and then follows accounting. It waits for the first attempts to
// read the cluster and the queue, which the first model is to know.
func (d *Daemon) learn(ctx context.Context) {
	if !d.refreshed.wait(ctx) || !d.looked.wait(ctx) {
		return
	}
	d.repeat(ctx, partHistory, func(ctx context.Context) (time.Duration, error) {
		if d.ingest.Ready() == nil {
			return time.Duration(d.config.Watch.Refresh), d.ingest.CatchUp(ctx)
		}
		if err := d.ingest.Load(ctx); err != nil {
			return 0, err
		}
		d.loaded.open()
		return 0, nil
	})
}

// refresh follows the cluster's limits and nodes.
func (d *Daemon) refresh(ctx context.Context) {
	d.repeat(ctx, partLimits, func(ctx context.Context) (time.Duration, error) {
		defer d.refreshed.open()
		return time.Duration(d.config.Watch.Refresh), d.keeper.Refresh(ctx)
	})
}

// seen is the queue as it was looked at.
type seen struct {
	queue []slurm.QueueEntry
	at    int64
}

// watch reads the queue, closely while there are reservations, and gives it to the
// keeper and to the forecasters.
func (d *Daemon) watch(ctx context.Context) {
	d.repeat(ctx, partQueue, func(ctx context.Context) (time.Duration, error) {
		defer d.looks.done()
		// Invariant: the clock is read before the queue, so that no job which is
		// pending in the queue had started by then.
		at := time.Now().Unix()
		queue, err := d.slurm.Queue(ctx)
		if err != nil {
			d.looked.open()
			return 0, fmt.Errorf("read the queue: %w", err)
		}
		open, err := d.keeper.Watch(ctx, queue, at)
		d.show(seen{queue, at})
		if open > 0 {
			return time.Duration(d.config.Watch.Interval), err
		}
		return time.Duration(d.config.Watch.Idle), err
	})
}

// show hands a snapshot of the queue to follow, and drops an older one that follow has
// not taken yet. It does not wait.
func (d *Daemon) show(s seen) {
	select {
	case <-d.seen:
	default:
	}
	d.seen <- s
}

// follow has the scorer and then the forecasters observe each snapshot of the queue.
func (d *Daemon) follow(ctx context.Context) {
	d.repeat(ctx, partForecasts, func(ctx context.Context) (time.Duration, error) {
		select {
		case <-ctx.Done():
			return 0, nil
		case s := <-d.seen:
			defer d.looked.open()
			return 0, errors.Join(d.scorer.ObserveQueue(ctx, s.queue, s.at), d.ingest.ObserveQueue(ctx, s.queue, s.at), d.keepOdds(ctx))
		}
	})
}

// keepOdds stores the odds of promises, which cannot be learnt again from the past.
func (d *Daemon) keepOdds(ctx context.Context) error {
	odds := d.outlook.Odds()
	if odds == nil || slices.Equal(odds, d.odds) {
		return nil
	}
	if err := d.scores.SetOdds(ctx, odds); err != nil {
		return err
	}
	d.odds = odds
	return nil
}

// onAccounting passes jobs of accounting to the keeper and the scorer.
func (d *Daemon) onAccounting(ctx context.Context, jobs []workload.Job) error {
	if err := d.keeper.ObserveAccounting(ctx, jobs); err != nil {
		return err
	}
	return d.scorer.ObserveAccounting(ctx, jobs)
}
