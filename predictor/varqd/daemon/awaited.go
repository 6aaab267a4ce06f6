package daemon

import (
	"context"

	"github.com/varq-project/varq/predictor/api"
)

// awaited marks the context of a request for which a user's command waits. What Slurm is asked for
// it makes no debt: varqd cannot put it off, and does not look at the queue less often because many
// jobs are submitted.
type awaited struct{}

func isAwaited(ctx context.Context) bool { return ctx.Value(awaited{}) != nil }

// Bind implements server.Service. sbatch waits for it.
func (s service) Bind(ctx context.Context, user string, b api.Binding) error {
	return s.Keeper.Bind(context.WithValue(ctx, awaited{}, true), user, b)
}
