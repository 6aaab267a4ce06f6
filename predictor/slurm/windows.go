package slurm

import (
	"context"
	"errors"
	"iter"

	"github.com/varq-project/varq/predictor/workload"
)

// ErrTooMuch is the error of an answer that is too long or takes too long. A request for a
// shorter window may succeed.
var ErrTooMuch = errors.New("too much at once")

// Windows reads a history in time windows. Slurm's accounting returns the jobs of a query
// in one answer, and fails if there are too many.
type Windows struct {
	First    int64 // length of the first window, seconds
	Min, Max int64 // bounds of a window's length, seconds
	Target   int   // jobs in a window
}

// History implements ingest.Source. It calls read for the jobs of each window. The number
// of rows of a window determines the length of the next. A window that fails with
// ErrTooMuch is read again, shorter. History yields a job that overlaps several windows
// once, and leaves out jobs that have neither started nor ended.
func (w Windows) History(ctx context.Context, from, to int64, progress func(Progress),
	read func(ctx context.Context, from, to int64) iter.Seq2[workload.Job, error],
) iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		seen := make(map[jobKey]int64) // the end of each, which may be 0
		length, jobs := w.First, 0
		for at := from; at < to; {
			end := min(at+length, to)
			rows := 0
			err := func() error {
				for job, err := range read(ctx, at, end) {
					if err != nil {
						return err
					}
					rows++
					key := jobKey{job.ID, job.Submit}
					if _, again := seen[key]; again || !started(&job) {
						continue
					}
					seen[key] = job.End
					jobs++
					if !yield(job, nil) {
						return errStopped
					}
				}
				return ctx.Err()
			}()
			switch {
			case errors.Is(err, errStopped):
				return
			case errors.Is(err, ErrTooMuch) && end-at > w.Min && ctx.Err() == nil:
				length = max(w.Min, (end-at)/4)
				continue
			case err != nil:
				yield(workload.Job{}, err)
				return
			}
			for key, jobEnd := range seen {
				if jobEnd != 0 && jobEnd < end {
					delete(seen, key)
				}
			}
			at = end
			if progress != nil {
				progress(Progress{From: from, To: to, Complete: at, Jobs: jobs})
			}
			length = w.next(length, rows)
		}
	}
}

var errStopped = errors.New("stopped by the caller")

// jobKey identifies a job. The id is not enough: Slurm uses ids again, and a requeued job
// keeps its id.
type jobKey struct{ id, submit int64 }

func started(job *workload.Job) bool { return job.Start != 0 || job.State.Finished() }

// next returns the length of the next window, after a window with this length and this
// number of rows. It differs from length by at most a factor of four.
func (w Windows) next(length int64, rows int) int64 {
	wanted := float64(length) * float64(w.Target) / float64(max(rows, 1))
	wanted = min(max(wanted, float64(length)/4), float64(length)*4)
	return min(max(int64(wanted), w.Min), w.Max)
}
