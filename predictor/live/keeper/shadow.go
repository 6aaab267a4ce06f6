package keeper

import (
	"fmt"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/workload"
)

// onlyWatches tells users about shadow mode.
const onlyWatches = "varqd only watches on this cluster, and neither promises nor changes anything (plan.mode: shadow)"

// onlyWatching refuses a plan in shadow mode. It says what the plan is.
func (k *Keeper) onlyWatching(p *api.Plan) *api.Refusal {
	c := change{zone: k.Zone}
	if p.FinishBy != 0 {
		return &api.Refusal{Rule: "plan.mode", Reason: fmt.Sprintf("%s; it would have promised an end by %s with probability %s (forecast %s); submit the job without --finish-by",
			onlyWatches, c.moment(p.FinishBy), prob.Format(p.Prob), prob.Format(p.Estimate))}
	}
	return &api.Refusal{Rule: "plan.mode", Reason: fmt.Sprintf(
		"%s; it would have promised a start by %s with probability %s (forecast %s), eligible from %s, with idle nodes for at most %s; submit the job without a reservation",
		onlyWatches, c.moment(p.BeginBy), prob.Format(p.Prob), prob.Format(p.Estimate), c.moment(p.BeginTime), p.AtMost().RoundedUp())}
}

// Foresee returns for each of some waits, in seconds and in increasing order, the probability with
// which Plan would promise that the job j, which has become eligible at the time at, starts within
// the wait. The error is that of Ready.
func (k *Keeper) Foresee(j *workload.Job, at int64, waits []int64) ([]float64, error) {
	planner, err := k.planner()
	if err != nil {
		return nil, err
	}
	r := trajectory.Request{Job: j.Request, ID: j.ID, Now: at, Prob: k.Prob}
	return planner.Within(r, waits), nil
}
