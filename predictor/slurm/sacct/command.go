package sacct

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Command reads past jobs by running sacct. It is an
// ingest.Source. The zero value runs the sacct on the PATH; as an
// operator or root it sees every user's jobs.
type Command struct {
	Path string   // of sacct, "sacct" if empty
	Env  []string // added to the environment, SLURM_CONF=... for instance
}

// windows: sacct reads 100,000 jobs in seconds, but keeps all of them in memory.
var windows = slurm.Windows{First: 24 * 3600, Min: 60, Max: 30 * 24 * 3600, Target: 50_000}

// History implements ingest.Source.
func (c *Command) History(ctx context.Context, from, to int64, progress func(slurm.Progress)) iter.Seq2[workload.Job, error] {
	return windows.History(ctx, from, to, progress, c.window)
}

// window runs sacct once.
func (c *Command) window(ctx context.Context, from, to int64) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		path := c.Path
		if path == "" {
			path = "sacct"
		}
		cmd := exec.CommandContext(ctx, path, "--allusers", "--allocations", "--duplicates", "--parsable2",
			"--format="+strings.Join(Fields, ","), "--starttime=uts"+strconv.FormatInt(from, 10), "--endtime=uts"+strconv.FormatInt(to, 10))
		cmd.Env = append(append(os.Environ(), c.Env...), "SLURM_TIME_FORMAT=%s")
		cmd.WaitDelay = time.Second
		var stderr bytes.Buffer
		cmd.Stderr = &limitedWriter{w: &stderr, left: 4 << 10}
		stdout, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			yield(workload.Job{}, fmt.Errorf("%w: %w", slurm.ErrUnavailable, err))
			return
		}
		var parseErr error
		for job, err := range Read("output", stdout, time.UTC) {
			if err != nil {
				parseErr = err
				break
			}
			if job.Partition == "" {
				continue // slurmdbd has heard of its end, but not yet of its start
			}
			if !yield(job, nil) {
				cancel()
				_ = cmd.Wait()
				return
			}
		}
		_, _ = io.Copy(io.Discard, stdout)
		// A failure of sacct itself tells more than what it left unsaid.
		if err := cmd.Wait(); err != nil {
			yield(workload.Job{}, fmt.Errorf("%w: sacct: %w: %s", slurm.ErrUnavailable, err, strings.TrimSpace(stderr.String())))
		} else if parseErr != nil {
			yield(workload.Job{}, parseErr)
		}
	}
}

// limitedWriter keeps the first bytes and drops the rest.
type limitedWriter struct {
	w    io.Writer
	left int
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	keep := p[:min(len(p), l.left)]
	l.left -= len(keep)
	if _, err := l.w.Write(keep); err != nil {
		return 0, err
	}
	return len(p), nil
}
