package sacct

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/program"
	"github.com/varq-project/varq/predictor/workload"
)

// Command runs sacct. The zero value runs the one on the PATH.
type Command struct {
	Path string         // of sacct, "sacct" if empty
	Env  []string       // added to the environment, SLURM_CONF=... for instance
	Run  program.Runner // program.Output if nil
}

// windows are as long as most histories: slurmdbd answers for 100,000 jobs in some seconds. The
// first window that is too much is read again in quarters.
var windows = slurm.Windows{First: 366 * 86400, Min: 3600, Max: 366 * 86400, Target: 200_000}

// History implements ingest.Source, of the jobs that the user may see.
func (c *Command) History(ctx context.Context, from, to int64, progress func(slurm.Progress)) iter.Seq2[workload.Job, error] {
	return windows.History(ctx, from, to, progress, c.window)
}

// window yields the jobs of one window.
func (c *Command) window(ctx context.Context, from, to int64) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		run := c.Run
		if run == nil {
			run = program.Output
		}
		columns := append(slices.Clone(Fields), "Constraints", "Reason")
		at := func(seconds int64) string { return "uts" + strconv.FormatInt(seconds, 10) }
		out, err := run(ctx, cmp.Or(c.Path, "sacct"), slices.Concat(c.Env, []string{"SLURM_TIME_FORMAT=%s"}),
			"--allusers", "--allocations", "--duplicates", "--parsable2", "--delimiter="+separator, "--noconvert", "--starttime="+at(from), "--endtime="+at(to), "--format="+strings.Join(columns, ","))
		if err != nil {
			yield(workload.Job{}, err)
			return
		}
		for r, err := range Records("from "+strconv.FormatInt(from, 10), bytes.NewReader(out), time.Local) {
			if !yield(r.Job, err) || err != nil {
				return
			}
		}
	}
}
