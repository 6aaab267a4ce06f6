package desk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Latecomer is for how many seconds after the end of the command that submits it a job may still
// appear in the queue for the first time. A command gives up when slurmctld does not answer in
// time, and slurmctld may accept the job nevertheless.
const Latecomer = 10

// boundUntil returns a time: the jobs of promises that were made until then are bound, if they were
// submitted.
func (d *Desk) boundUntil() int64 { return d.looked.Load() - Latecomer }

// mayPromise returns a refusal if user gets no promise because too many of her promises have no
// job. The error is as of unread.
func (d *Desk) mayPromise(ctx context.Context, user string) (*api.Refusal, error) {
	err := d.Ledger.MayPromise(ctx, user, d.Now(), d.boundUntil())
	no := hoards(err)
	if no == nil && err != nil {
		return nil, d.unread(ctx, err)
	}
	return no, nil
}

// hoards returns the refusal that an error of the ledger stands for, or nil for any other error.
func hoards(err error) *api.Refusal {
	var vain ledger.InVainError
	switch {
	case errors.As(err, &vain):
		return &api.Refusal{Reason: fmt.Sprintf("your last promises kept room from others for %d minutes or more of the last hour, and no job took them up; ask again after %s, or submit the job without varq's options, to see whether Slurm refuses it",
			ledger.MaxInVain/60, slurmtime.Stamp(vain.Until, time.UTC))}
	case errors.Is(err, ledger.ErrUnclaimed):
		return &api.Refusal{Reason: fmt.Sprintf("you have %d reservations that no job has taken up, and nobody gets more at once; submit their jobs, or wait until their time is over (varq status --state=PROMISED lists them)", ledger.MaxUnclaimed)}
	}
	return nil
}
