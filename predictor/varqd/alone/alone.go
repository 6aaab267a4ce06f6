// Package alone forecasts for one user of a cluster that has no varqd. A process of hers reads the
// queue and the past by Slurm's own commands, as far as Slurm lets her see them, learns from them,
// and answers her questions on a socket, as varqd does. It promises nothing, changes nothing, and
// ends when nothing has been asked for a while.
//
// It asks Slurm little: see Every, Kept and Apart. What it has read of the past is in a folder of
// hers, so that the next process begins where this one ends. Times are Unix seconds.
package alone

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/live/desk"
	"github.com/varq-project/varq/predictor/live/history"
	"github.com/varq-project/varq/predictor/live/ingest"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/live/outlook"
	"github.com/varq-project/varq/predictor/live/premises"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/workload"
)

// Slurm is what is read of a cluster.
type Slurm interface {
	premises.Slurm
	ingest.Source
	// Queue returns every pending and running job that the user may see, and when Slurm told. The
	// slice is the caller's to change.
	Queue(ctx context.Context) (queue []slurm.QueueEntry, at int64, err error)
}

const (
	// idle is after how many seconds without a question the process ends.
	idle = 3600
	// between is how many seconds pass from one look to the next while nothing is asked: few
	// enough for the model to follow.
	between = 600
	// stale is the greatest age of the cluster's nodes and limits, in seconds.
	stale = 3600
)

// Options configure a Forecaster.
type Options struct {
	Folder string // for the past, private to the user
	User   string
	Slurm  Slurm
	Now    func() int64
	Zone   *time.Location
	Log    *slog.Logger
}

// Forecaster answers the questions of one user. Its methods may be called concurrently.
type Forecaster struct {
	Options
	cache    *history.History
	why      string // the past is read again, after a colon, or ""
	outlook  *outlook.Outlook
	ingest   *ingest.Ingest
	premises *premises.Premises
	desk     *desk.Desk
	close    func() error
	asked    atomic.Int64 // when the last question came

	mu     sync.Mutex // held while the queue is read
	last   *look.Look // or nil
	looked int64      // when Slurm told of it, or 0

	said    sync.Mutex // guards what follows
	step    string     // what it does before it can answer
	problem error      // of the last attempt to read Slurm, or nil
	others  bool       // whether past jobs of other users are known, or nobody has looked yet
}

// ErrRunning is the error of New if another process forecasts for the user.
var ErrRunning = errors.New("another process of yours forecasts already, and does not answer here: end it, or set XDG_RUNTIME_DIR to what it was where that began; its number is in")

// New returns a Forecaster that knows nothing yet. Close closes its files.
func New(o Options) (_ *Forecaster, err error) {
	f := &Forecaster{Options: o, step: "begins", others: true}
	f.asked.Store(o.Now())
	var cleanups []func() error
	f.close = func() (err error) {
		for i := len(cleanups) - 1; i >= 0; i-- {
			err = errors.Join(err, cleanups[i]())
		}
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	path := pastOf(o.Folder)
	unlock, err := statefile.Lock(path)
	if errors.Is(err, statefile.ErrLocked) {
		err = fmt.Errorf("%w %s", ErrRunning, pidOf(o.Folder))
	}
	if err != nil {
		return nil, err
	}
	cleanups = append(cleanups, unlock)
	file, err := statefile.OpenMemory() // of no promises
	if err != nil {
		return nil, err
	}
	cleanups = append(cleanups, file.Close)
	var aside string
	if f.cache, aside, err = history.Open(path); err != nil {
		return nil, err
	}
	cleanups = append(cleanups, f.cache.Close)
	if aside != "" {
		f.why = ": what was known of past jobs cannot be read, and is now " + aside
		o.Log.Warn("the past is read again" + f.why)
	}
	site := config.Default()
	f.outlook = outlook.New(outlook.Options{Confidence: site.Forecast.Confidence, Now: o.Now})
	f.ingest = ingest.New(ingest.Options{
		Cache: f.cache, Source: placed{o.Slurm, f}, NewModel: func(pools twin.Pools) ingest.Model { return f.outlook.NewModel(pools) },
		Days: mostDays, Soon: soon, Now: o.Now, Log: o.Log,
	})
	f.premises = premises.New(premises.Options{
		Slurm: o.Slurm, Observe: f.ingest.ObserveCluster, Loaded: f.ready, Now: o.Now, Zone: o.Zone, Stale: stale,
	})
	f.desk = desk.New(desk.Options{
		Premises: f.premises, Ledger: ledger.New(file), Outlook: forecasts{f.outlook, f.ingest}, RiskyNodes: api.RiskyAllow, Now: o.Now, Zone: o.Zone,
		Prob: site.Plan.Prob, Confidence: site.Forecast.Confidence, Horizon: site.Plan.Horizon.Seconds(), MaxHold: site.Plan.MaxHold, Log: o.Log,
	})
	return f, nil
}

// Close closes the files.
func (f *Forecaster) Close() error { return f.close() }

// ready returns nil once the past is loaded. Before, its error says what is still being done.
func (f *Forecaster) ready() error {
	if f.ingest.Ready() == nil {
		return nil
	}
	f.said.Lock()
	defer f.said.Unlock()
	if f.problem != nil {
		return fmt.Errorf("your own forecasts have to wait: %w", f.problem)
	}
	return fmt.Errorf("your own forecasts have to wait: varq %s", f.step)
}

// say notes what is being done before a question can be answered: an earlier problem may be over.
func (f *Forecaster) say(format string, args ...any) {
	f.said.Lock()
	defer f.said.Unlock()
	f.step, f.problem = fmt.Sprintf(format, args...), nil
}

// note notes how the last attempt to read Slurm ended.
func (f *Forecaster) note(err error) error {
	f.said.Lock()
	defer f.said.Unlock()
	if f.problem = err; err != nil {
		f.Log.Warn("Slurm cannot be read", "error", err)
	}
	return err
}

// Health tells how much is known, and what keeps the user from knowing more. Before anything is
// known, its only note says what is being done.
func (f *Forecaster) Health() api.Health {
	h := api.Health{OK: true, Version: api.Version}
	h.History, h.Newest = f.outlook.StartsObserved()
	f.said.Lock()
	defer f.said.Unlock()
	switch {
	case f.ingest.Ready() == nil:
	case f.problem != nil:
		return api.Health{Problems: []string{f.problem.Error()}, Version: api.Version}
	default:
		return api.Health{Notes: []string{f.step}, Version: api.Version}
	}
	if f.problem != nil {
		h.Notes = append(h.Notes, f.problem.Error())
	}
	if err := f.cache.Unstored(); err != nil {
		h.Notes = append(h.Notes, fmt.Sprintf("what it knows of the past is in memory, and is asked for again once it has ended: %v", err))
	}
	if f.ingest.Learning() {
		h.Notes = append(h.Notes, fmt.Sprintf("it still learns from the past before: %d %%", f.ingest.Learnt()))
	}
	l := f.premises.Limits()
	if l != nil && l.PrivateNodes && !f.premises.Operator(f.User) {
		h.Notes = append(h.Notes, "Slurm shows you no nodes (PrivateData=nodes), so that the forecast does not know which of them are down, or how they differ")
	}
	if l != nil && l.PrivateJobs && !f.premises.Operator(f.User) {
		h.Notes = append(h.Notes, "squeue shows you no jobs but your own (PrivateData=jobs), so that the forecast does not know what goes before yours")
	}
	if !f.others {
		h.Notes = append(h.Notes, "accounting shows you no past jobs but your own, so that the forecast does not know how long others have waited")
	}
	return h
}

// forecasts is the desk.Outlook of a Forecaster.
type forecasts struct {
	*outlook.Outlook
	*ingest.Ingest
}

// Jobs implements desk.Outlook.
func (o forecasts) Jobs(yield func(*workload.Job) bool) {
	for _, jobs := range []iter.Seq[*workload.Job]{o.Outlook.Jobs, o.Later} {
		for j := range jobs {
			if !yield(j) {
				return
			}
		}
	}
}
