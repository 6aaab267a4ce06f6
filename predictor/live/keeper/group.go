package keeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/said"
	"github.com/varq-project/varq/predictor/slurm"
)

// Homes asks the homes of groups. An empty name stands for this site. If a home refuses, the error
// is a fault of package api for which api.Refused is true.
type Homes interface {
	// Claim asks whether the work of a member of a group may begin.
	Claim(ctx context.Context, home string, c api.GroupClaim) (api.GateAnswer, error)
	// States asks what has become of groups. It leaves out groups that the home does not know.
	States(ctx context.Context, home string, q api.GroupsQuery) ([]api.GroupState, error)
}

// Gate tells whether the work of user's job, which has started, may begin. Of a job that is in no
// group it begins at the time of the promise, and at once if nothing is promised about the job any
// more. Otherwise the home of the group decides. If the home does not answer, the fault is
// api.ErrUnavailable, and the work does not begin yet.
func (k *members) Gate(ctx context.Context, user string, g api.Gate) (api.GateAnswer, error) {
	e, err := k.planOf(ctx, user, g.Plan)
	if err != nil {
		return api.GateAnswer{}, err
	}
	lost := func(format string, args ...any) (api.GateAnswer, error) {
		return api.GateAnswer{Answer: api.GateLost, Why: fmt.Sprintf(format, args...)}, nil
	}
	if e.Group == "" {
		return alone(e, g.Job), nil
	}
	k.homes.asked(e.ID, k.Now())
	switch now := k.Now(); {
	case e.Job != 0 && e.Job != g.Job:
		return lost("the promise is that of job %d", e.Job)
	case e.Progress.Gate == api.GateLost:
		return lost("%s", e.Note)
	case (e.Job == 0 || e.Unconfirmed()) && e.Open && now <= e.Tentative:
		return api.GateAnswer{Answer: api.GateWait}, nil
	case e.Job == 0, e.Unconfirmed():
		return lost("the promise was %s", course.NotConfirmed)
	}
	answer, err := k.claim(ctx, e)
	if err != nil {
		k.Log.Info("the home of a group does not answer", "plan", e.ID, "job", e.Job, "home", e.Home, "error", err)
		return answer, api.Fault(api.ErrUnavailable, fmt.Sprintf("the cluster that keeps the group does not answer (%v)", err))
	}
	if answer.Answer != api.GateWait && answer.Answer != e.Progress.Gate {
		if err := k.noteGate(ctx, e.ID, answer); err != nil { // Watch will do it later
			k.Log.Info("what a home has said is written down later", "plan", e.ID, "job", e.Job, "error", err)
		}
	}
	return answer, nil
}

// alone is the answer about a job that is in no group.
func alone(e *ledger.Entry, job int64) api.GateAnswer {
	if e.Refused == job && e.HoldUntil == e.BeginBy { // else the work waits for --begin-after
		return api.GateAnswer{Answer: api.GateGo}
	}
	return api.GateAnswer{Answer: api.GateGo, At: e.HoldUntil}
}

// claim asks the home of e's group whether the work of e's job may begin. If the home refuses the
// question, the answer is GateLost.
func (k *members) claim(ctx context.Context, e *ledger.Entry) (api.GateAnswer, error) {
	answer, err := k.Homes.Claim(ctx, e.Home, claimOf(e))
	if err != nil && api.Refused(err) {
		answer, err = api.GateAnswer{Answer: api.GateLost, Why: fmt.Sprintf("its group is refused: %v", err)}, nil
	}
	if err != nil {
		return api.GateAnswer{}, err
	}
	return bounded(e, answer, k.Now())
}

// bounded limits a home's answer about e's job to what a home may decide. The home may be another
// site's varqd, named by e's user. It must not fill the ledger or the log, nor make nodes idle. The
// error is for a text that is not an answer.
func bounded(e *ledger.Entry, a api.GateAnswer, now int64) (api.GateAnswer, error) {
	switch a.Answer {
	case api.GateGo: // a job that starts late may begin late
		return api.GateAnswer{Answer: api.GateGo, At: max(0, min(a.At, max(now, api.LatestGo(max(e.BeginBy, e.HoldUntil)))))}, nil
	case api.GateLost:
		return api.GateAnswer{Answer: api.GateLost, Why: said.Line(a.Why, api.MostWhy)}, nil
	case api.GateWait:
		return api.GateAnswer{Answer: api.GateWait}, nil
	}
	return api.GateAnswer{}, fmt.Errorf("it answers %.20q, which is none of %s, %s and %s", a.Answer, api.GateGo, api.GateWait, api.GateLost)
}

// claimOf returns the claim of e's job to the home of its group.
func claimOf(e *ledger.Entry) api.GroupClaim {
	return api.GroupClaim{Group: e.Group, Plan: e.ID, Job: e.Job, User: e.User, Promise: memberPromise(e)}
}

// memberPromise returns what is promised of e's job as a member of its group.
func memberPromise(e *ledger.Entry) api.MemberPromise {
	return api.MemberPromise{Plan: e.ID, Prob: min(e.Estimate, api.MostMemberProb), GroupProb: e.GroupProb}
}

// gateWaits bounds how long Gate waits until the home's answer is written down.
const gateWaits = time.Second

// noteGate records the home's answer about the job of a plan.
func (k *members) noteGate(ctx context.Context, plan string, answer api.GateAnswer) error {
	ctx, cancel := context.WithTimeout(ctx, gateWaits)
	defer cancel()
	return k.withOpen(ctx, plan, func(e *ledger.Entry) error { return k.recordGate(ctx, e, answer, k.Now()) })
}

// withOpen takes the lock, and calls do with the entry of a plan. It does nothing if the plan is
// settled.
func (k *reservations) withOpen(ctx context.Context, plan string, do func(*ledger.Entry) error) error {
	if err := k.lock(ctx); err != nil {
		return err
	}
	defer k.unlock()
	e, ok, err := k.Ledger.OpenPlan(ctx, plan)
	if err != nil || !ok {
		return err
	}
	return do(&e)
}

// recordGate records the home's answer about the job of e, if the answer is new.
func (k *members) recordGate(ctx context.Context, e *ledger.Entry, answer api.GateAnswer, now int64) error {
	c := k.newChange(e, now)
	if answer.Answer == api.GateGo {
		c.Progress.Gated = cmp.Or(answer.At, now)
	}
	agreed := ledger.Agreed
	if e.Note == notAsked { // the event replaces this note
		agreed = ledger.Note
	}
	switch {
	case e.Progress.Gate == answer.Answer:
		return nil
	case answer.Answer == api.GateGo && answer.At > now:
		c.Event(agreed, "the work of all jobs of the group begins at %s", c.Moment(answer.At))
	case answer.Answer == api.GateGo:
		c.Event(agreed, "it is the one of its group whose work runs")
	default:
		c.Event(ledger.Note, "%s", answer.Why)
		e.Note = answer.Why
	}
	c.Progress.Gate = answer.Answer
	return k.record(ctx, e, c)
}

const (
	// homeTime bounds how long a Watch waits for homes: for all that askHomes asks, which is at once,
	// for all that tellHomes tells, and for each claim of claimUnasked.
	homeTime = 2 * time.Second
	// homePause is for how many seconds Watch does not ask a home again that has not answered.
	homePause = 15
	// homeLost is the number of seconds without an answer after which a home counts as gone for
	// good.
	homeLost = 86400
)

// grouped returns the open promises that are members of groups.
func (k *members) grouped(ctx context.Context) ([]ledger.Entry, error) {
	return k.Ledger.Open(ctx, func(e *ledger.Entry) bool { return e.Group != "" })
}

// askHomes asks the homes what has become of the groups whose jobs wait, or hold at the gate. The
// caller must not hold the lock.
func (k *members) askHomes(ctx context.Context, now int64) error {
	if k.Homes == nil {
		return nil
	}
	entries, err := k.grouped(ctx)
	if err != nil {
		return err
	}
	byHome := map[string]*api.GroupsQuery{}
	for i := range entries {
		e := &entries[i]
		if e.Job == 0 || e.Unconfirmed() || e.Progress.Gate != "" {
			continue
		}
		q := byHome[e.Home]
		if q == nil {
			q = &api.GroupsQuery{}
			byHome[e.Home] = q
		}
		if len(q.Groups) < api.MaxGroupsAsked {
			q.Groups, q.Promises = append(q.Groups, e.Group), append(q.Promises, memberPromise(e))
		}
	}
	answers := make(chan homeAnswer, len(byHome))
	asking, cancel := context.WithTimeout(ctx, homeTime)
	defer cancel()
	asked := 0
	for home, q := range byHome {
		if k.homes.homePaused(home, now) {
			continue
		}
		asked++
		go func() {
			states, err := k.Homes.States(asking, home, *q)
			answers <- homeAnswer{home, q.Groups, states, err}
		}()
	}
	for range asked {
		a := <-answers
		if a.err != nil {
			k.Log.Info("the home of groups does not answer", "home", a.home, "groups", len(a.groups), "error", a.err)
		}
		k.homes.heardHome(&a, now)
	}
	return ctx.Err()
}

const (
	// silent is the number of seconds without any question after which the silence is reported.
	// Where the plugin is loaded, the wrapper asks at once.
	silent = 60
	// unasked is the number of seconds without a question after which the work of a job counts as
	// running. If the work had to wait, the wrapper would have asked, and given up by then.
	unasked = 660
)

// notAsked is the note of a job whose node does not ask.
const notAsked = "its node does not ask whether the work may run: either it does not load varq's SPANK plugin, and the work runs unasked (varq doctor on it tells), or it cannot reach varqd"

// claimUnasked claims for jobs whose work runs although nobody has asked, because their nodes do
// not load the plugin. Then other jobs of the group do not run beside them, or they are cancelled
// themselves. The caller must not hold the lock.
func (k *members) claimUnasked(ctx context.Context, now int64) error {
	if k.Homes == nil {
		return nil
	}
	entries, err := k.grouped(ctx)
	if err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		if e.Progress.Start == 0 || e.Progress.Gate != "" {
			continue
		}
		last, never := k.homes.askedLast(e.ID, now)
		since := max(e.Progress.Start, e.HoldUntil, last)
		if never && now >= since+silent && e.Note != notAsked {
			k.Log.Warn("nobody has asked whether the work of a job may run: do its nodes load varq's SPANK plugin?", "plan", e.ID, "job", e.Job, "since", since)
			if err := k.noteSilence(ctx, e.ID); err != nil {
				return err
			}
		}
		if now < since+unasked || k.homes.homePaused(e.Home, now) {
			continue
		}
		claiming, cancel := context.WithTimeout(ctx, homeTime)
		answer, err := k.claim(claiming, e)
		cancel()
		switch {
		case err != nil:
			k.homes.heardHome(&homeAnswer{home: e.Home, err: err}, now)
		case answer.Answer != api.GateWait:
			if err := k.noteGate(ctx, e.ID, answer); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// noteSilence records that the node of a plan's job does not ask.
func (k *members) noteSilence(ctx context.Context, plan string) error {
	return k.withOpen(ctx, plan, func(e *ledger.Entry) error {
		c := k.newChange(e, k.Now())
		c.Event(ledger.Note, "%s", notAsked)
		e.Note = notAsked
		return k.record(ctx, e, c)
	})
}

// toldFor is for how many seconds after a job's deadline its home is told what became of the job.
const toldFor = 86400

// tellHomes reports to the homes of groups what became of jobs: jobs that were cancelled, jobs that
// their users have kept from starting, and jobs whose work did not begin in time although it might.
// Then nothing waits for these jobs, and a user's act does not count as a wrong forecast. If a home
// does not answer, it is told again. The caller must not hold the lock.
func (k *members) tellHomes(ctx context.Context, now int64) error {
	if k.Homes == nil {
		return nil
	}
	entries, err := k.Ledger.Grouped(ctx, now-toldFor)
	if err != nil {
		return err
	}
	telling, cancel := context.WithTimeout(ctx, homeTime)
	defer cancel()
	for i := range entries {
		e := &entries[i]
		claim := claimOf(e)
		switch p := &e.Progress; e.State {
		case api.StateCancelled:
			claim.Withdrawn = true
		case api.StateMissed:
			claim.Missed = p.Gate == api.GateGo
		case api.StatePending:
			claim.Held = p.Yielded && !p.Late && now > e.BeginBy
		}
		tells := claim.Withdrawn || claim.Missed || claim.Held
		if telling.Err() != nil {
			break // the other homes have their turn in the next Watch, and are not to blame
		}
		if !tells || e.Progress.Gate == api.GateLost || k.homes.homeTold(claim) || k.homes.homePaused(e.Home, now) {
			continue
		}
		_, err := k.Homes.Claim(telling, e.Home, claim)
		switch {
		case err == nil, api.Refused(err):
			k.homes.toldHome(claim, e.Deadline()+toldFor)
		default:
			k.Log.Info("the home of a group is told later what became of a job", "plan", e.ID, "job", e.Job, "home", e.Home, "error", err)
			k.homes.heardHome(&homeAnswer{home: e.Home, err: err}, now)
		}
	}
	k.homes.forgetTold(now)
	return ctx.Err()
}

// homeAnswer is what a home has said of groups.
type homeAnswer struct {
	home   string
	groups []string
	states []api.GroupState
	err    error
}

// followGroup notes what has become of the group of e. If the work of e's job is not to run, it
// cancels the job.
func (k *members) followGroup(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error {
	if e.Group == "" || e.Progress.Gate == api.GateGo {
		return nil
	}
	if e.Progress.Gate == "" {
		answer, err := bounded(e, k.homes.fate(e, now), now)
		if err != nil || answer.Answer == api.GateWait {
			return err
		}
		if err := k.recordGate(ctx, e, answer, now); err != nil || answer.Answer == api.GateGo {
			return err
		}
	}
	if j == nil || k.Desk.Shadow || k.memory.postponed(e.ID, now) {
		return nil
	}
	k.memory.postpone(e.ID, now) // until the queue shows the cancellation
	if err := k.Slurm.Cancel(ctx, e.Job); err != nil && !errors.Is(err, slurm.ErrNotFound) {
		k.memory.postponeAfter(err, e.ID, k.Now())
		return fmt.Errorf("cancel a job whose group is decided: %w", err)
	}
	k.Log.Info("cancelled, as its group is decided", "plan", e.ID, "job", e.Job, "why", e.Note)
	return nil
}
