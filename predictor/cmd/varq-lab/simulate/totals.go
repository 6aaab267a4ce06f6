package simulate

import (
	"sync"

	"github.com/varq-project/varq/predictor/cmd/varq-lab/progress"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/trial/scenario"
)

// done is the progress of a trial.
type done struct {
	part float64 // of the log, 0 to 1
	jobs int
}

// totals shows the progress of all trials of all rounds together.
type totals struct {
	meter  *progress.Meter
	effort float64 // of all trials
	mu     sync.Mutex
	of     map[*trial]done // those that have begun
}

func newTotals(meter *progress.Meter, rounds [][]*trial) *totals {
	t := &totals{meter: meter, of: make(map[*trial]done)}
	for _, trials := range rounds {
		for _, trial := range trials {
			t.effort += trial.effort()
		}
	}
	return t
}

func (t *totals) show(trial *trial, d done) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of[trial] = d
	var all done
	for trial, d := range t.of {
		all.part += d.part * trial.effort() / t.effort
		all.jobs += d.jobs
	}
	t.meter.Show(all.part, cli.Thousands(all.jobs)+" jobs")
}

// effort says roughly how long the trial takes for a job, in times of a trial without reservations.
// Without it the time left would be told far too short: the trials without forecasts end soon.
func (t *trial) effort() float64 {
	switch v := t.kind.VARQ; {
	case v == nil || v.Method == scenario.QBETS:
		return 1
	case v.TakeOffers:
		return 60
	default:
		return 20
	}
}
