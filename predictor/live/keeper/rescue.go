package keeper

import (
	"context"

	"github.com/varq-project/varq/predictor/live/course"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/trajectory"
)

// rescue is what would keep an endangered promise: the nodes idle for longer than the user has
// agreed to.
type rescue struct {
	earliest int64   // the necessary ceiling, as in trajectory.Request
	prob     float64 // the forecast with this ceiling
}

// offerRescue notes what would keep e's promise if the revised plan falls short of it.
func (k *reviser) offerRescue(planner *trajectory.Planner, r *trajectory.Request, e *ledger.Entry, revised trajectory.Revision) {
	var found *rescue
	if prob.Short(revised.Prob, e.Prob) && prob.Short(revised.Forecast, e.Prob) {
		if to, ok := planner.Rescue(*r, revised); ok {
			found = &rescue{to.Begin, to.Prob}
		}
	}
	k.memory.setRescue(e.ID, found)
}

// hopeless returns the reason why e's promise would not be kept even with the ceiling earliest, as
// in trajectory.Request, or a higher one. It looks at the job as it is in Slurm now. It returns ""
// in these cases: the ceiling would make the promise more probable, the promise does not fall
// short, a still higher ceiling would keep it, or varq cannot or must not plan the job now (unmoved
// tells why).
func (k *reviser) hopeless(ctx context.Context, e *ledger.Entry, earliest, now int64) string {
	ctx, cancel := context.WithTimeout(ctx, acceptMoves)
	defer cancel()
	j, err := k.Slurm.Job(ctx, e.Job)
	if err != nil || !course.IsQueued(e, &j) || j.Start != 0 || j.RestartCount > 0 {
		return ""
	}
	c := k.newChange(e, now)
	c.Observe(&j)
	is := *e
	is.Progress = c.Progress
	is.Progress.Earliest = earliest
	p := &is.Progress
	if p.Held || p.Stopped != "" || p.Yielded || j.Eligible == 0 || now >= p.BeginTime {
		return ""
	}
	planner, r, ok := k.Desk.Again(&is, &j, now)
	if !ok {
		return ""
	}
	current := trajectory.Submission{Begin: p.BeginTime, Limit: p.TimeLimit}
	revised := planner.Replan(r, current)
	if revised.Prob > revised.Stay || !prob.Short(revised.Prob, e.Prob) {
		return ""
	}
	if _, ok := planner.Rescue(r, revised); ok {
		return ""
	}
	return planner.InVain(r, revised)
}
