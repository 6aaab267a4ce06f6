// Package keeper makes promises about jobs and keeps them.
//
// A reservation in varq is a promise about one job, and not a reservation of Slurm: the job
// starts by the time BeginBy with the probability asked for. BeginBy is the latest start
// (not Slurm's --deadline, which is a latest end). A plan says how the job has to be
// submitted so that the promise holds. A plan becomes a promise when it is written into the
// ledger. Or the promise is about the job's end: it ends by the time FinishBy (completion.go). The reservation is the promise together with its job, and the ledger has one
// entry for each reservation.
//
// The life of a reservation:
//   - Plan writes the promise into the ledger. The user submits a job with the plan's
//     begin time, time limit and comment.
//   - Watch finds the job in the queue by its comment and binds it: it records in the
//     ledger that the promise is about this job. A user may also bind a job with Bind.
//   - Watch revises the job while it is pending: it plans the reservation again with the
//     present forecast, and changes the job's begin time and time limit if that is better.
//   - The job may start early. Its nodes then idle until HoldUntil, when its work begins.
//     If the job starts after HoldUntil, its work begins at once.
//   - Watch or ObserveAccounting settles the reservation when the job has ended: the promise
//     was kept or missed, or is cancelled.
//
// A crash of varqd loses only what memory.go holds. Everything else that decides about a
// reservation is in the ledger or in Slurm. Times are Unix seconds and durations seconds.
package keeper

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/negotiate"
	"github.com/varq-project/varq/predictor/promise/policy"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Slurm is how the keeper reads Slurm and changes jobs. Any call may return
// slurm.ErrUnavailable.
type Slurm interface {
	// Job returns a pending or running job, or slurm.ErrNotFound.
	Job(ctx context.Context, id int64) (slurm.QueueEntry, error)
	// Update changes a job. It may make a part of the change and refuse the rest.
	Update(ctx context.Context, u slurm.Update) error
	// Cancel ends a job. It returns slurm.ErrNotFound if the job is not in the queue.
	Cancel(ctx context.Context, job int64) error
	// Accounted returns the runs of a job that are in accounting, oldest submission
	// first. A job has several runs if it was requeued.
	Accounted(ctx context.Context, job int64) ([]workload.Job, error)
	// AccountedAll is Accounted for many jobs in one request, by their ids.
	AccountedAll(ctx context.Context, jobs []int64) (map[int64][]workload.Job, error)
	// Cluster returns the limits of partitions, associations and QOS, and the
	// reservations of Slurm itself.
	Cluster(ctx context.Context) (limits.Cluster, error)
	// Nodes returns all nodes.
	Nodes(ctx context.Context) ([]slurm.Node, error)
	// Operators returns the users who may see and change the jobs of all users.
	Operators(ctx context.Context) ([]string, error)
}

// Outlook forecasts waits. It learns from the jobs of the past.
type Outlook interface {
	trajectory.Forecaster
	// Predict forecasts the wait of a job like r that is submitted now. If job is not 0, that is a job that waits
	// already, and is not ahead of itself. It reports
	// false if it knows nothing. If an outage is the reason, the answer's Down says so.
	Predict(r workload.Request, job int64) (forecast.Answer, bool)
	// Downey is Predict by Downey's predictors, without lower bounds.
	Downey(r workload.Request) (forecast.Answer, bool)
	// Room returns a function that bounds the probability that the work of a claim on a partition runs from its From
	// on, beside the jobs that run now and other claims, or tells that it is below least. The job of an id, if it is not
	// 0, is not in its own way. One goroutine may use the function.
	Room(partition string, job, now int64, others []workload.Claim) func(c workload.Claim, least float64) workload.Room
	// Wait forecasts what is left of the wait of a job that has waited for some seconds, or would
	// wait if it were submitted now. It reports false if too little is known; a.Down may then say
	// why.
	Wait(q *forecast.Question, waited int64, a *forecast.Answer) bool
	// Prospect forecasts the end of a job from the forecast of its wait. It reports false if
	// nothing is known yet.
	Prospect(q *forecast.Question, c completion.Circumstances, wait *delay.Distribution) (negotiate.Prospect, bool)
	// Rest forecasts the end of a job that has run for age seconds. It reports false if nothing is
	// known yet.
	Rest(q *forecast.Question, age int64, c completion.Circumstances) (negotiate.Prospect, bool)
	// Promise takes in that a pending job is promised a start by deadline, and that it
	// becomes eligible at begin. When the job starts, the forecasters compare the start
	// with their forecast for begin as of the first call for this job and begin. holds
	// is false if the present forecast is below the probability promised. Then the
	// forecast of an earlier call for this job, if there was one, stays in use.
	Promise(job int64, r workload.Request, begin, deadline int64, holds bool)
	// Queue returns how many jobs wait and how many run.
	Queue() (waiting, running int)
	// Jobs yields these jobs, and those that become eligible later. The Start of one that waits is
	// 0. They must not be changed, nor kept.
	Jobs(yield func(*workload.Job) bool)
	// Seen returns a time: Jobs yields the jobs that were submitted before it.
	Seen() int64
	// ObserveCluster takes in the state of partitions and nodes.
	ObserveCluster(c *limits.Cluster, nodes []slurm.Node)
	// Ready returns nil once the past is loaded. Before, its error says how much is.
	Ready() error
	// Learning reports whether the answers rest on the newest part of the past only, because the rest is still being learnt.
	Learning() bool
	// Covered returns a time: all jobs that ended before it are known.
	Covered() int64
}

// Options configure a Keeper.
type Options struct {
	Ledger  *ledger.Ledger
	Slurm   Slurm
	Outlook Outlook
	// Health tells of nodes that fail; nil if nothing does.
	Health Health
	// Site is how the cluster compares with others.
	Site Site
	// Idle tells how many nodes were idle; nil if nothing does.
	Idle Idle
	// Homes are those of groups of promises; nil if there are none.
	Homes Homes
	// RiskyNodes is api.RiskyAvoid or api.RiskyAllow, for requests that do not say.
	RiskyNodes string
	// Now is the clock, in Unix seconds.
	Now func() int64
	// Zone is the site's time zone. Events name times in this zone, and reports are
	// grouped by its months.
	Zone *time.Location
	// Prob is the default probability, when the request names none.
	Prob float64
	// Confidence is the confidence level of Outlook's lower bounds on probabilities.
	Confidence float64
	// Shadow is true if the keeper makes no promises and changes no job.
	Shadow bool
	// Policy has the site's rules.
	Policy policy.Rules
	// Horizon is how long before BeginBy a job may become eligible.
	Horizon int64
	// MaxHold bounds how long a job's nodes may idle before its work, as a multiple of
	// the work's time limit. An hour is always allowed. 0 means no bound.
	MaxHold float64
	// Stale is the greatest age of the last Refresh. While the last Refresh is older, no
	// promise is made and no job is revised.
	Stale int64
	// Grace is how long after its begin time a plan without a job expires.
	Grace int64
	// Tell, if not nil, is told of what a user should know. It must not wait.
	Tell    func(api.Notice)
	Log     *slog.Logger
	Metrics *Metrics
}

// Keeper makes and keeps promises. Its methods may be called concurrently.
type Keeper struct {
	Options
	cluster atomic.Pointer[clusterState] // as of the last Refresh; nil before the first
	memory  memory
	// looked is when the queue was read that Watch was last given whole: it has bound the jobs in
	// it.
	looked atomic.Int64
	// plain are the claims of the plain jobs that are eligible later, as of the last Watch.
	plain atomic.Pointer[[]workload.Claim]

	// acting is a mutex for open reservations that lock can wait for with a context. It
	// is locked while it contains a value.
	acting chan struct{}
	// granting is the same for what adds to the open reservations: see startGranting.
	granting chan struct{}
}

// New returns a Keeper. The Keeper promises nothing before Refresh has succeeded.
func New(o Options) *Keeper {
	o.Site = o.Site.withDefaults()
	return &Keeper{Options: o, memory: newMemory(), acting: make(chan struct{}, 1), granting: make(chan struct{}, 1)}
}

// lock waits until no other goroutine acts on open reservations.
func (k *Keeper) lock(ctx context.Context) error {
	select {
	case k.acting <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *Keeper) unlock() { <-k.acting }
