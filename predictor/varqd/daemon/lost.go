package daemon

import (
	"context"
	"fmt"

	"github.com/varq-project/varq/predictor/live/look"
)

// clocksApart is the greatest error of a promise's time, in seconds, at which the job of the
// ledger's first promise does not count as older than the ledger. That time is Slurm's, unless
// varqd has not measured Slurm's clock yet: then it is the host's.
const clocksApart = 300

// checkLedger notes as a problem that jobs in the queue were promised something before the
// ledger's first promise: then it is not the ledger that they were promised by. That users
// write varq's comments themselves does not look like that.
func (d *Daemon) checkLedger(ctx context.Context, l *look.Look) error {
	lost := 0
	if len(l.Plans) > 0 {
		if err := d.readFirst(ctx); err != nil {
			return err
		}
		for _, jobs := range l.Plans {
			if last := jobs[len(jobs)-1]; d.first == 0 || last.Submit < d.first-clocksApart {
				lost++
			}
		}
	}
	if lost == 0 {
		d.problems.clear(partLedger)
		return nil
	}
	d.problems.set(partLedger, fmt.Errorf("%s does not know the promises of %d jobs in the queue, and was begun after them: was it removed? "+
		"What those jobs were promised is neither kept nor counted until it is restored", d.config.Ledger.Path, lost))
	return nil
}

// noteWrite notes as a problem that the ledger's file does not take what is written, until it does.
func (d *Daemon) noteWrite(err error) {
	switch {
	case err != nil:
		d.unwritten.Inc()
		d.problems.set(partDisk, fmt.Errorf("%s: %w; nothing is promised until it can be written", d.config.Ledger.Path, err))
	case d.problems.clear(partDisk):
		d.log.Info("trouble is over", "part", partDisk)
	}
}

// readFirst sets d.first once the ledger has a promise. No promise is ever deleted, so the ledger,
// which it searches for that, is searched only until then.
func (d *Daemon) readFirst(ctx context.Context) error {
	if d.first != 0 {
		return nil
	}
	first, any, err := d.ledger.First(ctx)
	if any {
		d.first = first
	}
	return err
}
