package desk

import (
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// OnlyWatches tells users about shadow mode.
const OnlyWatches = "varqd only watches on this cluster, and neither promises nor changes anything (plan.mode: shadow)"

// onlyWatching refuses a plan in shadow mode, and describes it.
func onlyWatching(p *api.Plan, zone *time.Location) *api.Refusal {
	moment := func(at int64) string { return slurmtime.Stamp(at, zone) }
	if p.FinishBy != 0 {
		return &api.Refusal{Rule: "plan.mode", Reason: fmt.Sprintf("%s; it would have promised an end by %s with probability %s (estimate %s); submit the job without --finish-by",
			OnlyWatches, moment(p.FinishBy), prob.Format(p.Prob), prob.Format(p.Estimate))}
	}
	return &api.Refusal{Rule: "plan.mode", Reason: fmt.Sprintf(
		"%s; it would have promised a start by %s with probability %s (estimate %s), eligible from %s, with idle nodes for at most %s; submit the job without a reservation",
		OnlyWatches, moment(p.BeginBy), prob.Format(p.Prob), prob.Format(p.Estimate), moment(p.BeginTime), p.AtMost().RoundedUp())}
}

// Foresee returns, for each of some waits, the probability with which Plan would promise that the
// job j starts within the wait. j has become eligible at the time at. waits are seconds in
// increasing order. The error is a fault of package api, as of planner.
func (d *Desk) Foresee(j *workload.Job, at int64, waits []int64) ([]float64, error) {
	planner, err := d.planner()
	if err != nil {
		return nil, err
	}
	r := trajectory.Request{Job: j.Request, ID: j.ID, Now: at, Prob: d.Prob}
	return planner.Within(r, waits), nil
}
