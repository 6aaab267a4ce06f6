package broker

import (
	"context"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// Site is a cluster where the job may run.
type Site interface {
	Name() string
	// Probe asks the site for slots.
	Probe(ctx context.Context, r api.ProbeRequest) (api.ProbeAnswer, error)
	// Submit submits the job for a slot, with a promise that must be confirmed within so many
	// seconds. A failure may leave a promise, or a job.
	Submit(ctx context.Context, slot *api.Slot, tentative int64) (sbatch.Submission, error)
	// Confirm and Release confirm a tentative promise, or take it back. Both may be repeated.
	Confirm(ctx context.Context, c api.Confirmation) error
	Release(ctx context.Context, plan string) error
	// Cancel cancels the job of a tentative promise by the site's Slurm, without its varqd, unless
	// it has started, and returns whether it has. After an error nobody knows.
	Cancel(ctx context.Context, plan *api.Plan, job int64) (started bool, err error)
}
