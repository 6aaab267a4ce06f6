package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/varq-project/varq/predictor/slurm"
)

// watched is the Slurm that the keeper uses. It notices when Slurm does not let varqd change
// the jobs of others, which is a problem of partRights until Slurm says otherwise.
type watched struct {
	Slurm
	// whom Slurm takes varqd for, or "" if the operators that were read do not tell what it may
	user     func() string
	problems *problems
	log      *slog.Logger
}

// Operators implements premises.Slurm.
func (w watched) Operators(ctx context.Context) ([]string, error) {
	operators, err := w.Slurm.Operators(ctx)
	user := w.user()
	switch {
	case err != nil:
	case user == "" || user == "root" || slices.Contains(operators, user):
		if w.problems.clear(partRights) {
			w.log.Info("trouble is over", "part", partRights)
		}
	default:
		w.lack(errors.New("it has not the rights of an operator"))
	}
	return operators, err
}

// Update implements keeper.Slurm. That varqd may not act as the jobs' owners is not a problem: the
// keeper does without.
func (w watched) Update(ctx context.Context, u slurm.Update) error {
	err := w.Slurm.Update(ctx, u)
	if u.Owner == "" && errors.Is(err, slurm.ErrPermission) {
		w.lack(err)
	}
	return err
}

// lack notes why varqd may not change the jobs of others.
func (w watched) lack(why error) {
	user := cmp.Or(w.user(), "varqd's user")
	w.problems.set(partRights, fmt.Errorf("Slurm does not let %s change jobs: %w: 'sacctmgr modify user %[1]s set adminlevel=operator' gives it the right", user, why))
}
