package daemon

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/workload"
)

// The parts of varqd that can have a problem.
const (
	partHistory   = "history"
	partLimits    = "limits"
	partQueue     = "queue"
	partForecasts = "forecasts"
	partRights    = "rights" // in Slurm
	partLedger    = "ledger"
	partDisk      = "disk" // on which the ledger is
	partNodes     = "nodes"
)

// The first and the longest pause after a failure. The pause doubles with each further
// failure.
const (
	retryFirst = time.Second
	retryMost  = 15 * time.Second
)

// repeat calls do until ctx is done. After a success it pauses as long as do says. After failures
// it pauses between retryFirst and retryMost, or what do says if that is longer. A failure is a
// problem of the part until do succeeds again.
func (d *Daemon) repeat(ctx context.Context, part string, do func(context.Context) (pause time.Duration, err error)) {
	d.errors.WithLabelValues(part) // is 0, so that a first failure is an increase
	retry := retryFirst
	for ctx.Err() == nil {
		pause, err := do(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			d.errors.WithLabelValues(part).Inc()
			d.problems.set(part, err)
			pause, retry = retry, min(2*retry, max(retryMost, pause))
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

// latch is an event that happens once.
type latch struct {
	once sync.Once
	done chan struct{}
}

func newLatch() *latch { return &latch{done: make(chan struct{})} }

// set notes that the event has happened.
func (l *latch) set() { l.once.Do(func() { close(l.done) }) }

// isSet reports whether the event has happened.
func (l *latch) isSet() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// wait waits for the event. It reports false if ctx is done first.
func (l *latch) wait(ctx context.Context) bool {
	select {
	case <-l.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// learn is a loop. It loads the past, and then reads what accounting adds. The first model learns
// from the nodes and from the queue. So learn waits until the nodes are known, without which a
// model bounds nothing by the room there is, and for the first attempt to read the queue.
func (d *Daemon) learn(ctx context.Context) {
	if !d.limitsRead.wait(ctx) || !d.queueTried.wait(ctx) {
		return
	}
	d.repeat(ctx, partHistory, func(ctx context.Context) (time.Duration, error) {
		if d.ingest.Ready() == nil {
			return time.Duration(d.config.Watch.Refresh), d.ingest.CatchUp(ctx)
		}
		if err := d.ingest.Load(ctx); err != nil {
			return 0, err
		}
		d.pastLoaded.set()
		return 0, nil
	})
}

// refresh is a loop. It reads the cluster's limits and nodes.
func (d *Daemon) refresh(ctx context.Context) {
	d.repeat(ctx, partLimits, func(ctx context.Context) (time.Duration, error) {
		err := d.premises.Refresh(ctx)
		if err == nil {
			d.limitsRead.set()
		}
		return time.Duration(d.config.Watch.Refresh), err
	})
}

// follow is a loop. It passes each look to the scorer, and then to the forecasters.
func (d *Daemon) follow(ctx context.Context) {
	var waits look.Waits
	d.repeat(ctx, partForecasts, func(ctx context.Context) (time.Duration, error) {
		select {
		case <-ctx.Done():
			return 0, nil
		case l := <-d.seen:
			defer d.queueTried.set()
			defer d.looked.Set(float64(l.At))
			d.countJobs(l)
			d.running.Store(runningJobs(l.Jobs))
			begun := waits.Begun(l)
			return 0, errors.Join(
				d.scorer.ObserveQueue(ctx, l, begun),
				d.watchShadows(ctx, l, begun),
				d.ingest.ObserveQueue(ctx, l.Jobs, l.At),
				d.keepOdds(ctx),
			)
		}
	})
}

// keepOdds stores the odds of promises, because past jobs do not show them.
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
	return errors.Join(d.scorer.ObserveAccounting(ctx, jobs), d.learnShadows(ctx, jobs))
}
