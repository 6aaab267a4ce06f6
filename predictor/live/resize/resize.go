// Package resize changes the sizes of jobs while they wait. It does so unless a job's user has
// locked in the size that was chosen at submission (Downey 1997, section 6.1). Times are Unix
// seconds, durations are seconds.
//
// Such a job has a row in the state file, and the row's identifier in its comment. Look finds the
// job in the queue, asks now and then which size is best by the present forecast, and changes the
// job. The row ends when the job starts or ends, or when somebody else changes the job.
//
// Invariants: the size is always one of those that the user has asked for. A job that has started
// is not changed. The comment of a job has an effect only if the job belongs to the user for whom
// the row was made.
package resize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/promise/moldable"
	"github.com/varq-project/varq/predictor/slurm"
)

const (
	// pause is for how long a job is not asked about again.
	pause = 60
	// settles is for how long a job keeps a new size at least, so that it does not go to and fro.
	settles = 600
	// most is how many forecasts a Look makes, one of each size of a job, for those jobs first that
	// have not been asked about for longest.
	most = 200
	// leastGain is by how much sooner a job must be expected to end with another size, at least.
	leastGain = 60
	// unclaimed is for how long a job that was asked for may not appear. sbatch submits it at once,
	// but the queue is read seldom where that takes long.
	unclaimed = 3600
)

// Slurm is how jobs are read and changed. Any call may return slurm.ErrUnavailable.
type Slurm interface {
	// Job returns a pending or running job, or slurm.ErrNotFound.
	Job(ctx context.Context, id int64) (slurm.QueueEntry, error)
	// Update changes a job. It may make a part of the change and refuse the rest.
	Update(ctx context.Context, u slurm.Update) error
}

// Sizer forecasts sizes. Its errors are faults of package api.
type Sizer interface {
	// Size tells which size user's job had better have if it is submitted now.
	Size(ctx context.Context, user string, req *api.SizeRequest) (api.SizeAnswer, error)
	// SizeOptions returns the sizes that the cluster allows user's job, which waits already, and of
	// which size of the request each is.
	SizeOptions(ctx context.Context, user string, req *api.SizeRequest, job int64) (options []moldable.Option, of []int, err error)
}

// Options configure a Resizer.
type Options struct {
	Store *Store
	Slurm Slurm
	Sizer Sizer
	// Shadow is true if no job is changed.
	Shadow bool
	Now    func() int64
	Log    *slog.Logger
}

// Resizer chooses sizes, at submission and again while jobs wait. Size may be called at any time,
// and Look by one goroutine at a time.
type Resizer struct {
	Options
	// by identifier: from when on a job is asked about again. A restart of varqd forgets it.
	next map[string]int64
	// last is the identifier of the job that was changed last, and until is until when no other is
	// changed if that one still waits: the forecasts of others do not know of its new size.
	last  string
	until int64
}

// New returns a Resizer.
func New(o Options) *Resizer { return &Resizer{Options: o, next: map[string]int64{}} }

// Size tells which of several sizes user's job had better have if it is submitted now. If that is
// not to be locked in, the answer's Comment is to be in the job's comment. The errors are faults of
// package api.
func (r *Resizer) Size(ctx context.Context, user string, req *api.SizeRequest) (api.SizeAnswer, error) {
	if req.Reconsider && r.Shadow {
		return api.SizeAnswer{}, api.Fault(api.ErrConflict, "varqd only watches here, and changes no job (plan.mode: shadow): choose the size with --lock-in=yes")
	}
	answer, err := r.Sizer.Size(ctx, user, req)
	if err != nil || !req.Reconsider || len(req.Sizes) < 2 {
		return answer, err
	}
	m := row{id: api.NewPlanID(), user: user, made: r.Now(), request: *req, nodes: req.Sizes[answer.Best].Nodes}
	switch err := r.Store.add(ctx, &m); {
	case errors.Is(err, errTooMany):
		return api.SizeAnswer{}, api.Fault(api.ErrConflict, fmt.Sprintf("you have %d jobs already whose size is not locked in: submit this one with --lock-in=yes, or later", MaxOpen))
	case err != nil:
		r.Log.Error("a size could not be written down", "user", user, "error", err)
		return api.SizeAnswer{}, api.Fault(api.ErrUnavailable, "the size could not be written down, without which it cannot be chosen again: submit the job with --lock-in=yes, or later")
	}
	answer.Comment = api.SizeCommentPrefix + m.id
	return answer, nil
}

// Look follows the jobs whose size is not locked in, and gives another size to those that are then
// expected to end sooner. l has all pending and running jobs. If something fails for one job, Look
// logs that and goes on. It stops, and returns the error, if the file cannot be read or written, if
// Slurm does not answer, or if ctx is done.
func (r *Resizer) Look(ctx context.Context, l *look.Look) error {
	if r.Shadow {
		return nil
	}
	rows, err := r.Store.all(ctx)
	if err != nil || len(rows) == 0 {
		return err
	}
	q, now := queue{l}, l.At
	due := make([]*row, 0, len(rows))
	for i := range rows {
		m := &rows[i]
		j, err := r.follow(ctx, m, q, now)
		if err != nil {
			return err
		}
		if j != nil && mayChange(j, now) && r.isDue(m, now) {
			due = append(due, m)
		}
	}
	slices.SortStableFunc(due, func(a, b *row) int { return cmp.Compare(r.dueSince(a), r.dueSince(b)) })
	if now < r.until && slices.ContainsFunc(rows, func(m row) bool { return m.id == r.last && q.waits(&m) }) {
		return nil
	}
	r.until = 0
	forecasts := 0
	for _, m := range due {
		if r.until != 0 {
			break
		}
		if forecasts += len(m.request.Sizes); forecasts > most {
			break
		}
		switch err := r.reconsider(ctx, m, now); {
		case errors.Is(err, errUnforeseen) && ctx.Err() == nil:
			r.Log.Info("it cannot be told now whether jobs that wait had better have another size", "error", err)
			return nil
		case err != nil:
			return err
		}
	}
	return ctx.Err()
}

// errUnforeseen is the error of reconsider if nothing can be forecast now, of whatever job.
var errUnforeseen = errors.New("no forecast")

// follow brings m up to date with the queue. It returns m's job if that waits with the size that m
// says, and nil otherwise.
func (r *Resizer) follow(ctx context.Context, m *row, q queue, now int64) (*slurm.QueueEntry, error) {
	if m.job == 0 {
		j := q.Sizes.Claimant(m.id, m.user)
		switch {
		case j == nil && now-m.made <= unclaimed:
			return nil, nil
		case j == nil:
			return nil, r.end(ctx, m, "no job has come for it")
		case j.Start == 0 && !m.has(j, m.nodes), j.ArrayJob != 0, j.HetJob != 0:
			return nil, r.end(ctx, m, "the job was submitted otherwise")
		}
		m.job, m.submit, m.asks, m.counts = j.ID, j.Submit, asks(j), counts(j)
		if err := r.Store.record(ctx, m); err != nil {
			return nil, err
		}
	}
	j := q.jobOf(m)
	switch {
	case j == nil:
		return nil, r.end(ctx, m, "the job is gone, or was requeued")
	case j.Start != 0:
		return nil, r.end(ctx, m, "the job has started")
	case !names(j, m):
		return nil, r.end(ctx, m, "its comment was changed, not by varq")
	case asks(j) != m.asks:
		return nil, r.end(ctx, m, "the job was changed, not by varq")
	}
	return r.judge(ctx, m, j)
}

// judge compares the size of m's job, which waits, with what m says. It settles what has become of
// a change.
func (r *Resizer) judge(ctx context.Context, m *row, j *slurm.QueueEntry) (*slurm.QueueEntry, error) {
	switch {
	case m.has(j, m.nodes) && m.was == 0 && counts(j) == m.counts:
		return j, nil
	case m.was == 0:
		return nil, r.end(ctx, m, "its size was changed, not by varq")
	case m.has(j, m.nodes):
		m.was, m.counts = 0, counts(j)
		return j, r.Store.record(ctx, m)
	case m.has(j, m.was):
		m.nodes, m.was, m.counts = m.was, 0, counts(j)
		return j, r.Store.record(ctx, m)
	}
	return nil, r.restore(ctx, m, j)
}

// restore gives m's job, of which Slurm has made a part of a change only, the size that it had
// before, and ends m.
func (r *Resizer) restore(ctx context.Context, m *row, j *slurm.QueueEntry) error {
	u := m.update(j, m.was)
	u.Resize.Fewer = true // processors are counted anew
	err := r.Slurm.Update(ctx, u)
	if again(ctx, err) {
		return err
	}
	if err != nil {
		r.Log.Warn("a job whose change Slurm has made in part cannot be given its size again", "job", m.job, "user", m.user, "nodes", m.was, "error", err)
	}
	return r.end(ctx, m, "Slurm has refused to change it")
}

// end forgets m, whose job keeps its size from now on.
func (r *Resizer) end(ctx context.Context, m *row, why string) error {
	if err := r.Store.remove(ctx, m.id); err != nil {
		return err
	}
	delete(r.next, m.id)
	r.Log.Info("the size of a job stays", "job", m.job, "user", m.user, "why", why)
	return nil
}

// reconsider asks about m's job, which waits, and changes it if another size is better.
func (r *Resizer) reconsider(ctx context.Context, m *row, now int64) error {
	r.next[m.id] = now + pause
	options, of, err := r.Sizer.SizeOptions(ctx, m.user, &m.request, m.job)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnforeseen, err)
	}
	held := slices.IndexFunc(options, func(o moldable.Option) bool { return o.Nodes == m.nodes })
	if held < 0 {
		return nil
	}
	best := better(&options[held], options, held, m.request.Aversion)
	if best == held {
		return nil
	}
	to := &m.request.Sizes[of[best]]
	// whoever has changed it since it was looked at has the last word
	fresh, err := r.Slurm.Job(ctx, m.job)
	switch {
	case errors.Is(err, slurm.ErrNotFound):
		return nil
	case err != nil:
		return err
	case fresh.Submit != m.submit || fresh.User != m.user || fresh.Start != 0 || !mayChange(&fresh, now) || !names(&fresh, m) || asks(&fresh) != m.asks || counts(&fresh) != m.counts || !m.has(&fresh, m.nodes):
		return nil // the next Look sees to it
	}
	m.nodes, m.was = to.Nodes, m.nodes
	// so that a crash leaves no size of which nobody knows whence it is
	if err := r.Store.record(ctx, m); err != nil {
		return err
	}
	err = r.Slurm.Update(ctx, m.update(&fresh, m.nodes))
	switch {
	case again(ctx, err):
		return err
	case err != nil:
		r.Log.Info("Slurm does not give a job another size", "job", m.job, "user", m.user, "nodes", m.was, "to", m.nodes, "error", err)
		return r.refused(ctx, m, &fresh)
	}
	r.next[m.id] = now + settles
	r.last, r.until = m.id, now+settles
	r.Log.Info("a job that waits has another size", "job", m.job, "user", m.user, "nodes", m.was, "to", m.nodes, "limit", to.Limit,
		"sooner", int64(options[held].Turnaround()-options[best].Turnaround()))
	return nil
}

// refused sees to it that m's job, which was before as it is to be, and of which Slurm has refused
// a change, has its size, and ends m: what Slurm refuses once it refuses again.
func (r *Resizer) refused(ctx context.Context, m *row, before *slurm.QueueEntry) error {
	j, err := r.Slurm.Job(ctx, m.job)
	switch {
	case errors.Is(err, slurm.ErrNotFound):
		return r.end(ctx, m, "the job is gone")
	case err != nil:
		return err // the next Look sees to it
	case j.Submit != m.submit || j.User != m.user || j.Start != 0:
		return r.end(ctx, m, "the job has started")
	case j.Size == before.Size && j.Limit == before.Limit && j.Shape == before.Shape:
		return r.end(ctx, m, "Slurm has refused to change it")
	}
	return r.restore(ctx, m, &j)
}

// again reports whether it is not known what has become of a change, so that the next Look is to
// see.
func again(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, slurm.ErrUnavailable))
}

// isDue reports whether m's job may be asked about again.
func (r *Resizer) isDue(m *row, now int64) bool { return now >= r.dueSince(m) }

// dueSince returns from when on m's job may be asked about again.
func (r *Resizer) dueSince(m *row) int64 {
	return cmp.Or(r.next[m.id], m.made+pause)
}
