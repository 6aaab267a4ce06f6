// Package keeper makes promises and keeps them: it plans reservations, writes
// them into the ledger, finds their jobs in Slurm's queue, revises them while
// they are pending and settles them when they end. All that it must remember is
// in the ledger and in Slurm, so it goes on where it was after any crash. Time
// and Slurm are given to it. Times are Unix seconds and durations seconds.
package keeper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Slurm is what the keeper needs of Slurm.
type Slurm interface {
	// Job returns a job of the queue; one that is not there is
	// slurm.ErrNotFound.
	Job(ctx context.Context, id int64) (slurm.QueueEntry, error)
	// Update changes one job, Cancel ends it.
	Update(ctx context.Context, u slurm.Update) error
	Cancel(ctx context.Context, job int64) error
	// Accounted returns what accounting knows of a job, oldest submission first.
	Accounted(ctx context.Context, job int64) ([]workload.Job, error)
	// Cluster returns what the cluster forbids.
	Cluster(ctx context.Context) (limits.Cluster, error)
	// Nodes returns its nodes.
	Nodes(ctx context.Context) ([]slurm.Node, error)
	// Operators returns the users who may see and change everybody's jobs.
	Operators(ctx context.Context) ([]string, error)
}

// Past is what has been learnt from past jobs.
type Past interface {
	trajectory.Forecaster
	// Predict answers how long a job like r would wait if it were submitted now. It
	// reports false, with Down set where that is why, when it knows nothing.
	Predict(r workload.Request) (forecast.Answer, bool)
	// Promise tells that a job of which r is asked is promised a start because of what
	// is forecast of it at a begin time to come, or that it was and is moved as that no
	// longer holds. To tell it again changes nothing unless it begins at another.
	Promise(job int64, r workload.Request, begin, deadline int64, holds bool)
	// Queue is how many jobs wait and how many run.
	Queue() (waiting, running int)
	// Cluster takes in what Slurm says of partitions and nodes.
	Cluster(c *limits.Cluster, nodes []slurm.Node)
	// Ready returns nil once there is enough to plan with, and otherwise an
	// error that says how far loading is.
	Ready() error
	// Covered is the time up to which all jobs that have ended are known.
	Covered() int64
}

// Options configure a Keeper.
type Options struct {
	Ledger *ledger.Ledger
	Slurm  Slurm
	Past   Past
	// Now is the clock, in Unix seconds.
	Now func() int64
	// Zone is that of the site: of the times in notes, and of a report's months.
	Zone *time.Location
	// Prob is the success probability of those who ask for none.
	Prob float64
	// Confidence is the level of Past's probabilities.
	Confidence float64
	// Horizon is how long before its deadline a job may become eligible.
	Horizon int64
	// MaxHold is how long a job may hold its nodes before the work, in time limits.
	MaxHold float64
	// Stale is how old the picture of the cluster may be for a promise.
	Stale int64
	// Grace is how long after its deadline a plan without a job is closed.
	Grace   int64
	Log     *slog.Logger
	Metrics *Metrics
}

// Keeper makes and keeps promises. Plan, Predict, Bind, Reservations and Report
// may be called at the same time as one another and as one Watch.
type Keeper struct {
	Options
	picture atomic.Pointer[picture]

	// looking is full while somebody acts on what is in the queue.
	looking chan struct{}

	mu        sync.Mutex
	forecasts map[string]float64 // of pending reservations, by plan
	retry     map[string]int64   // when to try again what failed for a plan's job
	jobless   map[string]int     // open plans without a job, by user
}

// picture is what was last known of the cluster.
type picture struct {
	cluster   limits.Cluster
	operators []string
	at        int64
}

// New returns a Keeper. Refresh must have succeeded before it can promise
// anything.
func New(o Options) *Keeper {
	return &Keeper{Options: o, looking: make(chan struct{}, 1), forecasts: map[string]float64{}, retry: map[string]int64{}, jobless: map[string]int{}}
}

// Refresh looks at what the cluster allows. On failure the old picture stays.
func (k *Keeper) Refresh(ctx context.Context) error {
	cluster, err := k.Slurm.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("read the cluster's limits: %w", err)
	}
	nodes, err := k.Slurm.Nodes(ctx)
	if err != nil {
		return fmt.Errorf("read the cluster's nodes: %w", err)
	}
	operators, err := k.Slurm.Operators(ctx)
	if err != nil {
		return fmt.Errorf("read Slurm's operators: %w", err)
	}
	k.Past.Cluster(&cluster, nodes)
	k.picture.Store(&picture{cluster: cluster, operators: operators, at: k.Now()})
	return nil
}

// Ready returns nil when promises can be made, and otherwise why not.
func (k *Keeper) Ready() error {
	if err := k.Past.Ready(); err != nil {
		return err
	}
	p := k.picture.Load()
	if p == nil {
		return errors.New("varqd has not reached Slurm yet")
	}
	if age := k.Now() - p.at; age > k.Stale {
		return fmt.Errorf("varqd has not reached Slurm for %d minutes", age/60)
	}
	return nil
}

// planner returns a planner for the cluster as last seen, or an error for the
// user when that is not known well enough.
func (k *Keeper) planner() (*trajectory.Planner, error) {
	if err := k.Ready(); err != nil {
		return nil, api.Fault(api.ErrUnavailable, err.Error())
	}
	cluster := &k.picture.Load().cluster
	return &trajectory.Planner{
		Forecaster: k.Past, Cluster: cluster, Horizon: k.Horizon, MaxHold: k.MaxHold, Confidence: k.Confidence,
	}, nil
}

// seesAll reports whether user may see everybody's reservations.
func (k *Keeper) seesAll(user string) bool {
	if user == "root" {
		return true
	}
	p := k.picture.Load()
	return p != nil && slices.Contains(p.operators, user)
}

// lock waits for the right to act on open reservations.
func (k *Keeper) lock(ctx context.Context) error {
	select {
	case k.looking <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *Keeper) unlock() { <-k.looking }
