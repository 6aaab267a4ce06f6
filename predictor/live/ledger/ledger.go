// Package ledger stores varq's promises. For each promise it has the plan, the job that the plan is
// bound to, the events, and the outcome. A promise is on disk before Promise returns. A promise
// that a job has taken up is never deleted, nor are its events. For other promises see Forget.
// Times are Unix seconds, durations are seconds.
package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/said"
)

// The errors of Bind.
var (
	ErrNoPlan   = errors.New("no such plan")
	ErrNotYours = errors.New("the plan is another user's")
	ErrBound    = errors.New("the plan has a job already")
	ErrJobTaken = errors.New("the job has a plan already")
	ErrClosed   = errors.New("the plan is settled")
	// ErrLapsed is returned if the plan no longer claims room for its job: others may have been
	// promised this room.
	ErrLapsed = errors.New("the plan was taken back, or was without a job for long")
)

// ErrTaken is the error of Withdraw for a plan that cannot be taken back, because it has a job or
// was confirmed.
var ErrTaken = errors.New("the plan was taken up")

// ErrWithdrawn is the error of Record for a promise that was taken back before it was confirmed.
var ErrWithdrawn = errors.New("the plan was taken back")

// Ledger is the ledger in a file. Its methods may be called concurrently.
type Ledger struct {
	db   *sqlitefile.File
	book book
}

// New returns the ledger in a file that statefile.Open has opened.
func New(file *sqlitefile.File) *Ledger { return &Ledger{db: file} }

// Entry is one promise in the ledger.
type Entry struct {
	api.Reservation
	Open     bool // not settled yet
	Progress Progress
	// Withdrawn is when the plan was taken back, or 0. A job may have appeared in the queue since.
	Withdrawn int64
	// Refused is a job that has named the plan but is promised nothing, or 0.
	Refused int64
	// TaskRuns are the tasks of an open promise's array that have started, by the time of that.
	TaskRuns []TaskRun
	// Run is the submit time of the run by which the promise was judged, or 0.
	Run int64
}

// Unconfirmed reports whether the promise is tentative and not yet confirmed.
func (e *Entry) Unconfirmed() bool { return e.Tentative != 0 && e.Progress.Confirmed == 0 }

// Progress is what the keeper has recorded of a plan's job.
type Progress struct {
	State  string // one of api's states before settlement
	Submit int64  // the job's submit time
	// BeginTime and TimeLimit are the job's begin time and time limit as varq last set them, or as
	// promised. WasBegin and WasLimit are the values before varq's last change. They differ from
	// BeginTime and TimeLimit until the queue has shown which part of the change Slurm has made.
	// When the ledger is restored from a backup, the changes since the backup are not known.
	// WasLimit is then 0 until the queue has shown the job.
	BeginTime, TimeLimit int64
	WasBegin, WasLimit   int64
	// Earliest is the ceiling on the cost of idle nodes to which the user has agreed last: varq
	// does not let the job become eligible before this time.
	Earliest int64
	// Name is the job's name when the queue showed it last.
	Name string
	// Asks is what the job asked for when the queue showed it last, as text of course.Asks.
	Asks string
	// Held is true while the job is held (scontrol hold).
	Held bool
	// Stopped is why Slurm or an operator holds or suspends the job, or empty.
	Stopped string
	// Interrupted is true once Slurm has requeued the job, or Slurm or an operator has held it. Its
	// eligible time then differs from varq's begin time although nobody has changed it.
	Interrupted bool
	// Yielded is true once somebody other than varq has changed the job. From then on varq does not
	// revise the job.
	Yielded bool
	// Late is true once the queue has shown one of two things. The job was pending after its
	// deadline, and neither changed nor held before. Or it was suspended from before its work began
	// until after the deadline.
	Late bool
	// Interactive is true for a job of srun or salloc.
	Interactive bool
	// HeldBefore is for how many seconds the job's nodes idled in runs before the present one.
	// Slurm has requeued the job before its work began.
	HeldBefore int64
	// WorkedBefore is for how many seconds the job has worked in runs before the present one, which
	// ended before its work was done. It is recorded for promises of an end.
	WorkedBefore int64
	// Confirmed is when a tentative promise was confirmed, or 0.
	Confirmed int64
	// Gate is what the home of the job's group has decided about its work: api.GateGo,
	// api.GateLost, or "" for nothing yet.
	Gate string
	// Gated is when the home has let the work begin, or 0.
	Gated int64
	// Eligible and Start are the job's times. WorkStart is 0 until the work has begun.
	Eligible, Start, WorkStart int64
	// Nodes is the number of nodes that the job was given when it started, or 0.
	Nodes int32
}

// Kind is the kind of an event.
type Kind string

// The kinds of events. The note of a reservation is the text of its latest event of the kind
// User or Note.
const (
	Bound   Kind = "bound"
	Moved   Kind = "moved"   // varq moved the begin time
	Limited Kind = "limited" // varq changed the time limit
	// Trimmed: the nodes of an eligible job can idle for less time, so varq shortened the time
	// limit. That comes every minute: of trims that follow one another, Events returns the newest.
	Trimmed  Kind = "trimmed"
	Requeued Kind = "requeued" // Slurm put the job back into the queue
	User     Kind = "user"     // somebody other than varq changed, held or released the job
	Note     Kind = "note"     // another message for the user
	Settled  Kind = "settled"
	// Corrected: a settlement was replaced, because accounting knew better later.
	Corrected Kind = "corrected"
	// Agreed: the user agreed to a higher ceiling on the cost of idle nodes.
	Agreed Kind = "agreed"
)

// Event is one event of a reservation.
type Event struct {
	At   int64
	Kind Kind
	Text string
}

// Settlement is how a promise ended.
type Settlement struct {
	At                              int64
	Outcome                         string // api.StateKept, StateMissed or StateCancelled
	Eligible, Start, WorkStart, End int64
	// Run is the submit time of the run by which the promise was judged, or 0 if there is none.
	Run int64
	// Nodes is the number of nodes of this run, or 0 if it never started.
	Nodes int32
	// Evicted is true if the run's nodes failed or were taken away before its work was done.
	Evicted bool
	// Refused is as in Entry.
	Refused int64
}

// Promise writes a new promise. bound is a time: the jobs of promises that were made until then are
// bound already, if they were submitted. If Promise returns nil, the promise survives a power cut.
// If it returns an error, nothing is promised. The errors are ErrUnclaimed, an InVainError, and
// errors of the file.
func (l *Ledger) Promise(ctx context.Context, r *api.Reservation, bound int64) error {
	defer l.book.changed(r.ID)
	err := l.db.Write(ctx, func(tx *sql.Tx) error {
		if err := mayPromise(ctx, tx, r.User, r.Promised, bound); err != nil {
			return err
		}
		promised := promiseColumns(r)
		_, err := tx.ExecContext(ctx, promised.Insert("plans"), promised.Pointers()...)
		return err
	})
	if err != nil {
		return fmt.Errorf("ledger: promise %s: %w", r.ID, err)
	}
	return nil
}

// Bind binds a plan to user's job, which was submitted at submit. Binding the same job again
// changes nothing. A lapsed plan is bound only if granted says that its room was granted again. The
// errors are ErrNoPlan, ErrNotYours, ErrClosed, ErrBound, ErrJobTaken, ErrLapsed, and errors of the
// file.
func (l *Ledger) Bind(ctx context.Context, plan, user string, job, submit int64, at int64, granted bool) error {
	defer l.book.changed(plan)
	err := l.db.Write(ctx, func(tx *sql.Tx) error {
		var owner string
		var promised api.Plan
		var boundJob, withdrawn, made int64
		var open bool
		err := tx.QueryRowContext(ctx, `SELECT user, open, job, begin_time, time_limit, earliest, tentative, withdrawn, promised_at FROM reservations WHERE id = ?`, plan).
			Scan(&owner, &open, &boundJob, &promised.BeginTime, &promised.TimeLimit, &promised.Earliest, &promised.Tentative, &withdrawn, &made)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return ErrNoPlan
		case err != nil:
			return err
		case owner != user:
			return ErrNotYours
		case boundJob == job:
			return nil
		case boundJob != 0:
			return ErrBound
		case !open:
			return ErrClosed
		case withdrawn != 0 && promised.Tentative != 0:
			// the job is bound only to be found and cancelled
		case !granted && (withdrawn != 0 || at > made+bindsFor):
			return ErrLapsed
		case withdrawn != 0:
			if _, err := tx.ExecContext(ctx, `UPDATE plans SET withdrawn = 0 WHERE id = ?`, plan); err != nil {
				return err
			}
		}
		var taken int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM bindings WHERE job = ? AND submit = ?`, job, submit).Scan(&taken); err != nil {
			return err
		}
		if taken > 0 {
			return ErrJobTaken
		}
		begin, limit := promised.SubmitBegin(), promised.TimeLimit
		p := Progress{State: api.StatePending, Submit: submit, BeginTime: begin, TimeLimit: limit, WasBegin: begin, WasLimit: limit, Earliest: promised.Earliest}
		binding := append(sqlitefile.Columns{{Name: "plan", Pointer: &plan}, {Name: "job", Pointer: &job}}, progressColumns(&p, "")...)
		if _, err := tx.ExecContext(ctx, binding.Insert("bindings"), binding.Pointers()...); err != nil {
			return err
		}
		return appendEvents(ctx, tx, plan, []Event{{At: at, Kind: Bound, Text: fmt.Sprintf("job %d", job)}})
	})
	if err != nil {
		return fmt.Errorf("ledger: bind plan %s to job %d: %w", plan, job, err)
	}
	return nil
}

// Adopt makes an open promise without a job one about a job in the account, partition and QOS of e,
// at its costs: Slurm has accepted the job so. The errors are ErrTaken if a job has taken the plan
// up, ErrClosed, and errors of the file.
func (l *Ledger) Adopt(ctx context.Context, e *Entry, event Event) error {
	defer l.book.changed(e.ID)
	err := l.db.Write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `UPDATE plans SET account = ?, partition = ?, node_set = ?, licences = ?, qos = ?, work_billing_seconds = ?, worst_billing_seconds = ?, expected_billing_seconds = ?
			WHERE id = ? AND open AND NOT EXISTS (SELECT 1 FROM bindings WHERE plan = id)`,
			e.Account, e.Partition, e.NodeSet, e.Licences, e.QOS, e.Work.BillingSeconds, e.Worst.BillingSeconds, e.Expected.BillingSeconds, e.ID)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n != 1 {
			return errors.Join(err, ErrTaken)
		}
		return appendEvents(ctx, tx, e.ID, []Event{event})
	})
	if err != nil {
		return fmt.Errorf("ledger: adopt for plan %s: %w", e.ID, err)
	}
	return nil
}

// Withdraw notes that an open plan was taken back: it claims nothing any more, and counts for no
// user or account. It changes nothing if the plan was taken back before or is settled. The error is
// ErrTaken if a job has taken the plan up, unless the promise is tentative and not confirmed.
func (l *Ledger) Withdraw(ctx context.Context, plan string, at int64) error {
	defer l.book.changed(plan)
	err := l.db.Write(ctx, func(tx *sql.Tx) error {
		var taken bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM plans p JOIN bindings b ON b.plan = p.id WHERE p.id = ? AND NOT (`+tentative+`))`, plan).Scan(&taken); err != nil {
			return err
		}
		if taken {
			return ErrTaken
		}
		_, err := tx.ExecContext(ctx, `UPDATE plans SET withdrawn = ? WHERE id = ? AND open AND withdrawn = 0`, at, plan)
		return err
	})
	if err != nil {
		return fmt.Errorf("ledger: take back plan %s: %w", plan, err)
	}
	return nil
}

// Record writes the progress of a bound plan's job, and the events that belong to it. A promise
// that was taken back cannot be confirmed any more: the error is then ErrWithdrawn.
func (l *Ledger) Record(ctx context.Context, plan string, p Progress, events ...Event) error {
	defer l.book.changed(plan)
	err := l.db.Write(ctx, func(tx *sql.Tx) error {
		if p.Confirmed != 0 {
			var withdrawn int64
			if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(withdrawn), 0) FROM plans WHERE id = ?`, plan).Scan(&withdrawn); err != nil || withdrawn != 0 {
				return cmp.Or(err, ErrWithdrawn)
			}
		}
		progress := progressColumns(&p, "")
		done, err := tx.ExecContext(ctx, "UPDATE bindings SET "+progress.Assignments()+" WHERE plan = ?", append(progress.Pointers(), plan)...)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n != 1 {
			return errors.Join(err, ErrNoPlan)
		}
		return appendEvents(ctx, tx, plan, events)
	})
	if err != nil {
		return fmt.Errorf("ledger: record plan %s: %w", plan, err)
	}
	return nil
}

// Settle closes a promise with its outcome, which package course judges. Closing a closed promise
// is an error.
func (l *Ledger) Settle(ctx context.Context, plan string, s Settlement, events ...Event) error {
	return l.SettleAll(ctx, []string{plan}, s, events...)
}

// SettleAll closes promises that have the same outcome, in one transaction. If it returns an error,
// none is closed.
func (l *Ledger) SettleAll(ctx context.Context, plans []string, s Settlement, events ...Event) error {
	defer l.book.changed(plans...)
	events = append(slices.Clone(events), Event{At: s.At, Kind: Settled, Text: s.Outcome})
	return l.db.Write(ctx, func(tx *sql.Tx) error {
		for _, plan := range plans {
			if err := settle(ctx, tx, plan, s, events); err != nil {
				return fmt.Errorf("ledger: settle plan %s: %w", plan, err)
			}
		}
		return nil
	})
}

func settle(ctx context.Context, tx *sql.Tx, plan string, s Settlement, events []Event) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO settlements (plan, at, outcome, eligible, start, work_start, end, run, alloc_nodes, evicted, refused) VALUES (?,?,?,?,?,?,?,?,?,?,?)`,
		plan, s.At, s.Outcome, s.Eligible, s.Start, s.WorkStart, s.End, s.Run, s.Nodes, s.Evicted, s.Refused); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE plans SET open = 0 WHERE id = ?`, plan); err != nil {
		return err
	}
	return appendEvents(ctx, tx, plan, events)
}

// Refuse notes that a job names a closed promise and is promised nothing. If another job has named
// the promise before, Refuse does nothing.
func (l *Ledger) Refuse(ctx context.Context, plan string, job int64, e Event) error {
	defer l.book.changed(plan)
	err := l.db.Write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `UPDATE settlements SET refused = ? WHERE plan = ? AND refused = 0`, job, plan)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n != 1 {
			return err
		}
		return appendEvents(ctx, tx, plan, []Event{e})
	})
	if err != nil {
		return fmt.Errorf("ledger: refuse plan %s to job %d: %w", plan, job, err)
	}
	return nil
}

// Correct replaces the settlement of a closed promise, because accounting has better data now. The
// events keep what was settled before. It is an error if the promise is not closed.
func (l *Ledger) Correct(ctx context.Context, plan string, s Settlement, events ...Event) error {
	defer l.book.changed(plan)
	err := l.db.Write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `UPDATE settlements SET at = ?, outcome = ?, eligible = ?, start = ?, work_start = ?, end = ?, run = ?, alloc_nodes = ?, evicted = ? WHERE plan = ?`,
			s.At, s.Outcome, s.Eligible, s.Start, s.WorkStart, s.End, s.Run, s.Nodes, s.Evicted, plan)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n != 1 {
			return errors.Join(err, ErrNoPlan)
		}
		return appendEvents(ctx, tx, plan, append(events, Event{At: s.At, Kind: Corrected, Text: s.Outcome}))
	})
	if err != nil {
		return fmt.Errorf("ledger: correct plan %s: %w", plan, err)
	}
	return nil
}

// mostText bounds a text in the ledger, in bytes. Parts of texts come from users or other sites.
const mostText = 1000

// appendEvents writes events. It makes each text one line of at most mostText bytes.
func appendEvents(ctx context.Context, tx *sql.Tx, plan string, events []Event) error {
	for _, e := range events {
		if _, err := tx.ExecContext(ctx, `INSERT INTO events (plan, at, kind, text) VALUES (?,?,?,?)`, plan, e.At, string(e.Kind), said.Line(e.Text, mostText)); err != nil {
			return err
		}
	}
	return nil
}
