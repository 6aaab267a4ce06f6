package daemon

import (
	"context"
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurm"
)

// clocksApart is the greatest difference between Slurm's clock and varqd's, in seconds, at which
// a job of the ledger's first promise does not count as older than the ledger.
const clocksApart = 300

// checkLedger notes as a problem that jobs in the queue were promised something before the
// ledger's first promise: then it is not the ledger that they were promised by. That users
// write varq's comments themselves does not look like that.
func (d *Daemon) checkLedger(ctx context.Context, queue []slurm.QueueEntry) error {
	plans := map[string]int64{} // by plan, the submission of a job whose comment names it
	for i := range queue {
		if plan, ok := api.PlanInComment(queue[i].Comment); ok {
			plans[plan] = queue[i].Submit
		}
	}
	lost := 0
	if len(plans) > 0 {
		first, any, err := d.ledger.First(ctx)
		if err != nil {
			return err
		}
		for _, submit := range plans {
			if !any || submit < first-clocksApart {
				lost++
			}
		}
	}
	if lost == 0 {
		d.problems.clear(partLedger)
		return nil
	}
	err := fmt.Errorf("%s does not know the promises of %d jobs in the queue, and was begun after them: was it removed? "+
		"What those jobs were promised is neither kept nor counted until it is restored", d.config.Ledger.Path, lost)
	if d.problems.set(partLedger, err) {
		d.log.Error("trouble", "part", partLedger, "error", err)
	}
	return nil
}
