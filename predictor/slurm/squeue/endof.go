package squeue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/slurm/program"
)

// EndOf begins the name of a time: that at which the time limit of a job ends which runs now.
const EndOf = "end-of:"

// patience is for how long squeue may take to tell of one job.
const patience = 10 * time.Second

// EndOf returns when the time limit of a job ends, Unix seconds. text is the job as Slurm names it:
// a number, or a task of an array. The error is for the user.
func (c *Command) EndOf(text string) (int64, error) {
	number, task, _ := strings.Cut(text, "_")
	for i, part := range []string{number, task} {
		if id, err := strconv.ParseInt(part, 10, 64); (err != nil || id < 0) && (i == 0 || part != "") {
			return 0, fmt.Errorf("%s%.40s: %.40q is not a job id", EndOf, text, text)
		}
	}
	ctx, done := context.WithTimeout(context.Background(), patience)
	defer done()
	run := c.Run
	if run == nil {
		run = program.Output
	}
	out, err := run(ctx, cmp.Or(c.Path, "squeue"), slices.Concat(c.Env, environment), "--all", "--local", "--noheader", "--states=PENDING,RUNNING,SUSPENDED", "--format=%e", "--jobs="+text)
	said := strings.TrimSpace(string(out))
	at, unread := strconv.ParseInt(said, 10, 64)
	switch {
	case err != nil && strings.Contains(err.Error(), "Invalid job id"), err == nil && said == "":
		return 0, fmt.Errorf("%s%s: job %s neither waits nor runs, or is not yours to see", EndOf, text, text)
	case err != nil:
		return 0, err
	case strings.Contains(said, "\n"):
		return 0, fmt.Errorf("%s%s: these are several jobs: name one task of the array, as %s_0", EndOf, text, number)
	case unread != nil:
		return 0, fmt.Errorf("%s%s: when the time limit of job %s ends is not known, as it has not started or has no limit: ask again once it runs, or let the job wait for it (--dependency=afterany:%s)", EndOf, text, text, text)
	}
	return at, nil
}
