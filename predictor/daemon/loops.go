package daemon

import (
	"context"
	"time"

	"github.com/varq-project/varq/predictor/workload"
)

// The parts of varqd that can be in trouble.
const (
	partHistory = "history"
	partLimits  = "limits"
	partQueue   = "queue"
)

// The wait after a failure, doubled with each that follows.
const (
	retryFirst = time.Second
	retryMost  = 15 * time.Second
)

// repeat calls do until ctx is done: pause after each success, and less or more
// after a failure, which is a problem of the part until do succeeds again.
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

// learn loads the past and then follows accounting.
func (d *Daemon) learn(ctx context.Context) {
	d.repeat(ctx, partHistory, func(ctx context.Context) (time.Duration, error) {
		if d.ingest.Ready() != nil {
			return 0, d.ingest.Load(ctx)
		}
		return time.Duration(d.config.Watch.Refresh), d.ingest.CatchUp(ctx)
	})
}

// refresh follows the cluster's limits.
func (d *Daemon) refresh(ctx context.Context) {
	d.repeat(ctx, partLimits, func(ctx context.Context) (time.Duration, error) {
		return time.Duration(d.config.Watch.Refresh), d.keeper.Refresh(ctx)
	})
}

// watch follows the queue: closely while there are reservations.
func (d *Daemon) watch(ctx context.Context) {
	d.repeat(ctx, partQueue, func(ctx context.Context) (time.Duration, error) {
		jobs, open, err := d.keeper.Watch(ctx)
		d.looks.done()
		if err == nil {
			err = d.ingest.Watched(ctx, jobs)
		}
		if open > 0 {
			return time.Duration(d.config.Watch.Interval), err
		}
		return time.Duration(d.config.Watch.Idle), err
	})
}

// told hands jobs of accounting to the keeper before they count as read.
func (d *Daemon) told(ctx context.Context, jobs []workload.Job) error {
	return d.keeper.Learnt(ctx, jobs)
}
