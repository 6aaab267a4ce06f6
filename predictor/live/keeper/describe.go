package keeper

import (
	"cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/ledger"
)

// Describe returns e's reservation as its user sees it, with Now set to the present probability
// that the promise is kept, if that is forecast.
func (k *reviser) Describe(e *ledger.Entry) api.Reservation {
	r := e.Reservation
	r.Job, r.TakenBack = cmp.Or(r.Job, e.Refused), e.Open && e.Withdrawn != 0
	r.Set = api.Setting{BeginTime: e.Progress.BeginTime, TimeLimit: e.Progress.TimeLimit}
	if r.Yielded = e.Progress.Yielded; r.Yielded {
		r.Size = course.AskedSize(r.Size, e.Progress.Asks)
	}
	r.HeldBefore, r.WorkedBefore = e.Progress.HeldBefore, e.Progress.WorkedBefore
	r.Ceiling = e.Idle(e.Progress.Earliest)
	// a group of the kind api.GroupAll, whose jobs also wait for one another
	if r.Group != "" && r.HoldUntil != 0 {
		grace := e.Idle(e.HoldUntil - api.GroupGrace)
		r.Ceiling.NodeSeconds += grace.NodeSeconds
		r.Ceiling.BillingSeconds += grace.BillingSeconds
	}
	prospect := k.memory.prospect(e.ID)
	if offer := prospect.rescue; offer != nil && r.State == api.StatePending {
		r.Rescue = &api.Rescue{Prob: offer.prob, Worst: e.Idle(offer.earliest)}
	}
	switch {
	case r.FinishBy != 0 && e.Open && e.Job != 0, r.State == api.StatePending:
		if prospect.known {
			r.Now = new(prospect.prob)
		}
		r.Obstacle, r.Later = prospect.obstacle.says, prospect.later
	case r.State == api.StatePromised:
		r.Now = new(r.Estimate)
	case r.FinishBy == 0 && r.Start != 0:
		now, why := course.StartedInTime(e, r.Start)
		r.Now, r.Obstacle = &now, why
	}
	return r
}
