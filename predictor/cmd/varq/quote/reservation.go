package quote

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurm/squeue"
)

// reservationFlags has the options that varq adds to sbatch.
type reservationFlags struct {
	beginBy, beginAfter, prob, onMiss, maxCost string
	finishBy, risk, riskyNodes, interval       string
	bestEffort                                 bool
}

func addReservation(cmd *cobra.Command) *reservationFlags {
	f, flags := &reservationFlags{}, cmd.Flags()
	flags.StringVar(&f.beginBy, "begin-by", "", "the work must be running by this `time`, in any format of sbatch --begin, or end-of:JOBID")
	flags.StringVar(&f.finishBy, "finish-by", "", "instead, the job must have ended by this `time`")
	flags.StringVar(&f.risk, "risk", "", "instead, the earliest time by which the job has ended with this `probability`")
	flags.StringVar(&f.prob, "prob", "", "with this `probability`: 0.9 or 90% (default is the site's)")
	flags.StringVar(&f.beginAfter, "begin-after", "", "the work may start from this `time` on")
	flags.BoolVar(&f.bestEffort, "best-effort", false, "the work may start as soon as the job does")
	flags.StringVar(&f.interval, "checkpoint-interval", "", "after a failure the job goes on from checkpoints that are this `time` apart")
	flags.StringVar(&f.riskyNodes, "risky-nodes", "", "`avoid|allow` nodes that are likely to fail during the work (default is the site's)")
	flags.StringVar(&f.onMiss, "on-miss", "", "what becomes of a job that has not started by the deadline: `run|cancel` (default run)")
	flags.StringVar(&f.maxCost, "max-cost", "", "what idle nodes may cost at most: `N|Nx`, N node-hours or N times the quote (default 1x)")
	_ = cmd.RegisterFlagCompletionFunc("risky-nodes", cli.Complete(api.RiskyAvoid, api.RiskyAllow))
	_ = cmd.RegisterFlagCompletionFunc("on-miss", cli.Complete(api.OnMissRun, api.OnMissCancel))
	return f
}

// request returns the request of the options. Relative times count from the present.
func (f *reservationFlags) request(env *cli.Env) (api.PlanRequest, error) {
	r := api.PlanRequest{BestEffort: f.bestEffort, OnMiss: f.onMiss, RiskyNodes: f.riskyNodes}
	var err error
	if job, named := strings.CutPrefix(f.beginBy, squeue.EndOf); named {
		var slurm squeue.Command
		if r.BeginBy, err = slurm.EndOf(job); err != nil {
			return r, fmt.Errorf("--begin-by: %w", err)
		}
	} else if r.BeginBy, err = env.Deadline("--begin-by", f.beginBy); err != nil {
		return r, err
	}
	if r.FinishBy, err = env.Deadline("--finish-by", f.finishBy); err != nil {
		return r, err
	}
	if r.BeginAfter, err = env.Time("--begin-after", f.beginAfter); err != nil {
		return r, err
	}
	if f.interval != "" {
		if r.CheckpointInterval, err = api.ParseCheckpointInterval(f.interval); err != nil {
			return r, fmt.Errorf("--checkpoint-interval: %w", err)
		}
	}
	if f.maxCost != "" {
		if r.MaxCost, err = api.ParseMaxCost(f.maxCost); err != nil {
			return r, fmt.Errorf("--max-cost: %w", err)
		}
	}
	for _, p := range []struct {
		name, text string
		value      *float64
	}{{"prob", f.prob, &r.Prob}, {"risk", f.risk, &r.Risk}} {
		if p.text != "" {
			if *p.value, err = prob.Parse(p.text); err != nil {
				return r, fmt.Errorf("--%s: %w", p.name, err)
			}
		}
	}
	return r, nil
}
