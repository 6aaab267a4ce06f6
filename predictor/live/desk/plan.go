package desk

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/workload"
)

// Plan plans a reservation for user. If promise is true, the plan is a promise, and is in
// the ledger, on disk, before Plan returns. Otherwise the plan is a quote, and nothing is
// promised. A refusal is an answer and not an error. The errors are faults of package api.
func (d *Desk) Plan(ctx context.Context, user string, req *api.PlanRequest, promise bool) (api.PlanAnswer, error) {
	if err := d.checkHome(req); err != nil {
		return api.PlanAnswer{}, err
	}
	if no, err := d.mayPromise(ctx, user); no != nil || err != nil {
		if promise && no != nil {
			d.Metrics.refusals.Inc()
		}
		return api.PlanAnswer{Refusal: no}, err
	}
	if len(req.Sizes) > 0 {
		return d.planSizes(ctx, user, req, promise)
	}
	if req.Finishes() {
		return d.planCompletion(ctx, user, req, promise)
	}
	return d.planStart(ctx, user, req, promise, (*trajectory.Planner).Plan)
}

// decide is how a planner answers: its Plan or, without the search for offers, its Decide.
type decide func(*trajectory.Planner, trajectory.Request) trajectory.Answer

// planStart is Plan for one size of a job whose start is promised.
func (d *Desk) planStart(ctx context.Context, user string, req *api.PlanRequest, promise bool, how decide) (api.PlanAnswer, error) {
	for {
		if answer, err := d.plan(ctx, user, req, promise, how); !errors.Is(err, errCrowded) {
			return answer, err
		}
	}
}

// allForbidden ends the sentence of a refusal if the site's policy forbids all offers.
const allForbidden = ", and whatever could be promised instead would let nodes idle for longer than the site's policy allows (varq limits): try a much later deadline or a smaller job, or do without a promise"

// attended is a Forecaster as long as somebody waits for the plan, and then tells of no starts, so that the plan is over soon. The offers of a
// refusal take many forecasts: requests that were given up must not keep others waiting.
type attended struct {
	trajectory.Forecaster
	ctx context.Context
}

// Forecast implements trajectory.Forecaster.
func (a attended) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	if a.ctx.Err() != nil {
		clear(est)
		return
	}
	a.Forecaster.Forecast(r, now, c, est)
}

// plan is planStart, but returns errCrowded if other promises take the room meanwhile.
func (d *Desk) plan(ctx context.Context, user string, req *api.PlanRequest, promise bool, how decide) (api.PlanAnswer, error) {
	planner, err := d.planner()
	if err != nil {
		return api.PlanAnswer{}, err
	}
	now := d.Now()
	r := d.plannerRequest(user, req, now)
	terms := d.terms(planner, &r, req)
	var answer api.PlanAnswer
	refuse := func(no *api.Refusal) (api.PlanAnswer, error) {
		answer.Refusal = no
		if promise {
			d.Metrics.refusals.Inc()
		}
		return answer, nil
	}
	if no := terms.admit(r.Prob); no != nil {
		return refuse(no)
	}
	terms.bound(planner, &r)
	claims, err := d.claims(ctx, now)
	if err != nil {
		return api.PlanAnswer{}, err
	}
	planner.Room = d.room(claims)
	jobs, unread := d.jobs(ctx, "")
	planner.Jobs = jobs
	planner.Forecaster = attended{planner.Forecaster, ctx}
	got := how(planner, r)
	if err := errors.Join(ctx.Err(), unread()); err != nil {
		return api.PlanAnswer{}, err
	}
	if req.Trajectory {
		answer.Trajectory = apiPoints(got.Trajectory)
	}
	if got.Refusal != nil {
		no := apiRefusal(got.Refusal)
		found := len(no.Offers)
		if no.Offers = slices.DeleteFunc(no.Offers, terms.forbids); len(no.Offers) == 0 && found > 0 {
			no.Reason += allForbidden
		}
		if d.Outlook.Learning() {
			no.Reason += stillLearning
		}
		return refuse(no)
	}
	plan := apiPlan(&r, got.Plan)
	plan.WorkLimit = got.Job.Limit
	plan.Learning, plan.AsOf = d.Outlook.Learning(), d.Outlook.Seen()
	terms.agree(&plan, &r)
	plan.OnMiss = cmp.Or(req.OnMiss, api.OnMissRun)
	if req.Tentative != 0 {
		plan.Tentative = now + req.Tentative
	}
	plan.Group, plan.Home, plan.GroupProb = req.Group, req.Home, terms.group
	plan.Cluster, plan.Preempted = stay(planner.Cluster), planner.Cluster.Partitions[got.Job.Partition].Preempted
	plan.Exclude, plan.Safer = d.avoided(planner.Cluster, &got.Job, req, duringWork(plan.Slot-now, &got.Job))
	if d.Shadow {
		return refuse(d.onlyWatching(&plan))
	}
	if promise {
		granted, err := d.StartGranting(ctx)
		if err != nil {
			return api.PlanAnswer{}, err
		}
		defer granted()
	}
	no, err := d.within(ctx, terms, &plan)
	if promise && no == nil && err == nil {
		no, err = d.beside(ctx, planner, &got, 0, r.Deadline, "")
	}
	if promise && no == nil && err == nil {
		err = d.stillRoom(ctx, &got, claims)
	}
	if promise && no == nil && err == nil {
		no, err = d.promise(ctx, &plan, &api.Reservation{
			User: user, Account: got.Job.Account, Partition: got.Job.Partition, QOS: got.Job.QOS, Size: got.Job.Size, Pieces: got.Pieces,
			BestEffort: req.BestEffort, Promised: now,
		})
	}
	switch {
	case err != nil:
		return api.PlanAnswer{}, err
	case no != nil:
		return refuse(no)
	}
	atMost := plan.AtMost()
	answer.Plan, answer.Ceiling = &plan, &atMost
	return answer, nil
}

// stillLearning ends the reason of a refusal while the whole past is being learnt.
const stillLearning = "; varqd has learnt only the newest part of the past so far: ask again in some minutes"

// StartGranting waits until nothing else is being granted. Until granted is called, nothing else is
// added to the open reservations, nor to what they may cost.
func (d *Desk) StartGranting(ctx context.Context) (granted func(), err error) {
	select {
	case d.granting <- struct{}{}:
		return func() { <-d.granting }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// beside returns a refusal if what was promised while the job was planned leaves no room for it
// under Slurm's limits, and errCrowded if it leaves none for so long a time limit. The plan's own
// promise is none of that, if there is one, nor is its job.
func (d *Desk) beside(ctx context.Context, planner *trajectory.Planner, got *trajectory.Answer, job, deadline int64, plan string) (*api.Refusal, error) {
	jobs, unread := d.jobs(ctx, plan)
	rule := planner.Cluster.CheckShares(got.Job, job, deadline, jobs)
	longest, _ := planner.Cluster.LimitBeside(got.Job, job, deadline, jobs)
	switch err := unread(); {
	case err != nil:
		return nil, err
	case rule != nil:
		return &api.Refusal{Reason: rule.Says, Limit: rule.Name}, nil
	case longest != limits.None && longest < got.Plan.Limit:
		return nil, errCrowded
	}
	return nil, nil
}

// promise gives plan an identifier, and writes r with this plan into the ledger, unless its user
// has too many promises without a job: then it returns a refusal.
func (d *Desk) promise(ctx context.Context, plan *api.Plan, r *api.Reservation) (*api.Refusal, error) {
	plan.ID = api.NewPlanID()
	plan.Comment = api.CommentPrefix + plan.ID
	r.Plan = *plan
	err := d.Ledger.Promise(ctx, r, d.boundUntil())
	no := hoards(err)
	switch {
	case no != nil:
		return no, nil
	case err != nil && ctx.Err() != nil:
		return nil, err // nobody waits for the answer any more
	case err != nil:
		d.Log.Error("promise could not be written down", "user", r.User, "error", err)
		return nil, api.Fault(api.ErrUnavailable, "the promise could not be written down, so none is made")
	}
	d.Metrics.promises.Inc()
	d.Log.Info("promised", "plan", plan.ID, "user", r.User, "deadline", plan.Deadline(), "prob", plan.Prob, "estimate", plan.Estimate, "begin", plan.BeginTime, "limit", plan.TimeLimit)
	return nil, nil
}

// plannerRequest translates a user's request for the planner, with the site's defaults.
func (d *Desk) plannerRequest(user string, req *api.PlanRequest, now int64) trajectory.Request {
	r := trajectory.Request{Job: req.Job, Needs: req.Needs, Now: now, Deadline: req.BeginBy, HoldUntil: req.BeginBy, Prob: req.Prob}
	r.Job.User = user
	switch {
	case req.BestEffort:
		r.HoldUntil = 0
	case req.BeginAfter != 0:
		r.HoldUntil = req.BeginAfter
	}
	return r
}

// apiPlan translates a planner's plan.
func apiPlan(r *trajectory.Request, p *trajectory.Plan) api.Plan {
	return api.Plan{
		BeginTime: p.Begin, TimeLimit: p.Limit, BeginBy: r.Deadline, HoldUntil: r.HoldUntil, Slot: p.Slot,
		Prob: r.Prob, Estimate: p.Estimate.Prob,
		Work: api.Cost(p.Work), Worst: api.Cost(p.Worst), Expected: api.Cost(p.Expected),
		Evidence: api.Evidence{Sample: p.Estimate.Sample, Class: p.Estimate.Class, Beyond: p.Estimate.Beyond},
	}
}

// apiPoints translates a trajectory.
func apiPoints(trajectory []trajectory.Point) []api.Point {
	list := make([]api.Point, len(trajectory))
	for i, p := range trajectory {
		list[i] = api.Point{BeginTime: p.Begin, TimeLimit: p.Limit, Prob: p.Prob, Class: p.Class}
	}
	return list
}

// apiRefusal translates a planner's refusal.
func apiRefusal(no *trajectory.Refusal) *api.Refusal {
	r := &api.Refusal{Reason: no.Reason, Limit: no.Limit}
	for _, o := range no.Offers {
		offer := api.Offer{
			Kind: string(o.Kind), Prob: o.Request.Prob, BeginBy: o.Request.Deadline, HoldUntil: o.Request.HoldUntil,
			Nodes: o.Request.Job.Nodes, CPUs: o.Request.Job.CPUs, Limit: o.Request.Job.Limit, Worst: api.Cost(o.Plan.Worst),
		}
		if o.Kind == trajectory.OfferNodes && o.Request.Needs != nil {
			offer.Scale = o.Request.Needs.Scale
		}
		r.Offers = append(r.Offers, offer)
	}
	return r
}

// stay returns what a plan's Cluster is: the promise is about the queue of this cluster, and not of its siblings in a federation.
func stay(c *limits.Cluster) string {
	if !c.Federated {
		return ""
	}
	return c.Name
}
