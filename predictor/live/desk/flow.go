package desk

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/offer"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/dependency"
	"github.com/varq-project/varq/predictor/workload"
)

// Flows forecasts flows: jobs of a user of which some wait for others.
type Flows struct{ *Desk }

// Quote tells whether a user can be promised that all jobs of a flow have ended by a time, and with
// which estimate, and forecasts them. The errors are faults of package api.
func (d Flows) Quote(ctx context.Context, user string, req *api.FlowRequest) (answer api.FlowAnswer, err error) {
	if err := checkAhead(req.FinishBy, d.Desk.Now(), d.Zone); err != nil {
		return answer, err
	}
	v, err := d.view(ctx, user, nil)
	if err != nil {
		return answer, err
	}
	f, err := v.flows(user)
	if err != nil {
		return answer, err
	}
	if err := f.readNew(ctx, f.unseen(req.Jobs), api.MostFlowJobs); err != nil {
		return answer, err
	}
	if req.Released {
		f.release()
	}
	for _, id := range req.Jobs {
		if !f.has(id) {
			return answer, api.Fault(api.ErrNotFound, fmt.Sprintf("job %d is not in the queue, or is not yours: a flow is promised of your own jobs that wait or run", id))
		}
	}
	named, engines := f.named(req.Jobs)
	all := f.members(named)
	counting := f.counting(all)
	answer.Flow, answer.AsOf = f.whole(all, counting), d.Outlook.Seen()
	answer.Flow.Engines = engines
	if err := v.err(); err != nil {
		return answer, err
	}
	members := slices.DeleteFunc(counting, func(j *slurm.QueueEntry) bool { return j.User != user })
	q := v.question(user, &api.PlanRequest{Job: members[0].Request, FinishBy: req.FinishBy, Prob: req.Prob})
	if answer.Refusal = q.terms.admit(q.request.Prob); answer.Refusal != nil {
		return answer, nil
	}
	if answer.Flow.Unknown != "" {
		answer.Refusal = &api.Refusal{Reason: answer.Flow.Unknown}
		return answer, nil
	}
	end, unknown := f.end(members, q.request.Prob)
	if unknown != "" {
		answer.Refusal = &api.Refusal{Reason: unknown}
		return answer, nil
	}
	estimate := end.prob(req.FinishBy)
	switch {
	case d.Shadow:
		answer.Refusal = &api.Refusal{Reason: "varqd only watches here, and promises nothing (plan.mode: shadow)"}
	case estimate < q.request.Prob:
		answer.Refusal = end.refuse(v.now, req.FinishBy, q.request.Prob, answer.Flow.Lost)
		if d.Outlook.Learning() {
			answer.Refusal.Reason += stillLearning
		}
	default:
		answer.Promised = &api.FlowPromise{
			User: user, Name: req.Name, Jobs: numbers(members), FinishBy: req.FinishBy, Prob: q.request.Prob, Estimate: estimate, Promised: v.now, State: api.StatePending,
		}
	}
	return answer, nil
}

// Now forecasts the jobs of a promise of a flow that are in the queue, and returns the probability
// that they have ended by its deadline, or nil if nothing is forecast. slots are where these jobs
// have room when they are likely to start. The error is a fault of package api.
func (d Flows) Now(ctx context.Context, p *api.FlowPromise) (now *float64, told *api.Flow, slots []workload.Claim, err error) {
	v, err := d.view(ctx, p.User, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	f, err := v.flows(p.User)
	if err != nil {
		return nil, nil, nil, err
	}
	all := f.members(p.Jobs)
	told = f.whole(all, f.counting(all))
	_, told.Engines = f.named(p.Jobs)
	members := slices.DeleteFunc(all, func(j *slurm.QueueEntry) bool { return !isOf(p.Jobs, j) })
	if end := f.last(members); end != nil {
		share := end.Prob(p.FinishBy)
		now = &share
	}
	return now, told, f.slots(members), v.err()
}

// Wait forecasts how much longer a job waits that waits for others. It reports false if nothing is
// forecast of it.
func (d Flows) Wait(ctx context.Context, j *slurm.QueueEntry) (w flow.Wait, ok bool) {
	v, err := d.view(ctx, j.User, nil)
	if err != nil {
		return w, false
	}
	f, err := v.flows(j.User)
	if err != nil {
		return w, false
	}
	is := f.of(j)
	if is.unknown != "" {
		return w, false
	}
	w, ok = f.Wait(is.place)
	return w, ok && v.err() == nil
}

// isOf reports whether a job, or its array, is one of some.
func isOf(jobs []int64, j *slurm.QueueEntry) bool {
	return slices.Contains(jobs, j.ID) || j.ArrayJob != 0 && slices.Contains(jobs, j.ArrayJob)
}

// numbers returns the numbers of jobs, and of an array its own.
func numbers(jobs []*slurm.QueueEntry) (list []int64) {
	for _, j := range jobs {
		list = append(list, cmp.Or(j.ArrayJob, j.ID))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// has reports whether a job of the user's, or an array, is in the queue.
func (f *flows) has(id int64) bool {
	return slices.ContainsFunc(f.index.of(id), func(j *slurm.QueueEntry) bool { return j.User == f.user })
}

// release lets the jobs go that the user holds.
func (f *flows) release() {
	var released []*slurm.QueueEntry
	for _, j := range f.entries {
		if j.User == f.user && j.Held {
			free := *j
			free.Held, free.Reason, free.Eligible = false, "Priority", f.now
			released = append(released, &free)
		}
	}
	f.index = f.with(released)
}

// counting returns the jobs of a flow that count for its end: all but those that wait for another
// to fail, or for one that does.
func (f *flows) counting(all []*slurm.QueueEntry) []*slurm.QueueEntry {
	left := map[int64]bool{}
	without := func(j *slurm.QueueEntry) bool {
		return slices.ContainsFunc(conditionsOf(j), func(c dependency.Condition) bool {
			return c.Kind == dependency.Failed || slices.ContainsFunc(f.awaitedBy(j, c), func(o *slurm.QueueEntry) bool { return left[o.ID] })
		})
	}
	for found := true; found; {
		found = false
		for _, j := range all {
			if !left[j.ID] && without(j) {
				left[j.ID], found = true, true
			}
		}
	}
	counting := slices.DeleteFunc(slices.Clone(all), func(j *slurm.QueueEntry) bool { return left[j.ID] })
	if len(counting) == 0 { // all are for the case that another fails
		return all
	}
	return counting
}

// places returns those of the jobs of which something is forecast. It says why if of one nothing
// is.
func (f *flows) places(jobs []*slurm.QueueEntry) (places []int, unknown string) {
	for _, j := range jobs {
		if a := f.of(j); a.unknown == "" {
			places = append(places, a.place)
		} else {
			unknown = cmp.Or(unknown, "of job "+squeueID(j)+" nothing is forecast: "+a.unknown)
		}
	}
	return places, unknown
}

// last returns when all of some jobs have ended by themselves, or nil if of one nothing is
// forecast.
func (f *flows) last(members []*slurm.QueueEntry) *flow.Times {
	places, unknown := f.places(members)
	if unknown != "" {
		return nil
	}
	all := flow.TimesOf(f.Done(places))
	return &all
}

// slots returns claims of jobs that wait, for when they start as likely as not.
func (f *flows) slots(members []*slurm.QueueEntry) (slots []workload.Claim) {
	for _, j := range members {
		a := f.of(j)
		if a.unknown != "" || j.Start != 0 {
			continue
		}
		asked, err := f.asked(j)
		starts := flow.TimesOf(f.Courses(a.place).Start)
		start := starts.Quantile(.5)
		if err != nil || start == flow.Never {
			continue
		}
		slots = append(slots, workload.Claim{Request: asked, Pieces: f.as(j, asked).Pieces(), Job: j.ID, Start: start, From: start})
	}
	return slots
}

// flowEnd is when the last job of a flow ends, as it may be promised.
type flowEnd struct {
	times *flow.Times
	// risk is how many times the risk of being late counts: as often as it does in a promise about
	// the end of that job alone which the whole waits for most.
	risk float64
	// stopped is the probability that one is stopped at its time limit.
	stopped float64
}

// end returns when the last of some jobs ends, all of which are forecast, for a promise with a
// probability. It says why if that cannot be promised.
func (f *flows) end(members []*slurm.QueueEntry, prob float64) (end flowEnd, unknown string) {
	places, _ := f.places(members)
	end = flowEnd{times: f.last(members), risk: 1, stopped: f.Stopped(places)}
	critical := f.Critical(places)
	most := slices.MaxFunc(members, func(a, b *slurm.QueueEntry) int {
		waits := func(j *slurm.QueueEntry) float64 {
			if j.Start != 0 {
				return -1
			}
			return critical[f.of(j).place]
		}
		return cmp.Compare(waits(a), waits(b))
	})
	if most.Start != 0 {
		return end, ""
	}
	asked, err := f.asked(most)
	if err != nil {
		return end, err.Error()
	}
	r := trajectory.Request{Job: asked, Pieces: f.as(most, asked).Pieces(), Now: f.now, Prob: prob}
	p, _, ok := f.desk.prospect(f.Cluster, &r, 0, completion.Circumstances{}, nil, f.desk.room(f.claims, true), new(forecast.Answer))
	if !ok {
		return end, "too little is known yet of how long such jobs wait and run"
	}
	if no := f.Young(&r, p.sample); no != nil {
		return end, no.Reason
	}
	if by, ok := p.forecast.Within(prob, 1); ok {
		end.risk = max(1, (1-p.Prob(float64(by)))/(1-p.forecast.Prob(float64(by))))
	}
	return end, ""
}

// prob returns the probability with which an end by a time can be promised.
func (e *flowEnd) prob(by int64) float64 {
	return max(0, 1-e.risk*(1-e.times.Prob(by)))
}

// refuse returns the refusal of a promise of an end, with offers. lost is the probability that a
// job never starts.
func (e *flowEnd) refuse(now, by int64, asked, lost float64) *api.Refusal {
	estimate := e.prob(by)
	no := &api.Refusal{Reason: fmt.Sprintf("that all jobs have ended by the deadline can be promised with probability %.2f at best, not %.6g", prob.Percent(estimate), asked)}
	if lost >= .05 {
		no.Reason += fmt.Sprintf("; with probability %s one of them never starts, as others do not end as it needs", prob.Format(lost))
	}
	if e.stopped >= .05 {
		no.Reason += fmt.Sprintf("; with probability %s one of them is stopped at its time limit, and then nothing is promised: --time gives it more", prob.Format(e.stopped))
	}
	if likely := e.times.Prob(by); likely-estimate >= .05 {
		no.Reason += fmt.Sprintf("; the forecast is %s, and a promise counts the risk of being late %.1f times", prob.Format(likely), e.risk)
	}
	if most := offer.Most(e.prob(by - offer.Patience)); most >= asked/2 && most < asked {
		no.Offers = append(no.Offers, api.Offer{Kind: api.OfferEnd, FinishBy: by, Prob: most})
	}
	needed := 1 - (1-offer.Enough(asked))/e.risk
	if at := e.times.Quantile(needed); at != flow.Never && needed < 1 {
		no.Offers = append(no.Offers, api.Offer{Kind: api.OfferEnd, FinishBy: (max(at, now)+offer.Patience+59)/60*60 + 60, Prob: asked})
	}
	return no
}
