package every

import (
	"context"
	"encoding/json"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// A flow recurs as a job does, but that varq flow submits it: its promise takes the place of a
// reservation, and its jobs that of the job.

// knownFlow is runner.known of a flow. The jobs of a varq flow that was killed before it had let
// them go are cancelled.
func (r *runner) knownFlow(ctx context.Context, s *Series, o *Occurrence, reports []sbatch.Report) (*known, error) {
	var jobs []int64
	promise := ""
	for i := range reports {
		switch is := &reports[i]; {
		case is.Job != 0:
			jobs = append(jobs, is.Job)
		case is.Cancelled:
			jobs = nil
		case is.Flow != "":
			promise = is.Flow
		}
	}
	if promise != "" {
		flows, err := r.varqd.Flows(ctx, api.FlowsQuery{Old: true})
		for i := range flows.Flows {
			if p := &flows.Flows[i]; p.ID == promise {
				return &known{p.Jobs, p.State, p.Note}, nil
			}
		}
		return nil, err
	}
	if o.State == StateSubmitting && len(jobs) > 0 {
		return nil, r.slurm(s).CancelJobs(ctx, jobs, false)
	}
	return nil, nil
}

// submittedFlow is Series.submitted of a flow.
func submittedFlow(printed string) (job int64, refused string) {
	var answer api.FlowAnswer
	switch err := json.Unmarshal([]byte(printed), &answer); {
	case err != nil:
		return 0, ""
	case answer.Refusal != nil:
		return 0, "it cannot be promised: " + answer.Refusal.Reason
	case answer.Promised == nil || len(answer.Promised.Jobs) == 0:
		return 0, ""
	}
	return answer.Promised.Jobs[0], ""
}
