// Package ingest has a model observe what happens in a cluster. It reads the past from
// accounting, through a cache on disk, and follows the present by snapshots of the queue
// and by what accounting adds. Times are Unix seconds.
//
// A model observes events in the order of time, and each once. When the queue or
// accounting was out of reach for so long that this is no longer possible, a new model
// learns everything that is known and takes the place of the old one.
package ingest

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/live/history"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

const (
	// overlap is how far back accounting is read again each time, in seconds. It may
	// learn of a job's end that much later.
	overlap = 600
	// maxGap is how many seconds may pass between two snapshots, or two readings of
	// accounting, before a new model is needed.
	maxGap = 3600
	// maxJobs is how many past jobs a model learns: those that started last.
	maxJobs = 50_000
)

// day in seconds.
const day = 86400

// Source reads past jobs.
type Source interface {
	// History yields the jobs that started or ended in [from, to), Unix
	// seconds, and perhaps others that overlap it: window by window, in no
	// order within one. A job that was still running when it was first read
	// comes again, with its end, when a later interval is read; (ID, Submit)
	// identifies it, since every requeue is a job of its own. After each
	// window progress, if not nil, is called with how far the history is
	// complete. Reading may be resumed from there, less the seconds by which
	// Slurm's accounting lags. The first error ends the sequence.
	History(ctx context.Context, from, to int64, progress func(slurm.Progress)) iter.Seq2[workload.Job, error]
}

// Options configure an Ingest.
type Options struct {
	Cache  *history.History
	Source Source
	// NewModel returns a model that knows nothing but the machines, which are nil if none
	// is known.
	NewModel func(twin.Machines) Model
	// Days is how many days of the past are kept.
	Days int
	// Accounted, if not nil, gets the jobs of accounting before they count as read. If
	// it fails they are read again.
	Accounted func(ctx context.Context, jobs []workload.Job) error
	Now       func() int64
	Log       *slog.Logger
}

// Ingest has a model observe a cluster. Load and CatchUp are called one after the other
// by one goroutine. Every other method may be called at any time.
type Ingest struct {
	Options

	tracker atomic.Pointer[tracker] // of the model that serves, nil until Load is done

	mu       sync.Mutex // guards what follows, and is held while the model observes
	last     *snapshot
	machines machines
	outages  outages
	gap      bool // a new model is needed, and the old one does not observe accounting

	// While a new model learns, meanwhile collects the starts that it does not learn.
	rebuilding bool
	meanwhile  []workload.Job

	percent atomic.Int64 // of Load
	covered atomic.Int64
}

// New returns an Ingest that knows nothing yet.
func New(o Options) *Ingest { return &Ingest{Options: o} }

// Ready returns nil once Load is done, and before an error that says how far it is.
func (g *Ingest) Ready() error {
	if g.tracker.Load() != nil {
		return nil
	}
	return fmt.Errorf("varqd is still loading history: %d%%", g.percent.Load())
}

// Covered returns the time up to which all jobs that have ended are known.
func (g *Ingest) Covered() int64 { return g.covered.Load() }

// ObserveQueue takes in a snapshot of the queue at a time. The model observes what has
// changed since the one before.
func (g *Ingest) ObserveQueue(ctx context.Context, queue []slurm.QueueEntry, at int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &snapshot{queue, at}
	t := g.tracker.Load()
	if t == nil {
		g.last = s
		return nil
	}
	started, err := g.Cache.Add(ctx, t.unseen(s), nil)
	if err != nil {
		return err
	}
	g.gap = g.gap || g.last != nil && at-g.last.at > maxGap
	g.last = s
	if g.rebuilding {
		g.meanwhile = append(g.meanwhile, started...)
	}
	t.snapshot(s, runsOf(started))
	return nil
}
