// Package keeper keeps the promises about jobs that package desk has made.
//
// A reservation in varq is a promise about one job, and not a reservation of Slurm. The job starts
// by the time BeginBy with the probability asked for. BeginBy is the latest start (not Slurm's
// --deadline, which is a latest end). Or the promise is about the job's end: the job ends by the
// time FinishBy (completion.go). A plan says how the job has to be submitted so that the promise
// holds. A plan becomes a promise when it is written into the ledger. The reservation is the
// promise together with its job, and the ledger has one entry for each reservation.
//
// The life of a reservation:
//   - The desk writes the promise into the ledger. The user submits a job with the plan's begin
//     time, time limit and comment.
//   - Watch finds the job in the queue by its comment and binds it: it records in the ledger that
//     the promise is about this job. A user may also bind a job with Bind.
//   - Watch revises the job while it is pending: it plans the reservation again with the present
//     forecast, and changes the job's begin time and time limit if that is better.
//   - The job may start early. Its nodes then idle until HoldUntil, when its work begins. If the
//     job starts after HoldUntil, its work begins at once.
//   - Watch or ObserveAccounting settles the reservation when the job has ended: the promise was
//     kept or missed, or is cancelled.
//
// A crash of varqd loses only what memory.go and homes.go have. Everything else that decides about
// a reservation is in the ledger or in Slurm. Times are Unix seconds, durations are seconds.
package keeper

import (
	"context"
	"log/slog"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/desk"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Slurm is how the keeper reads and changes jobs. Any call may return slurm.ErrUnavailable.
type Slurm interface {
	// Job returns a pending or running job, or slurm.ErrNotFound.
	Job(ctx context.Context, id int64) (slurm.QueueEntry, error)
	// Update changes a job. It may make a part of the change and refuse the rest.
	Update(ctx context.Context, u slurm.Update) error
	// Cancel ends a job. It returns slurm.ErrNotFound if the job is not in the queue.
	Cancel(ctx context.Context, job int64) error
	// Ended returns a job that slurmctld still shows after its end, or slurm.ErrNotFound.
	Ended(ctx context.Context, job int64) (workload.Job, error)
	// Accounted returns the runs of a job that are in accounting, oldest submission
	// first. A job has several runs if it was requeued.
	Accounted(ctx context.Context, job int64) ([]workload.Job, error)
	// AccountedAll is Accounted for many jobs in one request, by their ids.
	AccountedAll(ctx context.Context, jobs []int64) (map[int64][]workload.Job, error)
}

// Outlook learns from the outcomes of promises, and knows how much of the past has been read.
type Outlook interface {
	// Promise takes in that a pending job is promised a start by deadline, and that it becomes
	// eligible at begin. When the job starts, the forecasters compare the start with their forecast
	// for begin as of the first call for this job and begin. holds is false if the present forecast
	// is below the probability promised. Then the forecast of an earlier call for this job, if
	// there was one, stays in use.
	Promise(job int64, tasks int32, r workload.Request, begin, deadline int64, holds bool)
	// Learning reports whether forecasts rest only on the newest part of the past, because the rest
	// is still being learnt.
	Learning() bool
	// Covered returns a time: all jobs that ended before it are known.
	Covered() int64
}

// Health reports nodes that have failed.
type Health interface {
	// Lost returns the nodes in the list that are down or do not respond.
	Lost(nodes []string) []string
}

// Options configure a Keeper.
type Options struct {
	// Desk has made the promises, and plans them again. In its shadow mode no job is changed.
	Desk    *desk.Desk
	Ledger  *ledger.Ledger
	Slurm   Slurm
	Outlook Outlook
	// Health reports nodes that have failed. It may be nil.
	Health Health
	// Homes asks the homes of groups of promises. It is nil if there are none.
	Homes Homes
	// Now is the clock, in Unix seconds.
	Now func() int64
	// Zone is the site's time zone. Events name times in this zone.
	Zone *time.Location
	// Grace is the number of seconds after its begin time, and after the promise, after which a
	// plan without a job expires.
	Grace int64
	// Settle is for how many seconds a job stays where it was submitted, or was moved to, unless a
	// move reaches its promise: so that a forecast that wavers does not move it to and fro.
	Settle int64
	// Tell, if not nil, receives the notices for users. It must not wait.
	Tell    func(api.Notice)
	Log     *slog.Logger
	Metrics *Metrics
}

// Keeper keeps promises. Its methods may be called concurrently.
type Keeper struct {
	*reservations
	members
	reviser
	follower
	settler
}

// New returns a Keeper.
func New(o Options) *Keeper {
	open := &reservations{Options: o, memory: newMemory(), acting: make(chan struct{}, 1)}
	homes := newHomesState()
	return &Keeper{
		reservations: open,
		members:      members{open, homes},
		reviser:      reviser{open},
		follower:     follower{open},
		settler:      settler{open, homes},
	}
}

// reservations are the open reservations: their entries in the ledger, and the keeper's memory of
// them.
type reservations struct {
	Options
	memory memory
	// acting is a mutex for open reservations. lock can wait for it with a context. It is locked
	// while it contains a value.
	acting chan struct{}
}

// The roles of a Keeper. No role uses another.
type (
	// members asks the homes of groups whether the work of jobs here may begin, and reports to them
	// what became of the jobs.
	members struct {
		*reservations
		homes *homesState
	}
	// reviser plans waiting jobs again, and moves them.
	reviser struct{ *reservations }
	// follower notes what becomes of jobs that are late, that have started, or whose end was
	// promised.
	follower struct{ *reservations }
	// settler closes the reservations of jobs that have ended, by accounting.
	settler struct {
		*reservations
		homes *homesState
	}
)

// lock waits until no other goroutine acts on open reservations.
func (k *reservations) lock(ctx context.Context) error {
	select {
	case k.acting <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *reservations) unlock() { <-k.acting }

// newChange returns a change of e that is observed now.
func (k *reservations) newChange(e *ledger.Entry, now int64) *course.Change {
	return course.New(e, now, k.Zone)
}

// record writes c into the ledger and into e. It writes nothing if nothing is new.
func (k *reservations) record(ctx context.Context, e *ledger.Entry, c *course.Change) error {
	if c.Progress == e.Progress && len(c.Events) == 0 {
		return nil
	}
	if err := k.Ledger.Record(ctx, e.ID, c.Progress, c.Events...); err != nil {
		return err
	}
	for _, event := range c.Events {
		k.Log.Info(event.Text, "plan", e.ID, "job", e.Job, "kind", event.Kind)
	}
	e.Progress, c.Events = c.Progress, nil
	return nil
}
