package desk

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/workload"
)

// view is a planner with everything that is open at a time. Only one goroutine may use it.
type view struct {
	*trajectory.Planner
	desk     *Desk
	ctx      context.Context
	now      int64
	claims   []workload.Claim // of open promises and plain jobs; see occupancy.claims
	taken    []workload.Claim // the same, and the room kept for offers to others
	until    int64            // until when some of that room is kept, or 0
	standing                  // of the request
	unread   func() error     // see Desk.jobs
}

// view returns the present view, as a user has it: room that is kept for offers to others is taken.
// Her request, if it is not nil, may take an offer. The error is a fault of package api.
func (d *Desk) view(ctx context.Context, user string, req *api.PlanRequest) (*view, error) {
	planner, err := d.planner()
	if err != nil {
		return nil, err
	}
	v := &view{Planner: planner, desk: d, ctx: ctx, now: d.Now()}
	v.standing = d.offered.standing(user, req, v.now)
	if v.claims, err = d.claims(ctx, v.now, v.later...); err != nil {
		return nil, err
	}
	v.taken, v.until = d.withOffers(v.claims, user, v.standing, v.now)
	v.Room = d.room(v.taken, true)
	v.Jobs, v.unread = d.jobs(ctx, "")
	v.Forecaster = attended{v.Forecaster, ctx}
	if req != nil && req.Advisory {
		v.claims, v.taken, v.until = d.held(), d.held(), 0
		v.Room, v.Forecaster = d.room(v.taken, false), frank{v.Forecaster}
	}
	return v, nil
}

// frank is a Forecaster of jobs of which nothing is promised: what is forecast of them is not
// lowered.
type frank struct{ trajectory.Forecaster }

// Forecast implements trajectory.Forecaster.
func (f frank) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	f.Forecaster.Forecast(r, now, c, est)
	for i := range est {
		est[i].Prob, est[i].Bound = est[i].Forecast, est[i].Forecast
	}
}

// err returns an error if the results of the view do not count: nobody waits for them any more, or
// open promises could not be read. The error is the context's, or a fault of package api.
func (v *view) err() error { return errors.Join(v.ctx.Err(), v.unread()) }

// attended is a Forecaster while somebody waits for the plan. After that it forecasts no starts, so
// that the plan is soon done. The offers of a refusal take many forecasts. Requests that were given
// up must not keep others waiting.
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

// question is a user's request, for the planner of a view.
type question struct {
	*view
	request trajectory.Request
	terms   terms
	asked   *api.PlanRequest
	answer  api.PlanAnswer
	// eligible is when the job becomes eligible after others, or nil if it waits for none
	eligible sometime
	from     int64 // when it is likely to become eligible: now, if it waits for none
}

// question converts a user's request, with the site's defaults.
func (v *view) question(user string, req *api.PlanRequest) *question {
	r := trajectory.Request{Job: req.Job, Tasks: promisedTasks(req), Holding: req.Array.Width(), Others: req.Others, Needs: req.Needs, Now: v.now, Deadline: req.BeginBy, HoldUntil: req.BeginBy, Prob: req.Prob, Given: v.at != 0, GivenIdle: v.offer.Idle}
	r.Job.User = user
	r.Job.NodeSet, r.Job.Reservation, r.Job.Licences = "", "", "" // which follow from the needs
	r.Job = v.Cluster.OnCores(r.Job, req.Needs)
	switch {
	case req.Finishes():
		r.Deadline, r.HoldUntil = cmp.Or(req.FinishBy, v.now+v.desk.Horizon), 0
	case req.BestEffort:
		r.HoldUntil = 0
	case req.BeginAfter != 0:
		r.HoldUntil = max(v.now, req.BeginAfter)
	}
	terms := v.desk.terms(v.Planner, &r, req)
	if !req.Finishes() {
		terms.setEarliest(v.Planner, &r)
	}
	return &question{view: v, request: r, terms: terms, asked: req, from: v.now}
}

// promisedTasks returns how many tasks of a request's array the promise is to be about, or 0 for a
// job that is none.
func promisedTasks(req *api.PlanRequest) int32 {
	if req.Array.Tasks == 0 {
		return 0
	}
	return cmp.Or(req.Tasks, req.Array.Width())
}

// refuse returns the answer with a refusal.
func (q *question) refuse(no *api.Refusal) (api.PlanAnswer, error) {
	if waits := q.answer.Awaits(q.desk.Zone); waits != "" {
		no.Reason += "; " + waits
	}
	if q.asked.Advisory { // the reason tells what this deadline has
		no.Offers = slices.DeleteFunc(no.Offers, func(o api.Offer) bool {
			return o.Kind == api.OfferProb || o.Kind == api.OfferEnd && o.FinishBy == q.asked.FinishBy
		})
	}
	q.answer.Refusal = no
	return q.answer, nil
}
