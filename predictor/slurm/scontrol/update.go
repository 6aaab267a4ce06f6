package scontrol

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Update changes one job with the rights of the caller's own user. It cannot act as u.Owner, which
// is slurm.ErrPermission, and does not change sizes, which is slurm.ErrRefused; nothing is changed
// then. What scontrol does not manage is slurm.ErrUnavailable.
func (c *Command) Update(ctx context.Context, u slurm.Update) error {
	switch {
	case u.Owner != "":
		return fmt.Errorf("change job %d as %s: scontrol acts as its own user: %w", u.Job, u.Owner, slurm.ErrPermission)
	case u.Resize != nil:
		return fmt.Errorf("change the size of job %d by scontrol: %w", u.Job, slurm.ErrRefused)
	}
	args := []string{"update", "JobId=" + strconv.FormatInt(u.Job, 10)}
	if u.BeginTime != 0 {
		args = append(args, "StartTime=uts"+strconv.FormatInt(u.BeginTime, 10))
	}
	if u.TimeLimit != 0 {
		args = append(args, fmt.Sprintf("TimeLimit=%d", slurmtime.Minutes(u.TimeLimit)))
	}
	if u.Comment != nil {
		args = append(args, "Comment="+*u.Comment)
	}
	if len(args) == 2 {
		return nil
	}
	_, err := c.run(ctx, args...)
	if err != nil && strings.Contains(err.Error(), "Access/permission denied") {
		err = fmt.Errorf("%w: %w", slurm.ErrPermission, err)
	}
	return err
}
