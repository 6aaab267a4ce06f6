package daemon

import (
	"context"
	"errors"

	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// mostShadows is the greatest number of jobs of a day that shadow mode watches.
const mostShadows = 200

// errShadow is the error of all changes in shadow mode.
var errShadow = errors.New("varqd changes nothing in shadow mode")

// untouched is a Slurm that cannot be changed.
type untouched struct{ Slurm }

// Update implements keeper.Slurm. It changes nothing.
func (untouched) Update(context.Context, slurm.Update) error { return errShadow }

// Cancel implements keeper.Slurm. It cancels nothing.
func (untouched) Cancel(context.Context, int64) error { return errShadow }

// watchShadows passes a look to the watcher of shadow mode.
func (d *Daemon) watchShadows(ctx context.Context, l *look.Look, begun []*slurm.QueueEntry) error {
	if d.shadow == nil {
		return nil
	}
	return d.shadow.ObserveQueue(ctx, l, begun)
}

// learnShadows passes jobs of accounting to the watcher of shadow mode.
func (d *Daemon) learnShadows(ctx context.Context, jobs []workload.Job) error {
	if d.shadow == nil {
		return nil
	}
	return d.shadow.ObserveAccounting(ctx, jobs)
}
