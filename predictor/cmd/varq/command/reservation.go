package command

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/prob"
)

// reservationFlags has the options that varq adds to sbatch.
type reservationFlags struct {
	beginBy, beginAfter, prob, onMiss, maxCost string
	bestEffort                                 bool
}

func addReservation(flags *pflag.FlagSet) *reservationFlags {
	f := &reservationFlags{}
	flags.StringVar(&f.beginBy, "begin-by", "", "the work must be running by this `time`, in any format of sbatch --begin")
	flags.StringVar(&f.prob, "prob", "", "with this `probability`: 0.9 or 90% (default is the site's)")
	flags.StringVar(&f.beginAfter, "begin-after", "", "the work may start from this `time` on")
	flags.BoolVar(&f.bestEffort, "best-effort", false, "the work may start as soon as the job does")
	flags.StringVar(&f.onMiss, "on-miss", "", "a job not started by the deadline is to `run|cancel` (default run)")
	flags.StringVar(&f.maxCost, "max-cost", "", "idle nodes may cost at most `N|Nx`: node-hours, or times what is quoted (default 1x)")
	return f
}

// request returns the request of the options. Relative times count from the present.
func (f *reservationFlags) request(env *Env) (api.PlanRequest, error) {
	r := api.PlanRequest{BestEffort: f.bestEffort, OnMiss: f.onMiss}
	switch {
	case f.beginBy == "":
		return r, errors.New("--begin-by is missing: say when the work must be running, as in --begin-by=17:00")
	case f.beginAfter != "" && f.bestEffort:
		return r, errors.New("--begin-after and --best-effort exclude each other")
	case f.onMiss != "" && f.onMiss != api.OnMissRun && f.onMiss != api.OnMissCancel:
		return r, fmt.Errorf("--on-miss: %q is neither run nor cancel", f.onMiss)
	}
	var err error
	if r.BeginBy, err = env.parseTime("--begin-by", f.beginBy); err != nil {
		return r, err
	}
	if r.BeginAfter, err = env.parseTime("--begin-after", f.beginAfter); err != nil {
		return r, err
	}
	if f.maxCost != "" {
		if r.MaxCost, err = api.ParseMaxCost(f.maxCost); err != nil {
			return r, fmt.Errorf("--max-cost: %w", err)
		}
	}
	if f.prob != "" {
		if r.Prob, err = prob.Parse(f.prob); err != nil {
			return r, fmt.Errorf("--prob: %w", err)
		}
	}
	return r, nil
}

// reservationOptions returns the options that ask for r, ready to be pasted
// after sbatch.
func (e *Env) reservationOptions(r api.PlanRequest) []string {
	options := []string{"--begin-by=" + e.moment(r.BeginBy)}
	if r.Prob != 0 {
		options = append(options, "--prob="+strconv.FormatFloat(r.Prob, 'g', -1, 64))
	}
	if r.BeginAfter != 0 {
		options = append(options, "--begin-after="+e.moment(r.BeginAfter))
	}
	if r.BestEffort {
		options = append(options, "--best-effort")
	}
	if r.OnMiss != "" {
		options = append(options, "--on-miss="+r.OnMiss)
	}
	if ceiling := r.MaxCost.String(); ceiling != "" {
		options = append(options, "--max-cost="+ceiling)
	}
	return options
}
