// Package broker reserves for a user at one of several sites, or a group of jobs at several sites.
// For one job it asks all sites for slots, sorts the slots by the user's preferences, and takes the
// first slot that holds (Röblitz, Schintke and Wendler 2005, figure 1). It runs in the user's
// command, which says with a Request what is wanted.
//
// Invariant for one job: whatever happens to the broker, to a site's varqd or to its slurmctld, at
// most one job can start. No other is left, but for a time at a site without varqd (Left). A job is
// submitted with a tentative promise, with which it cannot start. At most one promise is ever
// confirmed. The next slot is tried only after the site has said that the promise before is not
// confirmed, or after the site's Slurm has cancelled that job. At a site without varqd, the job
// itself takes the place of the promise: it is on trial (package sbatch).
package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// Choice is a slot at a site.
type Choice struct {
	Site string `json:"site"`
	api.Slot
	// Part is the part of a group that the slot is for; see api.GroupMember.
	Part int `json:"part,omitempty"`
	// Plan is the promise, and Job its job, if the slot was taken. A slot with a Method comes
	// without a promise.
	Plan *api.Plan `json:"plan,omitempty"`
	Job  int64     `json:"job,omitempty"`
}

// Failure is a slot that could not be reserved.
type Failure struct {
	Choice
	Why string `json:"why"`
}

// Outcome is the outcome of Reserve.
type Outcome struct {
	// Taken is what was reserved, or nil.
	Taken *Choice `json:"taken,omitempty"`
	// RunnerUp is the next slot in the user's order of preference.
	RunnerUp *Choice `json:"runner_up,omitempty"`
	// Tried are the slots that could not be reserved, in order.
	Tried []Failure `json:"tried,omitempty"`
	// Untried is true if there were too many slots, so that some were not tried.
	Untried bool `json:"untried,omitempty"`
}

// Doubt is the error of a promise if nobody knows whether it was confirmed: neither the site's
// varqd nor its Slurm answers any more. The job runs if the promise was confirmed, and is cancelled
// if not. Nothing else was reserved.
type Doubt struct {
	Choice
	Err error
	// Home is true if the job is confirmed, but the group's home does not say whether the group was
	// given up.
	Home bool
}

func (d *Doubt) Error() string {
	if d.Home {
		return fmt.Sprintf("the cluster that keeps the group does not answer, so that nobody knows whether it is reserved: %v; as soon as it answers, "+
			"'varq status --site=%s %d' tells what becomes of job %d at %s", d.Err, d.Site, d.Job, d.Job, d.Site)
	}
	if d.Method != "" {
		return fmt.Sprintf("cluster %s has job %d, but its Slurm does not answer, so that nobody knows whether it is reserved: %v; as soon as it answers, "+
			"squeue there tells whether the job is to begin at its time; one that was not confirmed never starts, and Slurm cancels it by itself", d.Site, d.Job, d.Err)
	}
	return fmt.Sprintf("cluster %s has job %d, but does not answer, so that nobody knows whether it is reserved: %v; as soon as varqd answers there, "+
		"'varq status --site=%s %d' tells, and if it was not confirmed the job is cancelled by itself", d.Site, d.Job, d.Err, d.Site, d.Job)
}

func (d *Doubt) Unwrap() error { return d.Err }

// ErrInterrupted is the error of Reserve if its context ends.
var ErrInterrupted = errors.New("interrupted; nothing is reserved")

// Options configure Reserve.
type Options struct {
	Prefer elastic.Preferences
	// Tries is the greatest number of slots that are tried.
	Tries int
	// Tentative is for how many seconds a promise waits to be confirmed. The submission must take
	// less.
	Tentative int64
	// Pause is the time between two attempts to confirm a promise, or to take it back.
	Pause time.Duration
	// Now is the clock.
	Now func() time.Time
}

// Rank returns the slots of all answers in the order of preference.
func Rank(answers []Answer, prefer elastic.Preferences) []Choice {
	list := []Choice{} // not null in JSON
	ranked(answers, prefer, func(_ *elastic.Slot, c *Choice) bool {
		list = append(list, *c)
		return true
	})
	return list
}

// ranked yields the slots of all answers in the order of preference: each as package elastic knows
// it, and as it was answered.
func ranked(answers []Answer, prefer elastic.Preferences, yield func(s *elastic.Slot, c *Choice) bool) {
	slots, index := index(answers)
	for group := range elastic.Rank(slots, prefer, 0) {
		for _, s := range group {
			if !yield(s, &Choice{Site: s.Site, Slot: *index[*s]}) {
				return
			}
		}
	}
}

// index converts the slots of each answer for package elastic, and returns a map back.
func index(answers []Answer) (slots [][]elastic.Slot, of map[elastic.Slot]*api.Slot) {
	slots, of = make([][]elastic.Slot, len(answers)), map[elastic.Slot]*api.Slot{}
	for i := range answers {
		a := &answers[i]
		for n := range a.Slots {
			s := slotOf(a.Site, &a.Slots[n])
			slots[i] = append(slots[i], s)
			of[s] = &a.Slots[n]
		}
	}
	return slots, of
}

// Reserve takes the first slot of the answers, in the order of the user's preferences, that holds.
// The slot's job is then submitted and promised. After an error that is a *Doubt, it is not known
// whether the slot is reserved. After any other error nothing is reserved.
func Reserve(ctx context.Context, sites []Site, answers []Answer, o Options) (Outcome, error) {
	byName := make(map[string]Site, len(sites))
	for _, s := range sites {
		byName[s.Name()] = s
	}
	if ctx.Err() != nil {
		return Outcome{}, ErrInterrupted
	}
	slots, of := index(answers)
	slots = o.ahead(slots)
	var taken *Choice
	var ended error
	got := elastic.Reserve(elastic.Rank(slots, o.Prefer, 0), func(s *elastic.Slot) error {
		if ended != nil {
			return ended
		}
		c := &Choice{Site: s.Site, Slot: *of[*s]}
		err := o.take(ctx, byName[s.Site], c)
		var doubt *Doubt
		switch {
		case err == nil:
			if taken = c; c.Method != "" {
				c.Plan = nil
			}
		case errors.As(err, &doubt):
			ended = err
		case ctx.Err() != nil:
			ended = ErrInterrupted
		}
		return err
	}, o.Tries)
	if ended != nil {
		return Outcome{}, ended
	}
	out := Outcome{Taken: taken, Untried: got.More}
	if got.RunnerUp != nil {
		out.RunnerUp = &Choice{Site: got.RunnerUp.Site, Slot: *of[*got.RunnerUp]}
	}
	for _, f := range got.Tried {
		out.Tried = append(out.Tried, Failure{Choice{Site: f.Slot.Site, Slot: *of[f.Slot]}, f.Err.Error()})
	}
	return out, nil
}

// errPast is the error of a slot that is tried too late.
var errPast = errors.New("its time is over")

// soon is how many seconds ahead a slot must be to be tried, because its job has to be submitted
// first.
const soon = 2

// ahead leaves out the slots whose time is over. A slow site may have delayed all others. If the
// time of all slots is over, it leaves out none, so that the user learns about it.
func (o *Options) ahead(slots [][]elastic.Slot) [][]elastic.Slot {
	left := make([][]elastic.Slot, len(slots))
	some := false
	for i := range slots {
		for _, s := range slots[i] {
			if s.Start >= o.Now().Unix()+soon {
				left[i], some = append(left[i], s), true
			}
		}
	}
	if !some {
		return slots
	}
	return left
}

// take reserves one slot. After an error that is no *Doubt, what is left behind expires by itself.
func (o *Options) take(ctx context.Context, site Site, c *Choice) error {
	if c.Start < o.Now().Unix()+soon { // others were tried meanwhile
		return errPast
	}
	// The site counts these seconds from the time of its promise, which is later.
	submitting, cancel := context.WithTimeout(ctx, time.Duration(o.Tentative)*time.Second)
	defer cancel()
	got, err := site.Submit(submitting, &c.Slot, o.Tentative)
	c.Plan, c.Job = got.Plan, got.Job
	var refused *sbatch.Refused
	switch {
	case errors.As(err, &refused):
		return err
	case err != nil && ctx.Err() == nil && submitting.Err() != nil:
		err = fmt.Errorf("%w: the job could not be submitted within %d s: %w", elastic.ErrSite, o.Tentative, err)
	case err != nil && c.Start <= o.Now().Unix(): // the site may have later slots
		err = fmt.Errorf("%w: %w", errPast, err)
	case err != nil:
		err = fmt.Errorf("%w: %w", elastic.ErrSite, err)
	default:
		if err = c.agree(got.Plan); err == nil {
			if err = o.confirm(ctx, site, c); err != nil || o.Now().Unix() <= c.Start {
				return err
			}
			return o.late(ctx, site, c)
		}
	}
	if got.Plan != nil {
		o.release(ctx, site, c)
	}
	return err
}

// dearer is the factor by which a promise may cost more than its slot, because it is made some
// seconds later.
const dearer = 1.05

// agree returns an error if a promise does not match the slot. Otherwise it copies the promise's
// numbers into the slot: they may have changed a little since the probe.
func (c *Choice) agree(p *api.Plan) error {
	atMost := p.AtMost()
	told, costs := c.Work.BillingSeconds+c.Worst.BillingSeconds, p.Work.BillingSeconds+atMost.BillingSeconds
	switch {
	case p.BeginBy != c.Start, p.WorkLimit != c.Limit, p.SizeNodes != 0 && p.SizeNodes != c.Nodes:
		return fmt.Errorf("the cluster promises another slot: a start by %s, for %s of work", slurmtime.Stamp(p.BeginBy, time.UTC), slurmtime.FormatDuration(p.WorkLimit))
	case told == 0 && costs > 0:
		return errors.New("by now it costs something")
	case costs > dearer*told && p.Work.BillingSeconds+p.Worst.BillingSeconds <= dearer*told:
		return fmt.Errorf("by its --max-cost it may cost %.2f times as much as is told of it: leave that out, or lower it", costs/told)
	case costs > dearer*told:
		return fmt.Errorf("by now it costs %.2f times as much", costs/told)
	}
	if told > 0 {
		c.Cost *= costs / told
	}
	c.Estimate, c.Work, c.Worst = p.Estimate, p.Work, atMost
	return nil
}

// confirm confirms the promise of a slot. If the site does not answer, or cannot tell, confirm asks
// again until the promise has expired there.
func (o *Options) confirm(ctx context.Context, site Site, c *Choice) error {
	confirmation := api.Confirmation{Plan: c.Plan.ID, Job: c.Job}
	until := o.Now().Add(time.Duration(o.Tentative) * time.Second)
	for {
		err := site.Confirm(ctx, confirmation)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, api.ErrConflict): // it has expired
			o.release(ctx, site, c)
			return err
		case api.Refused(err), ctx.Err() != nil, o.Now().After(until):
			return o.settle(ctx, site, c, err)
		}
		sleep(ctx, o.Pause)
	}
}

// late lets Slurm cancel the job of a slot that was confirmed when its time was over, as Slurm was
// slow, unless the job has started.
func (o *Options) late(ctx context.Context, site Site, c *Choice) error {
	switch started, unknown := o.cancel(ctx, site, c); {
	case unknown != nil:
		return &Doubt{Choice: *c, Err: unknown}
	case started:
		return nil
	}
	return errPast
}

// settle resolves a promise of which it is not known whether it is confirmed, because of err. First
// it tries to take the promise back, which fails if the promise was confirmed. If the site's varqd
// does not answer, it lets Slurm cancel the job unless the job runs.
func (o *Options) settle(ctx context.Context, site Site, c *Choice, err error) error {
	switch released := o.takeBack(ctx, site, c); {
	case released == nil:
		taken := fmt.Errorf("the promise could not be confirmed, and is taken back: %w", err)
		if !api.Refused(err) { // during all that time
			return fmt.Errorf("%w: %w", elastic.ErrSite, taken)
		}
		return taken
	case errors.Is(released, api.ErrConflict): // it was confirmed after all
		return nil
	}
	switch started, unknown := o.cancel(ctx, site, c); {
	case unknown != nil:
		return &Doubt{Choice: *c, Err: err}
	case started: // it starts only if its promise was confirmed
		return nil
	}
	return fmt.Errorf("%w: job %d is cancelled, as nobody has confirmed its promise: %w", elastic.ErrSite, c.Job, err)
}

// The longest times for taking back a promise, and for letting Slurm cancel a job.
const (
	releaseTime = 5 * time.Second
	cancelTime  = 15 * time.Second
)

// release removes a promise that is not and will not be confirmed, and its job. If neither varqd
// nor Slurm answers, the promise expires by itself.
func (o *Options) release(ctx context.Context, site Site, c *Choice) {
	if o.takeBack(ctx, site, c) != nil && c.Job != 0 {
		_, _ = o.cancel(ctx, site, c)
	}
}

// takeBack takes back a promise and its job, even if ctx is done.
func (o *Options) takeBack(ctx context.Context, site Site, c *Choice) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	for {
		err := site.Release(ctx, c.Plan.ID)
		if err == nil || api.Refused(err) {
			return err
		}
		if sleep(ctx, o.Pause); ctx.Err() != nil {
			return err
		}
	}
}

// cancel lets Slurm cancel the job of a promise, even if ctx is done.
func (o *Options) cancel(ctx context.Context, site Site, c *Choice) (started bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer cancel()
	return site.Cancel(ctx, c.Plan, c.Job)
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
