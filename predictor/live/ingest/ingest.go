// Package ingest feeds what happens in a cluster to a model. It reads the past from
// accounting, through a cache on disk. It follows the present by snapshots of the queue
// and by what accounting adds. Times are Unix seconds.
//
// A model observes the events of one snapshot, or of one window of accounting, in the
// order of time. It observes each event at most once. If more than an hour passes between
// two snapshots, or two readings of accounting, a new model learns all that is known and
// replaces the old one.
package ingest

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/live/history"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

const (
	// overlap is how far back accounting is read again each time, in seconds. Accounting
	// may record the end of a job that much later.
	overlap = 600
	// maxGap is the most seconds between two snapshots, or two readings of accounting,
	// that a model can bridge.
	maxGap = 3600
	// maxJobs is the most past jobs that a model learns: those that started last.
	maxJobs = 50_000
	// soonJobs is the default of Options.Soon: a few seconds.
	soonJobs = 3000
)

// day in seconds.
const day = 86400

// Source reads past jobs.
type Source interface {
	// History yields the jobs that started or ended in [from, to), and perhaps others
	// that overlap it. It reads one window of time after the other, and yields the jobs
	// of one window in any order. After each window it calls progress, unless that is
	// nil, with the time up to which the history is complete. A later call may begin
	// there, less the seconds by which Slurm's accounting lags. The first error ends the
	// sequence.
	//
	// A job that still runs comes without an end. A later call yields it again, with its
	// end. ID and Submit together identify a job, since every requeue counts as another.
	History(ctx context.Context, from, to int64, progress func(slurm.Progress)) iter.Seq2[workload.Job, error]
}

// Options configure an Ingest.
type Options struct {
	Cache  *history.History
	Source Source
	// NewModel returns a model that knows nothing but the pools, which are nil if nothing
	// is known of nodes.
	NewModel func(twin.Pools) Model
	// Days is how many days of the past are kept.
	Days int
	// Soon is how many past jobs the first model learns, so that it soon answers: those that started
	// last. 0 stands for 3000.
	Soon int
	// OnAccounting, if not nil, is called with the jobs of each window of accounting
	// before the window counts as read. If it fails, the window is read again.
	OnAccounting func(ctx context.Context, jobs []workload.Job) error
	// OnStarts, if not nil, is told of jobs that have started.
	//
	// Invariant: it is told of a start at most once, also after a restart, because the cache's file
	// then has it. It is not told of the past that the first reading of accounting finds, nor while
	// the cache is in memory.
	OnStarts func(jobs []workload.Job)
	Now      func() int64
	Log      *slog.Logger
}

// Ingest feeds what happens in a cluster to a model. One goroutine calls Load and CatchUp.
// Every other method may be called at any time.
type Ingest struct {
	Options

	tracker atomic.Pointer[tracker] // of the model that serves, nil until Load is done

	mu      sync.Mutex // guards the fields below, and is held while the model observes
	last    *snapshot  // or nil
	shown   shown
	pools   pools
	order   order
	outages outages
	// gap says that more than maxGap has passed between two snapshots or two readings.
	// Until a new model serves, the old one does not observe accounting.
	gap bool
	// While a new model learns, meanwhile collects the jobs that start, and that the new
	// model does not learn.
	rebuilding bool
	meanwhile  []workload.Job

	percent atomic.Int64 // done of the present step: reading accounting at first, or learning
	covered atomic.Int64
	seen    atomic.Int64

	later atomic.Pointer[[]workload.Job] // of the last snapshot, or nil
}

// New returns an Ingest that knows nothing yet.
func New(o Options) *Ingest {
	o.Soon = cmp.Or(o.Soon, soonJobs)
	return &Ingest{Options: o, shown: shown{}}
}

// Ready returns nil once Load is done. Before that it returns an error that says how far
// the present step of Load is: reading accounting, then learning.
func (g *Ingest) Ready() error {
	if g.tracker.Load() != nil {
		return nil
	}
	return fmt.Errorf("%s (%d %%)", api.Loading, g.percent.Load())
}

// Learning reports whether the model that serves knows only the newest jobs of the past so far.
// CatchUp replaces it by one that knows more.
func (g *Ingest) Learning() bool {
	t := g.tracker.Load()
	return t != nil && t.learning
}

// Learnt returns the percentage that is done of what Load or CatchUp does: reading accounting for
// the first time, or learning.
func (g *Ingest) Learnt() int64 { return g.percent.Load() }

// Covered returns the time up to which accounting has been read, or 0 before Load is done.
// Every job that ended before then is known.
func (g *Ingest) Covered() int64 { return g.covered.Load() }

// Seen returns when the last snapshot was taken, or 0 before the first. The model and Later know
// every job that was submitted before and had not left the queue, unless it could not start then:
// it was held, or depended on another job.
func (g *Ingest) Seen() int64 { return g.seen.Load() }

// Pools returns what ObserveCluster has made of the nodes, or nil if nothing is known of them.
func (g *Ingest) Pools() twin.Pools {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pools.lookup()
}

// Later yields the jobs of the last snapshot whose begin time had not come. The model does not
// know them. They must not be changed, nor kept.
func (g *Ingest) Later(yield func(*workload.Job) bool) {
	later := g.later.Load()
	if later == nil {
		return
	}
	for i := range *later {
		if !yield(&(*later)[i]) {
			return
		}
	}
}

// ObserveQueue feeds to the model what has changed between the last snapshot of the queue
// and this one, which was taken at a time.
func (g *Ingest) ObserveQueue(ctx context.Context, queue []slurm.QueueEntry, at int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &snapshot{g.shown.observe(queue, &g.order, at), at}
	g.pools.fill(s.queue)
	later := s.later()
	g.later.Store(&later)
	t := g.tracker.Load()
	if t == nil {
		g.last = s
		g.seen.Store(at)
		return nil
	}
	started, err := g.Cache.Add(ctx, t.newRuns(s), nil)
	if err != nil {
		return err
	}
	g.tellStarts(started)
	g.gap = g.gap || g.last != nil && at-g.last.at > maxGap
	g.last = s
	if g.rebuilding {
		g.meanwhile = append(g.meanwhile, started...)
	}
	t.observeSnapshot(s, runsOf(started))
	g.seen.Store(at)
	return nil
}

// tellStarts tells OnStarts of jobs whose starts the cache did not know before. The cache has
// forgotten those that are older than it keeps jobs.
func (g *Ingest) tellStarts(started []workload.Job) {
	if g.OnStarts == nil || g.Cache.Unstored() != nil {
		return
	}
	since := g.Now() - int64(g.Days)*day
	recent := make([]workload.Job, 0, len(started))
	for i := range started {
		if started[i].Start >= since {
			recent = append(recent, started[i])
		}
	}
	if len(recent) > 0 {
		g.OnStarts(recent)
	}
}
