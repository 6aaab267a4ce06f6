// Package flows keeps the promises about flows that package desk has found to be possible: that all
// of some jobs of a user, of which some wait for others, have ended by a time. Times are Unix
// seconds, durations are seconds.
//
// Slurm lets each job of a flow run in its turn, by its dependencies. So nothing is moved or held
// for such a promise. Look follows the jobs in the queue, tells when the promise becomes less or
// more probable, and settles it by accounting when all have ended, or as soon as one cannot any
// more.
package flows

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/look"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

const (
	// pause is for how long a flow is not forecast again, and most is how many are in one Look, those
	// first that have not been for longest.
	pause = 60
	most  = 20
	// change is by how much a forecast has to differ from the one told last, to be told.
	change = .1
	// mostEvents is how many events of a promise are written down.
	mostEvents = 100
	// accounted is for how long accounting may not know of a job that has left the queue, and unsure
	// the same if another never starts for it.
	accounted, unsure = 900, 60
	// mostRemembered is of how many jobs slurmctld is asked in one Look where accounting fails.
	mostRemembered = 10
)

// Desk forecasts flows. Its errors are faults of package api.
type Desk interface {
	// Quote tells whether a user can be promised what a request asks for.
	Quote(ctx context.Context, user string, req *api.FlowRequest) (api.FlowAnswer, error)
	// Now forecasts a promise, or returns nil, and the jobs of it that are in the queue. slots are
	// where those that wait are likely to have room.
	Now(ctx context.Context, p *api.FlowPromise) (now *float64, flow *api.Flow, slots []workload.Claim, err error)
	// ObserveFlows takes in the slots of all flows.
	ObserveFlows(slots []workload.Claim)
}

// Slurm knows what has become of jobs. Any call may return slurm.ErrUnavailable.
type Slurm interface {
	// Accounted returns the runs of a job, or of all tasks of an array, that are in accounting,
	// oldest submission first.
	Accounted(ctx context.Context, job int64) ([]workload.Job, error)
	// Ended returns a job that slurmctld still shows after its end, or slurm.ErrNotFound.
	Ended(ctx context.Context, job int64) (workload.Job, error)
	// AccountedAll is Accounted for many jobs in one request, by their ids, or errors.ErrUnsupported.
	AccountedAll(ctx context.Context, jobs []int64) (map[int64][]workload.Job, error)
}

// Options configure a Keeper.
type Options struct {
	Store *Store
	Desk  Desk
	Slurm Slurm
	// Operator reports whether a user may see everything.
	Operator func(user string) bool
	// Tell, if not nil, receives the notices for users. It must not wait.
	Tell func(api.Notice)
	Now  func() int64
	Log  *slog.Logger
}

// Keeper keeps promises of flows. Its methods may be called concurrently, but for Look, which one
// goroutine calls at a time.
type Keeper struct {
	Options
	mu    sync.Mutex
	known map[string]known // by promise
}

// known is what is remembered of an open promise. A restart of varqd forgets it.
type known struct {
	at       int64 // when it was forecast
	now      *float64
	flow     *api.Flow
	slots    []workload.Claim
	told     float64         // the forecast that was told last
	ended    map[int64]int64 // when jobs have ended that have left the queue
	restarts map[int64]int   // how often jobs of the queue have been requeued
	left     int64           // since when some have left whose end is not known, or 0
}

// New returns a Keeper.
func New(o Options) *Keeper { return &Keeper{Options: o, known: map[string]known{}} }

// PromiseFlow promises a user that all jobs of a flow have ended by a time, or refuses. The promise
// is on disk before PromiseFlow returns. The errors are faults of package api.
func (k *Keeper) PromiseFlow(ctx context.Context, user string, req api.FlowRequest) (api.FlowAnswer, error) {
	answer, err := k.Desk.Quote(ctx, user, &req)
	if err != nil || answer.Promised == nil || req.Quote {
		return answer, err
	}
	p := answer.Promised
	p.ID = api.NewPlanID()
	text := fmt.Sprintf("promised, with an estimate of %s", prob.Format(p.Estimate))
	if answer.Flow.Engines != "" {
		text += ": the jobs of a run of " + answer.Flow.Engines + " that were in the queue, and none that came later"
	}
	p.Events = []api.Event{{At: p.Promised, Kind: eventNote, Text: text}}
	switch err := k.Store.add(ctx, &row{*p}); {
	case errors.Is(err, errTooMany):
		return api.FlowAnswer{}, api.Fault(api.ErrConflict, fmt.Sprintf("you have %d promises of flows that are open, and nobody gets more: wait until one is settled (varq flow)", MaxOpen))
	case err != nil && ctx.Err() == nil:
		k.Log.Error("the promise of a flow could not be written down", "user", user, "error", err)
		return api.FlowAnswer{}, api.Fault(api.ErrUnavailable, "the promise could not be written down, so none is made: try again later")
	case err != nil:
		return api.FlowAnswer{}, err
	}
	k.Log.Info("a flow is promised", "flow", p.ID, "user", user, "jobs", len(p.Jobs), "deadline", p.FinishBy, "prob", p.Prob, "estimate", p.Estimate)
	return answer, nil
}

// Flows returns the promises of flows that a query selects, and that a user may see.
func (k *Keeper) Flows(ctx context.Context, user string, q api.FlowsQuery) (api.Flows, error) {
	if q.All && !k.Operator(user) {
		return api.Flows{}, api.Fault(api.ErrForbidden, "only Slurm's operators may see the flows of other users")
	}
	whose, since := user, int64(math.MaxInt64)
	if q.All {
		whose = ""
	}
	if q.Old {
		since = 0
	}
	rows, err := k.Store.since(ctx, whose, since)
	if err != nil {
		return api.Flows{}, err
	}
	answer := api.Flows{Flows: []api.FlowPromise{}, AsOf: k.Now()}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range rows {
		p := r.FlowPromise
		if is := k.known[p.ID]; p.State == api.StatePending {
			p.Now, p.Flow = is.now, is.flow
		}
		answer.Flows = append(answer.Flows, p)
	}
	return answer, nil
}

// The kinds of events, as of package ledger.
const (
	eventNote    = "note"
	eventSettled = "settled"
)

// Look follows the jobs of all flows that are promised. l has all pending and running jobs. It
// returns an error if the file or accounting cannot be read or written, or if ctx is done.
func (k *Keeper) Look(ctx context.Context, l *look.Look) error {
	rows, err := k.Store.open(ctx)
	if err != nil {
		return err
	}
	open := map[string]bool{}
	var due []*row
	var unread error
	for i := range rows {
		r := &rows[i]
		if err := k.follow(ctx, r, l); err != nil {
			unread = err // of accounting, without which the others are followed all the same
		}
		if r.State == api.StatePending {
			open[r.ID] = true
			due = append(due, r)
		}
	}
	k.forget(open)
	slices.SortStableFunc(due, func(a, b *row) int { return cmp.Compare(k.of(a.ID).at, k.of(b.ID).at) })
	for n, r := range due {
		if n == most || l.At < k.of(r.ID).at+pause {
			break
		}
		if err := k.forecast(ctx, r, l.At); err != nil {
			return err
		}
	}
	k.Desk.ObserveFlows(k.slots())
	return cmp.Or(ctx.Err(), unread)
}

// of returns what is remembered of a promise.
func (k *Keeper) of(id string) known {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known[id]
}

// remember sets what is remembered of a promise.
func (k *Keeper) remember(id string, is known) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known[id] = is
}

// forget forgets the promises that are not open.
func (k *Keeper) forget(open map[string]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.known, func(id string, _ known) bool { return !open[id] })
}

// slots returns those of all promises.
func (k *Keeper) slots() (slots []workload.Claim) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, is := range k.known {
		slots = append(slots, is.slots...)
	}
	return slots
}

// present returns the jobs of a promise that are in the queue.
func (r *row) present(l *look.Look) (jobs []*slurm.QueueEntry) {
	for _, id := range r.Jobs {
		entries := l.Arrays[id]
		if j := l.ByID[id]; j != nil && j.ArrayJob == 0 {
			entries = []*slurm.QueueEntry{j}
		}
		for _, j := range entries {
			if j.User == r.User {
				jobs = append(jobs, j)
			}
		}
	}
	return jobs
}

// follow brings a promise up to date with the queue, and settles it if it can be.
func (k *Keeper) follow(ctx context.Context, r *row, l *look.Look) error {
	present := r.present(l)
	is := k.of(r.ID)
	if is.ended == nil {
		is.ended = map[int64]int64{}
	}
	before := len(r.Events)
	is.noteRequeues(r, present, l.At)
	outcome, why, unknown, err := k.gone(ctx, r, present, is.ended, l.At)
	ended := int64(0) // when the last has, if all have
	if len(present) == 0 && unknown == 0 {
		for _, at := range is.ended {
			ended = max(ended, at)
		}
	}
	if outcome != api.StateKept {
		return k.settle(ctx, r, outcome, why, ended, l.At)
	}
	if len(r.Events) > before {
		if err := k.Store.record(ctx, r, l.At); err != nil {
			return err
		}
	}
	switch {
	case unknown == 0, err != nil:
		is.left = 0
	case is.left == 0:
		is.left = l.At
	}
	k.remember(r.ID, is)
	late := unknown != 0 && (err != nil || l.At-is.left < accounted) // accounting may be
	for _, j := range present {
		// if another was cancelled, the promise is void
		if sure := unknown == 0 || err == nil && l.At-is.left >= unsure; j.Start == 0 && j.NeverStarts() && sure {
			return k.settle(ctx, r, api.StateMissed, fmt.Sprintf("job %d never starts: the jobs that it waits for did not end as it needs (%s)", j.ID, j.Dependency), 0, l.At)
		}
	}
	switch {
	case len(present) > 0 && l.At > r.FinishBy+course.Skew:
		j := present[0]
		does := "still waits"
		if j.Start != 0 {
			does = "still runs"
		}
		return k.settle(ctx, r, api.StateMissed, fmt.Sprintf("job %d %s at the deadline", j.ID, does), 0, l.At)
	case len(present) > 0, late:
		return err
	case unknown != 0:
		return k.settle(ctx, r, api.StateCancelled, fmt.Sprintf("what became of job %d is not known: accounting does not tell", unknown), 0, l.At)
	}
	return k.settle(ctx, r, api.StateKept, "", ended, l.At)
}

// noteRequeues notes which jobs were requeued since the last Look.
func (is *known) noteRequeues(r *row, present []*slurm.QueueEntry, at int64) {
	if is.restarts == nil {
		is.restarts = map[int64]int{}
	}
	for _, j := range present {
		was, seen := is.restarts[j.ID]
		if is.restarts[j.ID] = j.RestartCount; seen && j.RestartCount > was {
			r.event(api.Event{At: at, Kind: eventNote, Text: fmt.Sprintf("job %d was requeued: it waits, and runs once more", j.ID)})
		}
	}
}

// gone returns what becomes of a promise by those of its jobs that have left the queue, and why.
// ended has when they have ended of which that is known, and is added to; a failure is noted.
// unknown is one of which it is not yet, or 0.
func (k *Keeper) gone(ctx context.Context, r *row, present []*slurm.QueueEntry, ended map[int64]int64, now int64) (outcome, why string, unknown int64, err error) {
	outcome = api.StateKept
	here := func(id int64) bool {
		return slices.ContainsFunc(present, func(j *slurm.QueueEntry) bool { return j.ID == id || j.ArrayJob == id })
	}
	maps.DeleteFunc(ended, func(id, _ int64) bool { return here(id) }) // it was requeued
	left := slices.DeleteFunc(slices.Clone(r.Jobs), func(id int64) bool {
		_, known := ended[id]
		return known || here(id)
	})
	if len(left) == 0 {
		return outcome, why, 0, nil
	}
	runs, err := k.runsOf(ctx, left)
	for _, job := range left {
		last := map[int64]workload.Job{} // the newest run of the job, or of each task
		for _, run := range runs[job] {
			last[run.ID] = run
		}
		over, at := len(last) > 0, int64(0)
		var failed []int64
		for _, id := range slices.Sorted(maps.Keys(last)) {
			run := last[id]
			if over = over && run.End != 0; !over {
				break
			}
			if at = max(at, run.End); run.State == workload.Failed {
				failed = append(failed, id)
			}
			if state, says := fate(r, &run); state == api.StateMissed && outcome != state || state == api.StateCancelled && outcome == api.StateKept {
				outcome, why = state, says
			}
		}
		if !over {
			unknown = job
			continue
		}
		ended[job] = at
		for _, id := range failed {
			r.event(api.Event{At: now, Kind: eventNote, Text: fmt.Sprintf("job %d has failed", id)})
		}
	}
	return outcome, why, unknown, err
}

// runsOf returns the runs of jobs that have left the queue, as accounting shows them. Where that
// fails, slurmctld may still show how they have ended.
func (k *Keeper) runsOf(ctx context.Context, jobs []int64) (map[int64][]workload.Job, error) {
	runs, err := k.accounted(ctx, jobs)
	if err == nil {
		return runs, nil
	}
	runs = map[int64][]workload.Job{}
	for _, id := range jobs[:min(len(jobs), mostRemembered)] {
		if j, unseen := k.Slurm.Ended(ctx, id); unseen == nil && j.Array == 0 {
			runs[id] = []workload.Job{j}
		}
	}
	return runs, err
}

// fate returns what becomes of a promise by the run of one of its jobs that is over, and why.
func fate(r *row, run *workload.Job) (outcome, why string) {
	switch inTime := run.End <= r.FinishBy; {
	case run.Unfulfilled:
		return api.StateMissed, fmt.Sprintf("job %d never started: the jobs that it waited for did not end as it needs", run.ID)
	case run.Evicted:
		return api.StateMissed, fmt.Sprintf("the nodes of job %d failed or were taken away before its work was done", run.ID)
	case !inTime:
		return api.StateMissed, fmt.Sprintf("job %d ended %d s after the deadline", run.ID, run.End-r.FinishBy)
	case run.State == workload.Cancelled:
		return api.StateCancelled, fmt.Sprintf("job %d was cancelled before the deadline", run.ID)
	case run.State == workload.TimedOut:
		return api.StateCancelled, fmt.Sprintf("job %d was stopped at its time limit before its work was done", run.ID)
	}
	return api.StateKept, ""
}

// accounted returns the runs of jobs that are in accounting.
func (k *Keeper) accounted(ctx context.Context, jobs []int64) (map[int64][]workload.Job, error) {
	runs, err := k.Slurm.AccountedAll(ctx, jobs)
	if !errors.Is(err, errors.ErrUnsupported) {
		return runs, err
	}
	runs = map[int64][]workload.Job{}
	for _, job := range jobs {
		if runs[job], err = k.Slurm.Accounted(ctx, job); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// settle closes a promise. why is the note for the user; there is none if it is "".
func (k *Keeper) settle(ctx context.Context, r *row, outcome, why string, ended, now int64) error {
	r.State, r.Note, r.Settled, r.Ended = outcome, why, now, ended
	text := outcome
	if why != "" {
		text += ": " + why
	}
	r.event(api.Event{At: now, Kind: eventSettled, Text: text})
	if err := k.Store.record(ctx, r, now); err != nil {
		return err
	}
	k.Log.Info("a flow is settled", "flow", r.ID, "user", r.User, "outcome", outcome, "why", why)
	n := k.notice(r, api.NoticeSettled)
	n.Text = fmt.Sprintf("the promise about %s was kept", r.called())
	switch outcome {
	case api.StateMissed:
		n.Text = fmt.Sprintf("the promise about %s was missed: %s", r.called(), why)
	case api.StateCancelled:
		n.Text = fmt.Sprintf("the promise about %s is void: %s", r.called(), why)
	}
	k.tell(n)
	return nil
}

// forecast forecasts a promise, and tells if that has changed.
func (k *Keeper) forecast(ctx context.Context, r *row, at int64) error {
	now, flow, slots, err := k.Desk.Now(ctx, &r.FlowPromise)
	if errors.Is(err, api.ErrUnavailable) && ctx.Err() == nil {
		return nil // varqd has just started
	}
	if err != nil {
		return err
	}
	is := k.of(r.ID)
	if is.at == 0 {
		is.told = r.Estimate
	}
	was := is.told
	is.at, is.now, is.flow, is.slots = at, now, flow, slots
	tells := now != nil && math.Abs(*now-was) >= change
	if tells {
		is.told = *now
	}
	k.remember(r.ID, is)
	if !tells {
		return nil
	}
	text := "it ends in time with probability " + prob.Format(*now) + " by the present forecast"
	if critical := mostCritical(flow); critical != nil {
		text += fmt.Sprintf(", and most of all waits for job %d", critical.Job)
	}
	r.event(api.Event{At: at, Kind: eventNote, Text: text})
	if err := k.Store.record(ctx, r, at); err != nil {
		return err
	}
	short, had := prob.Short(*now, r.Prob), prob.Short(was, r.Prob)
	if short == had {
		return nil
	}
	n := k.notice(r, api.NoticeSafe)
	if short {
		n.Event = api.NoticeEndangered
	}
	n.Now, n.Text = *now, r.called()+": "+text
	k.tell(n)
	return nil
}

// mostCritical returns the job for which the whole waits most, or nil.
func mostCritical(f *api.Flow) *api.FlowJob {
	if f == nil || len(f.Jobs) == 0 {
		return nil
	}
	most := slices.MaxFunc(f.Jobs, func(a, b api.FlowJob) int { return cmp.Compare(a.Critical, b.Critical) })
	return &most
}

// event notes an event, unless there have been very many.
func (r *row) event(e api.Event) {
	if len(r.Events) < mostEvents || e.Kind == eventSettled {
		r.Events = append(r.Events, e)
	}
}

// called returns what a flow is called in a sentence.
func (r *row) called() string {
	if r.Name != "" {
		return fmt.Sprintf("flow %q", r.Name)
	}
	return "flow " + r.ID
}

func (k *Keeper) notice(r *row, event string) api.Notice {
	return api.Notice{Event: event, User: r.User, Name: r.Name, Plan: r.ID, State: r.State, FinishBy: r.FinishBy, Prob: r.Prob}
}

func (k *Keeper) tell(n api.Notice) {
	if k.Tell != nil {
		k.Tell(n)
	}
}
