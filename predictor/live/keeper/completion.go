package keeper

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/negotiate"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/hostlist"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// Health tells of the cluster's nodes.
type Health interface {
	// FailureProb returns the probability that at least one of the nodes fails between two times, in seconds from
	// now on.
	FailureProb(nodes []string, from, to int64) float64
	// Lost returns those of the nodes in a hostlist that are down or do not respond.
	Lost(hostlist string) []string
}

// planCompletion is plan for a request about the end of a job. Its job is submitted at once, as it is, so
// that nothing idles.
func (k *Keeper) planCompletion(ctx context.Context, user string, req *api.PlanRequest, promise bool) (api.PlanAnswer, error) {
	planner, err := k.planner()
	if err != nil {
		return api.PlanAnswer{}, err
	}
	now := k.Now()
	r := trajectory.Request{Job: req.Job, Needs: req.Needs, Now: now, Deadline: cmp.Or(req.FinishBy, now+k.Horizon), Prob: req.Prob}
	r.Job.User = user
	terms := k.terms(planner, &r, req)
	var answer api.PlanAnswer
	refuse := func(no *api.Refusal) (api.PlanAnswer, error) {
		answer.Refusal = no
		if promise {
			k.Metrics.refusals.Inc()
		}
		return answer, nil
	}
	if no := terms.admit(max(r.Prob, req.Risk)); no != nil {
		return refuse(no)
	}
	if promise { // from here on, so that no two promises are made of the same room
		granted, err := k.startGranting(ctx)
		if err != nil {
			return api.PlanAnswer{}, err
		}
		defer granted()
	}
	claims, err := k.claims(ctx, now)
	if err != nil {
		return api.PlanAnswer{}, err
	}
	jobs, unread := k.jobs(ctx, "")
	planner.Jobs = jobs
	no := planner.Admit(&r)
	if err := unread(); err != nil {
		return api.PlanAnswer{}, err
	}
	if no != nil {
		return refuse(apiRefusal(no))
	}
	if missing := planner.Cluster.Missing(r.Job); missing != "" {
		return refuse(&api.Refusal{Reason: missing})
	}
	avoided, safer := k.avoided(planner.Cluster, &r.Job, req, duringWork(0, &r.Job))
	var wait forecast.Answer
	circumstances := completion.Circumstances{Checkpoints: req.CheckpointInterval}
	prospect, blocked, ok := k.prospect(planner.Cluster, &r, 0, circumstances, avoided, claims, &wait)
	if !ok {
		reason := cmp.Or(wait.Down, "nothing is known yet of how long such jobs wait; submit the job without --finish-by, and ask again once more jobs have run")
		return refuse(&api.Refusal{Reason: reason})
	}
	agreed := negotiate.Ask(prospect, negotiate.Request{Now: now, Deadline: req.FinishBy, Prob: r.Prob, Risk: req.Risk, Latest: now + k.Horizon + r.Job.Limit})
	for _, o := range agreed.Others {
		answer.Offers = append(answer.Offers, api.Offer{
			Kind: api.OfferEnd, Prob: o.Prob, FinishBy: o.Deadline, Nodes: r.Job.Nodes, CPUs: r.Job.CPUs, Limit: r.Job.Limit,
		})
	}
	if agreed.Promise == nil {
		offers := slices.Concat(answer.Offers, otherWays(&r, req, func(r *trajectory.Request, c completion.Circumstances) (negotiate.Prospect, bool) {
			p, _, ok := k.prospect(planner.Cluster, r, 0, c, avoided, claims, new(forecast.Answer))
			return p, ok
		}))
		answer.Offers = nil
		_, waking := planner.Cluster.Waking(r.Job)
		return refuse(&api.Refusal{Reason: agreed.Reason + because(blocked, prospect, &waking), Offers: offers})
	}
	plan := k.completionPlan(planner, &r, agreed.Promise, prospect, &wait)
	plan.OnMiss, plan.AsOf = cmp.Or(req.OnMiss, api.OnMissRun), k.Outlook.Seen()
	plan.Cluster = stay(planner.Cluster)
	plan.Exclude, plan.Safer, plan.CheckpointInterval = avoided, safer, req.CheckpointInterval
	if k.Shadow {
		return refuse(k.onlyWatching(&plan))
	}
	refused, err := k.within(ctx, terms, &plan)
	if promise && refused == nil && err == nil {
		refused, err = k.promise(ctx, &plan, &api.Reservation{
			User: user, Account: r.Job.Account, Partition: r.Job.Partition, QOS: r.Job.QOS, Size: r.Job.Size, Pieces: r.Pieces, Promised: now,
		})
	}
	switch {
	case err != nil:
		return api.PlanAnswer{}, err
	case refused != nil:
		return refuse(refused)
	}
	answer.Plan = &plan
	return answer, nil
}

// prospect forecasts the end of the job of r, which has waited for some seconds and is to avoid
// some nodes, beside claims. It sets wait to the forecast of what is left of the wait, and works
// out the circumstances' FailureRate. It also returns the first window that keeps the job from
// starting, or nil. It reports false if too little is known; wait.Down may then say why.
func (k *Keeper) prospect(c *limits.Cluster, r *trajectory.Request, waited int64, circumstances completion.Circumstances, avoided []string, claims []workload.Claim, wait *forecast.Answer) (p negotiate.Prospect, blocked *api.Blocked, ok bool) {
	q := forecast.Question{Request: r.Job, Now: r.Now, Submit: r.Now, Job: r.ID}
	if !k.Outlook.Wait(&q, waited, wait) {
		return nil, nil, false
	}
	blocked = avoid(wait, c.Blocked(r.Job, r.Pieces), r.Now, r.Job.Limit)
	room := k.room(claims)
	bound(wait, func(at int64) float64 {
		return room(workload.Claim{Request: r.Job, Pieces: r.Pieces, Job: r.ID, From: at}, r.Now, 0).Prob
	}, r.Now)
	waking, _ := c.Waking(r.Job)
	wake(wait, waking)
	fitting := c.Fitting(r.Job, r.Needs)
	circumstances.FailureRate = failuresOf(nodesFor(&r.Job, fitting), k.candidates(fitting, avoided, duringWork(0, &r.Job))) / float64(max(1, r.Job.Limit))
	p, ok = k.Outlook.Prospect(&q, circumstances, &wait.Wait)
	return p, blocked, ok
}

// otherWays returns offers of the end that r was refused: with a shorter time limit, which jobs like it
// hardly ever reach and which fits into more gaps, and with checkpoints, where failures cost too much.
func otherWays(r *trajectory.Request, req *api.PlanRequest, forecasts func(*trajectory.Request, completion.Circumstances) (negotiate.Prospect, bool)) (offers []api.Offer) {
	if req.FinishBy == 0 {
		return nil
	}
	with := func(limit, checkpoints int64) (enough bool) {
		changed := *r
		changed.Job.Limit = limit
		p, ok := forecasts(&changed, completion.Circumstances{Checkpoints: checkpoints})
		return ok && p.TimeOut() <= api.TimesOutOften && p.Prob(float64(req.FinishBy-r.Now)) >= r.Prob
	}
	offer := api.Offer{Prob: r.Prob, FinishBy: req.FinishBy, Nodes: r.Job.Nodes, CPUs: r.Job.CPUs, Limit: r.Job.Limit}
	for _, share := range shorter {
		if limit := slurmtime.Minutes(int64(share*float64(r.Job.Limit))) * 60; limit < r.Job.Limit && with(limit, req.CheckpointInterval) {
			less := offer
			less.Kind, less.Limit = api.OfferTime, limit
			offers = append(offers, less)
			break
		}
	}
	for _, interval := range oftener {
		if interval < r.Job.Limit && (req.CheckpointInterval == 0 || interval < req.CheckpointInterval) && with(r.Job.Limit, interval) {
			saves := offer
			saves.Kind, saves.CheckpointInterval = api.OfferSaves, interval
			offers = append(offers, saves)
			break
		}
	}
	return offers
}

var (
	shorter = [...]float64{.75, .5, .25, .125} // shares of the time limit that are tried, the longest first
	oftener = [...]int64{3600, 600}            // seconds between checkpoints that are tried, the longest first
)

// because says what else lowers the probability of an end, as the end of a sentence. waking is the rule by which nodes are powered up,
// or none.
func because(blocked *api.Blocked, p negotiate.Prospect, waking *limits.Rule) string {
	switch {
	case blocked != nil:
		return "; " + blocked.Why
	case waking.Says != "":
		return "; " + waking.Says
	case p.TimeOut() > api.TimesOutOften:
		return fmt.Sprintf("; jobs like it are stopped at their time limit with probability %.2f, before their work is done: ask for a longer one (--time) if that may happen", p.TimeOut())
	}
	return ""
}

// completionPlan returns the plan for what was agreed on.
func (k *Keeper) completionPlan(planner *trajectory.Planner, r *trajectory.Request, agreed *negotiate.Offer, p negotiate.Prospect, wait *forecast.Answer) api.Plan {
	within := float64(agreed.Deadline - r.Now)
	return api.Plan{
		BeginTime: r.Now, TimeLimit: slurmtime.Minutes(r.Job.Limit) * 60, FinishBy: agreed.Deadline, WorkLimit: r.Job.Limit,
		Slot: r.Now + int64(min(wait.Wait.Quantile(.5), delay.At(delay.Points-1))),
		Prob: agreed.Prob, Estimate: agreed.Estimate, TimeOut: p.TimeOut(), Lost: p.Lost(within),
		Work:     api.Cost(planner.Work(*r)),
		Evidence: api.Evidence{Sample: int(wait.Sample), Class: wait.Class, Beyond: wait.Beyond},
	}
}

// followCompletion follows the job of a reservation with FinishBy while it is in the queue. Such a job
// runs as it would without varq, so nothing is moved: what is forecast is whether it will have ended by
// then and, if not, by when.
func (k *Keeper) followCompletion(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, now int64) error {
	if j.Completing {
		return nil
	}
	c := k.newChange(e, now)
	p := &c.progress
	if j.Submit != p.Submit {
		p.WorkedBefore += worked(p.Start, j.Submit)
		p.Start, p.WorkStart, p.Nodes = 0, 0, 0
	}
	if j.Start == 0 {
		c.observe(j)
	} else {
		if j.Submit != p.Submit {
			c.requeue(j)
		}
		p.State, p.Name, p.Held, p.Nodes = api.StateRunning, shownName(j.Name), false, j.Job.Nodes
		p.Eligible, p.Start, p.WorkStart = j.Eligible, j.Start, j.Start
		c.observeSuspension(j)
	}
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	if now >= e.FinishBy+skew {
		return k.lateCompletion(ctx, e, j, c)
	}
	return k.foreseeCompletion(ctx, e, j, c)
}

// notFinished is how the note of a job begins that has not ended by its deadline.
const notFinished = "not finished by the deadline"

// lateCompletion records that a job has not ended by its deadline. It cancels a job that still waits, and that nobody has
// changed or stopped, if OnMiss is OnMissCancel. A job that runs goes on: the work that it has done is worth more than its nodes.
func (k *Keeper) lateCompletion(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, c *change) error {
	p := &c.progress
	k.memory.forget(e.ID)
	if !p.Late {
		p.Late = true
		text := notFinished
		switch {
		case p.Stopped != "":
			text += ": " + stopper(p.Stopped)
		case j.Start == 0:
			text += ": it still waits"
		default:
			text += ": it still runs"
		}
		c.event(ledger.Note, "%s", text)
		if err := k.record(ctx, e, c); err != nil {
			return err
		}
	}
	if k.Shadow || j.Start != 0 || e.OnMiss != api.OnMissCancel || p.Yielded || p.Held || p.Stopped != "" || j.RestartCount > 0 || k.memory.postponed(e.ID, c.now) {
		return nil
	}
	return k.cancelLate(ctx, e, c, notFinished+", "+cancelledAsAsked)
}

// foreseeCompletion forecasts whether the promise will be kept, and records it if that changes.
func (k *Keeper) foreseeCompletion(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry, c *change) error {
	p := &c.progress
	if p.Held || p.Stopped != "" || j.Start == 0 && j.Eligible == 0 || p.Yielded && unforeseeable(j) {
		k.memory.forget(e.ID)
		return nil
	}
	var lost []string
	if k.Health != nil && j.Start != 0 {
		lost = k.Health.Lost(j.Nodes)
	}
	prospect, from, ok := k.endOf(e, j, len(lost) > 0, c.now)
	if !ok || k.Outlook.Learning() && len(lost) == 0 {
		k.memory.forget(e.ID)
		return nil
	}
	forecast := prospect.Prob(float64(e.FinishBy - from))
	missing := ""
	if state := k.cluster.Load(); j.Start == 0 && state != nil {
		if missing = state.limits.Missing(j.Request); missing != "" {
			prospect, forecast = &completion.Prospect{}, 0
		}
	}
	later, why := int64(0), obstacle{}
	if seconds, ok := prospect.Within(e.Prob, 60); ok && prob.Short(forecast, e.Prob) {
		later = from + seconds
		if j.Start != 0 && len(lost) == 0 {
			later = min(later, j.Start+j.Limit) // by then it has ended
		}
	}
	switch {
	case len(lost) > 0:
		why.says = fmt.Sprintf("node %s is down or does not respond, so that the job has to begin again", lost[0])
	case missing != "":
		why = obstacle{says: missing, passing: true}
	case prospect.TimeOut() > .5 && prob.Short(forecast, e.Prob):
		why.says = "jobs that have run for so long are likely to be stopped at their time limit, and then nothing is promised"
	case forecast == 0:
		why = unlikely
	}
	k.memory.setForecast(e.ID, forecast, why)
	k.memory.setLater(e.ID, later)
	c.tellEndangered(e, forecast, later, why.reason())
	if err := k.record(ctx, e, c); err != nil {
		return err
	}
	k.warn(e, forecast, why.reason(), later)
	return nil
}

// endOf forecasts the end of e's job j, from a time on. A job that is lost with its nodes is put back into the
// queue. It reports false if too little is known.
func (k *Keeper) endOf(e *ledger.Entry, j *slurm.QueueEntry, lost bool, now int64) (p negotiate.Prospect, from int64, ok bool) {
	r := trajectory.Request{Job: j.Request, Pieces: e.Pieces, ID: e.Job, Now: now}
	r.Job.User, r.Job.Size = e.User, e.Size
	if j.Start != 0 && !lost {
		rate := 0.
		if nodes, err := hostlist.Expand(j.Nodes); err == nil {
			left := max(1, j.Start+j.Limit-now)
			rate = k.failures(nodes, window{0, left}) / float64(left)
		}
		q := forecast.Question{Request: r.Job, Now: now, Submit: now, Job: e.Job}
		p, ok = k.Outlook.Rest(&q, now-j.Start, completion.Circumstances{FailureRate: rate})
		return p, now, ok
	}
	state := k.cluster.Load()
	if state == nil {
		return p, 0, false
	}
	if _, ok := state.limits.Partitions[j.Partition]; !ok { // a list of partitions, or one newer than the last Refresh
		return p, 0, false
	}
	waited := int64(0)
	if j.Start == 0 {
		r.Now = max(now, j.Eligible)
		waited = r.Now - j.Eligible
	}
	var wait forecast.Answer
	p, _, ok = k.prospect(&state.limits, &r, waited, completion.Circumstances{Checkpoints: e.CheckpointInterval}, nil, k.plainClaims(), &wait)
	return p, r.Now, ok
}

// endangered is how the note of a promise begins that is less likely to be kept than it was made, by prob.Short.
const endangered = "endangered: "

// tellEndangered records an event when a promise becomes endangered, or for another reason, and when it no longer is.
func (c *change) tellEndangered(e *ledger.Entry, now float64, later int64, reason string) {
	told := strings.HasPrefix(e.Note, endangered)
	switch {
	case prob.Short(now, e.Prob) && (!told || !strings.Contains(e.Note, reason)):
		text := fmt.Sprintf("%sat %s it was to end by the deadline with probability %s", endangered, c.moment(c.now), prob.Format(now))
		if reason != "" {
			text += ": " + reason
		}
		if later != 0 {
			text += fmt.Sprintf("; with probability %.4g it ends by %s", e.Prob, c.moment(later))
		}
		c.event(ledger.Note, "%s", text)
	case told && now >= min(1, e.Prob+margin):
		c.event(ledger.Note, "no longer endangered: it ends by the deadline with probability %s", prob.Format(now))
	}
}
