package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/promise/offer"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Plan plans a reservation for user. If promise is true, the plan is a promise, and is in the
// ledger, on disk, before Plan returns. Otherwise the plan is a quote, and nothing is promised. A
// refusal is an answer and not an error. The errors are faults of package api.
func (d *Desk) Plan(ctx context.Context, user string, req *api.PlanRequest, promise bool) (api.PlanAnswer, error) {
	if err := d.checkHome(req); err != nil {
		return api.PlanAnswer{}, err
	}
	if err := checkAhead(req.FinishBy, d.Now(), d.Zone); err != nil {
		return api.PlanAnswer{}, err
	}
	if promise && req.Advisory {
		return api.PlanAnswer{}, api.Fault(api.ErrInvalid, "advisory: nothing is promised of what is only likely")
	}
	no, err := d.mayPromise(ctx, user)
	if err != nil {
		return api.PlanAnswer{}, err
	}
	answer := api.PlanAnswer{Refusal: no}
	if no == nil {
		answer, err = d.answer(ctx, user, req, promise)
	}
	switch {
	case err != nil || !promise:
	case answer.Refusal != nil:
		count(d.Metrics.Refusals)
	default:
		d.offered.promise(user, req, answer.Plan.ID, d.Now())
	}
	return answer, err
}

// furthest is how far ahead the deadline of an end may be, in seconds: a year. That of a start is
// bounded by the planner's horizon.
const furthest = 366 * 86400

// checkAhead returns a fault of package api if the deadline of an end is too far ahead, or nil.
func checkAhead(deadline, now int64, zone *time.Location) error {
	if deadline > now+furthest {
		return api.Fault(api.ErrInvalid, fmt.Sprintf("the deadline %s is more than a year ahead, for which nobody can tell what the queue will be like: name an earlier one", slurmtime.Format(deadline, zone)))
	}
	return nil
}

// answer is Plan for a user who may have promises. If others take the room of its offers while it
// looks for them, it looks once more, and then leaves these offers out.
func (d *Desk) answer(ctx context.Context, user string, req *api.PlanRequest, promise bool) (api.PlanAnswer, error) {
	for again := true; ; again = false {
		answer, err := d.planAny(ctx, user, req, promise)
		answer.AsOf = d.Outlook.Seen()
		if err == nil && answer.Refusal != nil && !d.Shadow && !req.Advisory {
			err = d.offer(ctx, user, req, answer.Refusal, promise, again)
		}
		if !errors.Is(err, errCrowded) {
			return answer, err
		}
	}
}

// offer makes the offers of a refusal and, if keep is true, keeps their room for the user. It
// leaves out those whose room others have been promised or offered meanwhile. If again is true, it
// makes none instead, and the error is errCrowded.
func (d *Desk) offer(ctx context.Context, user string, req *api.PlanRequest, no *api.Refusal, keep, again bool) error {
	if len(no.Offers) == 0 {
		d.offered.refuse(user, req, no, false, d.Now(), d.Zone)
		return nil
	}
	granted, err := d.StartGranting(ctx)
	if err != nil {
		return err
	}
	defer granted()
	now := d.Now()
	claims, err := d.claims(ctx, now)
	if err != nil {
		return err
	}
	claims, _ = d.withOffers(claims, user, d.offered.standing(user, nil, now), now)
	room, found := d.room(claims, true), len(no.Offers)
	no.Offers = slices.DeleteFunc(no.Offers, func(o api.Offer) bool {
		left := room(o.Claim, now, 0)
		if o.By == 0 { // of an end, which may also come of a later start
			return o.Claim.Nodes != 0 && !offer.Holds(o.Prob, left.Prob)
		}
		return left.Within(o.Claim.Start, o.By) < o.Prob
	})
	if len(no.Offers) < found && again {
		return errCrowded
	}
	if len(no.Offers) == 0 {
		no.Reason += allTaken
	}
	d.offered.refuse(user, req, no, keep, now, d.Zone)
	return nil
}

// allTaken ends the sentence of a refusal if others have taken the room of all its offers.
const allTaken = ", and what could be promised instead has just been promised or offered to others: ask again in a minute"

// planAny is Plan for a request that leaves something open, or does not.
func (d *Desk) planAny(ctx context.Context, user string, req *api.PlanRequest, promise bool) (api.PlanAnswer, error) {
	switch {
	case isOpen(req):
		return d.planAlternatives(ctx, user, req, promise)
	case len(req.Sizes) > 0:
		return d.planSizes(ctx, user, req, promise)
	case req.Finishes():
		return d.planCompletion(ctx, user, req, promise)
	}
	return d.planStart(ctx, user, req, promise, (*trajectory.Planner).Plan)
}

// decide is the method by which a planner answers: Plan, or Decide, which does not search for
// offers.
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

// plan is planStart, but returns errCrowded if other promises take the room meanwhile.
func (d *Desk) plan(ctx context.Context, user string, req *api.PlanRequest, promise bool, how decide) (api.PlanAnswer, error) {
	v, err := d.view(ctx, user, req)
	if err != nil {
		return api.PlanAnswer{}, err
	}
	q := v.question(user, req)
	if no := q.terms.admit(q.request.Prob); no != nil {
		return q.refuse(no)
	}
	switch no, err := q.waitForOthers(); {
	case err != nil:
		return api.PlanAnswer{}, err
	case no != nil:
		return q.refuse(no)
	}
	got := how(q.Planner, q.request)
	if err := q.err(); err != nil {
		return api.PlanAnswer{}, err
	}
	if req.Trajectory {
		q.answer.Trajectory = apiPoints(got.Trajectory)
	}
	if got.Refusal != nil {
		no := q.allowed(&got)
		if no.Reason += q.keptForOthers(&got); q.err() != nil {
			return api.PlanAnswer{}, q.err()
		}
		return q.refuse(no)
	}
	plan := q.startPlan(&got)
	if d.Shadow && !req.Advisory {
		return q.refuse(onlyWatching(&plan, d.Zone))
	}
	no, err := q.grantStart(&got, &plan, promise)
	switch {
	case err != nil:
		return api.PlanAnswer{}, err
	case no != nil:
		return q.refuse(no)
	}
	atMost := plan.AtMost()
	q.answer.Plan, q.answer.Ceiling, q.answer.MayChange = &plan, &atMost, len(q.Cluster.SubmitPlugins) > 0
	return q.answer, nil
}

// allowed converts the refusal of an answer, without the offers that the site's policy forbids.
func (q *question) allowed(got *trajectory.Answer) *api.Refusal {
	no := apiRefusal(got.Refusal)
	found := len(no.Offers)
	if no.Offers = slices.DeleteFunc(no.Offers, q.terms.forbids); len(no.Offers) == 0 && found > 0 {
		no.Reason += allForbidden
	}
	if forecast := len(got.Trajectory) > 0; forecast && q.desk.Outlook.Learning() {
		no.Reason += stillLearning
	}
	return no
}

// keptForOthers ends the sentence of a refusal of a start of which more could be promised but for
// the room that is kept for offers to others. Otherwise it is "".
func (q *question) keptForOthers(got *trajectory.Answer) string {
	if q.until == 0 || len(got.Trajectory) == 0 {
		return ""
	}
	free := *q.Planner
	free.Room = q.desk.room(q.claims, true)
	without := free.Decide(q.request)
	return q.keptUnless(without.Highest() <= got.Highest())
}

// keptUnless says until when room is kept for offers to others, unless as much can be promised.
func (q *question) keptUnless(asMuch bool) string {
	if asMuch {
		return ""
	}
	return fmt.Sprintf("; until %s room is kept for what was offered to others: ask again then, for more", slurmtime.Stamp(q.until, q.desk.Zone))
}

// startPlan returns the plan of an answer about a start.
func (q *question) startPlan(got *trajectory.Answer) api.Plan {
	plan, req := apiPlan(&q.request, got.Plan), q.asked
	plan.WorkLimit = got.Job.Limit
	plan.Array, plan.Tasks, plan.Dependency = req.Array, q.request.Tasks, req.Dependency
	plan.Slot = max(plan.Slot, q.from)
	plan.Learning, plan.AsOf = q.desk.Outlook.Learning(), q.desk.Outlook.Seen()
	q.asOffered(&plan)
	q.terms.agree(&plan, &q.request)
	plan.OnMiss = cmp.Or(req.OnMiss, api.OnMissRun)
	if req.Tentative != 0 {
		plan.Tentative = q.now + req.Tentative
	}
	plan.Group, plan.Home, plan.GroupProb = req.Group, req.Home, q.terms.group
	plan.Cluster, plan.Preempted = stay(q.Cluster), q.Cluster.Partitions[got.Job.Partition].Preempted
	plan.Exclude, plan.Safer = q.desk.hazard.avoided(q.Cluster, &got.Job, req, duringWork(plan.Slot-q.now, &got.Job))
	return plan
}

// asOffered says in a plan when it was offered, and with which estimate, if the forecast has fallen
// below its probability since.
func (q *question) asOffered(plan *api.Plan) {
	if plan.Estimate < plan.Prob {
		plan.Offered, plan.Estimate, plan.Careful = q.at, q.offer.Estimate, ""
	}
}

// grantStart checks a plan of a start against the site's policy. If promise is true, it makes the
// promise. If others have taken the room meanwhile, it makes none, and the error is errCrowded.
func (q *question) grantStart(got *trajectory.Answer, plan *api.Plan, promise bool) (*api.Refusal, error) {
	switch {
	case q.asked.Advisory:
		return nil, nil
	case !promise:
		return q.desk.checkRules(q.ctx, q.terms, plan)
	}
	granted, err := q.desk.StartGranting(q.ctx)
	if err != nil {
		return nil, err
	}
	defer granted()
	if no, err := q.desk.checkRules(q.ctx, q.terms, plan); no != nil || err != nil {
		return no, err
	}
	if no, err := q.desk.beside(q.ctx, q.Planner, got, 0, q.request.Deadline, ""); no != nil || err != nil {
		return no, err
	}
	if err := q.desk.stillRoom(q.ctx, got, q.standing, q.taken); err != nil {
		return nil, err
	}
	return q.promise(plan, got)
}

// stillLearning ends the reason of a refusal that rests on a forecast, while the whole past is
// being learnt.
const stillLearning = "; only the newest part of the past is learnt so far: ask again in some minutes"

// StartGranting waits until nothing else is being granted. Until the caller calls granted, nothing
// else is added to the open reservations or to their possible costs.
func (d *Desk) StartGranting(ctx context.Context) (granted func(), err error) {
	select {
	case d.granting <- struct{}{}:
		return func() { <-d.granting }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// beside checks a plan against what was promised while the job was planned. It returns a refusal if
// that leaves no room for the job under Slurm's limits, and errCrowded if it leaves room for a
// shorter time limit only. plan and job, if not empty, are the plan's own promise and job, which do
// not count.
func (d *Desk) beside(ctx context.Context, planner *trajectory.Planner, got *trajectory.Answer, job, deadline int64, plan string) (*api.Refusal, error) {
	jobs, unread := d.jobs(ctx, plan)
	rule, longest := planner.Beside(got, job, deadline, jobs)
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

// promise gives plan an identifier, and writes the reservation of the job of an answer into the
// ledger. If the user has too many promises without a job, it returns a refusal instead.
func (q *question) promise(plan *api.Plan, got *trajectory.Answer) (*api.Refusal, error) {
	d, job := q.desk, &got.Job
	plan.ID = api.NewPlanID()
	plan.Comment = api.CommentPrefix + plan.ID
	err := d.Ledger.Promise(q.ctx, &api.Reservation{
		Plan: *plan, User: job.User, Account: job.Account, Partition: job.Partition, NodeSet: job.NodeSet, Inside: job.Reservation, QOS: job.QOS, Size: job.Size, Pieces: got.Pieces, TasksNodes: got.TasksNodes,
		BestEffort: q.asked.BestEffort, Promised: q.now,
	}, d.boundUntil())
	no := hoards(err)
	switch {
	case no != nil:
		return no, nil
	case err != nil && q.ctx.Err() != nil:
		return nil, err // nobody waits for the answer any more
	case err != nil:
		d.Log.Error("promise could not be written down", "user", job.User, "error", err)
		return nil, api.Fault(api.ErrUnavailable, "the promise could not be written down, so none is made")
	}
	count(d.Metrics.Promises)
	d.Log.Info("promised", "plan", plan.ID, "user", job.User, "deadline", plan.Deadline(), "prob", plan.Prob, "estimate", plan.Estimate, "begin", plan.BeginTime, "limit", plan.TimeLimit)
	return nil, nil
}

// apiPlan converts a planner's plan.
func apiPlan(r *trajectory.Request, p *trajectory.Plan) api.Plan {
	return api.Plan{
		BeginTime: p.Begin, TimeLimit: p.Limit, BeginBy: r.Deadline, HoldUntil: r.HoldUntil, Slot: p.Slot,
		Prob: r.Prob, Estimate: p.Estimate.Prob, Forecast: p.Estimate.Forecast, Careful: p.Careful,
		Work: api.Cost(p.Work), Worst: api.Cost(p.Worst), Expected: api.Cost(p.Expected),
		Evidence: api.Evidence{Sample: p.Estimate.Sample, Class: p.Estimate.Class, Beyond: p.Estimate.Beyond},
	}
}

// apiPoints converts a trajectory.
func apiPoints(trajectory []trajectory.Point) []api.Point {
	list := make([]api.Point, len(trajectory))
	for i, p := range trajectory {
		list[i] = api.Point{BeginTime: p.Begin, TimeLimit: p.Limit, Prob: p.Prob, Class: p.Class}
	}
	return list
}

// apiRefusal converts a planner's refusal.
func apiRefusal(no *trajectory.Refusal) *api.Refusal {
	r := &api.Refusal{Reason: no.Reason, Limit: no.Limit}
	for _, o := range no.Offers {
		offer := api.Offer{
			Kind: string(o.Kind), Prob: o.Request.Prob, BeginBy: o.Request.Deadline, HoldUntil: o.Request.HoldUntil,
			Nodes: o.Request.Job.Nodes, CPUs: o.Request.Job.CPUs, Limit: o.Request.Job.Limit, Tasks: o.Request.Tasks, Worst: api.Cost(o.Worst), Estimate: o.Plan.Estimate.Prob,
			Idle: o.Idle, Claim: o.Claim, By: o.Plan.Last,
		}
		if o.Kind == trajectory.OfferNodes && o.Request.Needs != nil {
			offer.Scale = o.Request.Needs.Scale
		}
		r.Offers = append(r.Offers, offer)
	}
	return r
}

// stay returns the value of a plan's Cluster. In a federation a promise is about the queue of this
// cluster, and not of its siblings.
func stay(c *limits.Cluster) string {
	if !c.Federated {
		return ""
	}
	return c.Name
}
