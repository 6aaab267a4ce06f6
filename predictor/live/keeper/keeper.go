// Package keeper makes promises and keeps them. It plans reservations and writes
// them into the ledger. It finds the job of each in Slurm's queue, changes that job
// while it is pending, and settles the reservation when the job has ended.
//
// The keeper has no state that a crash could lose: whatever decides about a
// reservation is in the ledger or in Slurm. It has no clock and no connection of its
// own either. Times are Unix seconds and durations seconds.
package keeper

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Slurm is the part of Slurm that the keeper asks, and that it changes. Any call may
// return slurm.ErrUnavailable.
type Slurm interface {
	// Job returns a pending or running job, or slurm.ErrNotFound.
	Job(ctx context.Context, id int64) (slurm.QueueEntry, error)
	// Update changes a job. It may carry out a part of the change and refuse another.
	Update(ctx context.Context, u slurm.Update) error
	// Cancel ends a job. A job that is not in the queue is slurm.ErrNotFound.
	Cancel(ctx context.Context, job int64) error
	// Accounted returns the runs of a job that accounting knows, oldest submission
	// first.
	Accounted(ctx context.Context, job int64) ([]workload.Job, error)
	// Cluster returns the limits of partitions, associations and QOS, and Slurm's own
	// reservations.
	Cluster(ctx context.Context) (limits.Cluster, error)
	// Nodes returns the nodes.
	Nodes(ctx context.Context) ([]slurm.Node, error)
	// Operators returns the users who may see and change the jobs of all users.
	Operators(ctx context.Context) ([]string, error)
}

// Past is the forecasters with the jobs they have learnt from.
type Past interface {
	trajectory.Forecaster
	// Predict forecasts the wait of a job like r that is submitted now. It reports
	// false when it knows nothing; the answer's Down says why if the cluster is down.
	Predict(r workload.Request) (forecast.Answer, bool)
	// Promise notes that a pending job has been promised a start by deadline on the
	// grounds of a forecast for its begin time. Holds is false once the forecast has
	// fallen below what was promised. To repeat a call changes nothing, except that a
	// new begin time stands for a new promise.
	Promise(job int64, r workload.Request, begin, deadline int64, holds bool)
	// Queue returns how many jobs wait and how many run.
	Queue() (waiting, running int)
	// Cluster takes in the state of partitions and nodes.
	Cluster(c *limits.Cluster, nodes []slurm.Node)
	// Ready returns nil once there is enough to plan with, and otherwise an
	// error that says how far loading is.
	Ready() error
	// Covered returns the time until which every job that has ended is known.
	Covered() int64
}

// Options configure a Keeper.
type Options struct {
	Ledger *ledger.Ledger
	Slurm  Slurm
	Past   Past
	// Now is the clock, in Unix seconds.
	Now func() int64
	// Zone is the site's: notes name times in it, and reports are grouped by its
	// months.
	Zone *time.Location
	// Prob is the success probability of a request that asks for none.
	Prob float64
	// Confidence is the level of Past's lower bounds on probabilities.
	Confidence float64
	// Horizon is how long before its deadline a job may become eligible.
	Horizon int64
	// MaxHold is how long a job may hold its nodes before its work, in time limits of
	// the work; 0 means no bound.
	MaxHold float64
	// Stale is the age from which on the last Refresh is too old to promise anything.
	Stale int64
	// Grace is how long after its deadline a plan without a job is closed.
	Grace   int64
	Log     *slog.Logger
	Metrics *Metrics
}

// Keeper makes and keeps promises. Its methods may be called at the same time.
type Keeper struct {
	Options
	cluster atomic.Pointer[cluster] // as of the last Refresh; nil before the first
	memory  memory

	// acting holds one value while open reservations are acted on: a lock that can be
	// waited for with a context.
	acting chan struct{}
}

// New returns a Keeper. It promises nothing before Refresh has succeeded.
func New(o Options) *Keeper {
	return &Keeper{Options: o, memory: newMemory(), acting: make(chan struct{}, 1)}
}

// lock waits for the right to act on open reservations.
func (k *Keeper) lock(ctx context.Context) error {
	select {
	case k.acting <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *Keeper) unlock() { <-k.acting }
