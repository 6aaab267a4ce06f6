package told

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// Options returns the options that ask for the reservation r, ready to be pasted after sbatch.
// Times are in zone.
func Options(r *api.PlanRequest, zone *time.Location) []string {
	var options []string
	if r.BeginBy != 0 {
		options = append(options, "--begin-by="+slurmtime.Format(r.BeginBy, zone))
	}
	if r.FinishBy != 0 {
		options = append(options, "--finish-by="+slurmtime.Format(r.FinishBy, zone))
	}
	if r.Prob != 0 {
		options = append(options, "--prob="+strconv.FormatFloat(r.Prob, 'g', -1, 64))
	}
	if r.Risk != 0 {
		options = append(options, "--risk="+strconv.FormatFloat(r.Risk, 'g', -1, 64))
	}
	if r.BeginAfter != 0 {
		options = append(options, "--begin-after="+slurmtime.Format(r.BeginAfter, zone))
	}
	if r.BestEffort {
		options = append(options, "--best-effort")
	}
	if r.OnMiss != "" {
		options = append(options, "--on-miss="+r.OnMiss)
	}
	if r.CheckpointInterval != 0 {
		options = append(options, "--checkpoint-interval="+slurmtime.FormatDuration(r.CheckpointInterval))
	}
	if r.RiskyNodes != "" {
		options = append(options, "--risky-nodes="+r.RiskyNodes)
	}
	if r.Tasks != 0 {
		options = append(options, "--tasks="+strconv.Itoa(int(r.Tasks)))
	}
	if ceiling := r.MaxCost.String(); ceiling != "" {
		options = append(options, "--max-cost="+ceiling)
	}
	return options
}

// Override returns options with the offered ones. An offered option replaces one of the same
// name, or is appended.
func Override(options, offered []string) []string {
	changed := slices.Clone(options)
	for _, option := range offered {
		name, _, _ := strings.Cut(option, "=")
		at := slices.IndexFunc(changed, func(o string) bool { return o == name || strings.HasPrefix(o, name+"=") })
		if at < 0 {
			changed = append(changed, option)
		} else {
			changed[at] = option
		}
	}
	return changed
}
