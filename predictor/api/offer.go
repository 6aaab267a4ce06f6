package api

import (
	"fmt"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// The kinds of offer.
const (
	OfferProb = "probability" // the best probability for this deadline
	// the same request, with work that starts when the job does; and if need be, a lower
	// probability or, where nothing else can be promised, a later deadline
	OfferFree  = "best-effort"
	OfferLater = "deadline"   // the earliest deadline for this probability
	OfferNodes = "nodes"      // the same request with fewer nodes, or fewer CPUs on one node
	OfferTasks = "tasks"      // the same array, with fewer of its tasks at the same time
	OfferTime  = "time"       // the same request with a shorter time limit of the work
	OfferCost  = "cost"       // the same request with a higher ceiling on the cost of idle nodes
	OfferEnd   = "end"        // another deadline of the end, and its probability
	OfferSaves = "checkpoint" // the same request of a job that checkpoints
)

// Offer is a request that can be promised instead of the request refused. Kind says in
// which fields the two requests differ.
type Offer struct {
	Kind    string  `json:"kind"`
	Prob    float64 `json:"prob"`
	BeginBy int64   `json:"begin_by"`
	// FinishBy is the deadline of an offer about the job's end. BeginBy and HoldUntil are then 0.
	FinishBy int64 `json:"finish_by,omitempty"`
	// HoldUntil is the time from which the work may start, as in a Plan.
	HoldUntil int64 `json:"hold_until"`
	Nodes     int32 `json:"nodes"`
	CPUs      int32 `json:"cpus"`
	Limit     int64 `json:"limit"` // of the work
	// Tasks is that of a PlanRequest, for an array.
	Tasks int32 `json:"tasks,omitempty"`
	// CheckpointInterval is that of an OfferSaves, as in a PlanRequest.
	CheckpointInterval int64 `json:"checkpoint_interval,omitempty"`
	// Scale are the options with which the job is smaller; see workload.Needs.
	Scale []workload.Counted `json:"scale,omitempty"`
	Worst Cost               `json:"worst"`
	// Estimate is the probability that could be promised when the offer was made.
	Estimate float64 `json:"estimate,omitempty"`
	// Idle is for how many seconds nodes may idle at most. Only varqd has it.
	Idle int64 `json:"-"`
	// Claim is what the job of the offer would claim, and By when it has its nodes at the latest, or
	// 0 if nobody knows. Only varqd has them.
	Claim workload.Claim `json:"-"`
	By    int64          `json:"-"`
}

// AskedFor says by when the request asks for a start or an end, as of now (Unix seconds), so that
// a mistyped time is seen at once: "running by 2027-01-15T10:00:00, in 02:00:00". It is "" of a
// request without a deadline, and if the reason for the refusal, with times in zone, names the
// deadline.
func (r *PlanRequest) AskedFor(reason string, now int64, zone *time.Location) string {
	does, at := "running", r.BeginBy
	if r.FinishBy != 0 {
		does, at = "finished", r.FinishBy
	}
	if at == 0 || strings.Contains(reason, slurmtime.Format(at, zone)) {
		return ""
	}
	return fmt.Sprintf("%s by %s, in %s", does, slurmtime.Format(at, zone), slurmtime.FormatDuration(at-now))
}

// Options returns the options of sbatch that turn the request refused into the offer. Times
// are in zone, the time zone of the user who will call sbatch.
func (o *Offer) Options(refused *PlanRequest, zone *time.Location) []string {
	switch o.Kind {
	case OfferProb:
		return []string{fmt.Sprintf("--prob=%v", o.Prob)}
	case OfferFree:
		options := []string{"--best-effort"}
		if o.Prob != refused.Prob {
			options = append(options, fmt.Sprintf("--prob=%v", o.Prob))
		}
		if o.BeginBy != refused.BeginBy {
			options = append(options, "--begin-by="+slurmtime.Format(o.BeginBy, zone))
		}
		return options
	case OfferEnd:
		return []string{"--finish-by=" + slurmtime.Format(o.FinishBy, zone), fmt.Sprintf("--prob=%v", o.Prob)}
	case OfferLater:
		options := []string{"--begin-by=" + slurmtime.Format(o.BeginBy, zone)}
		if refused.BeginAfter != 0 {
			options = append(options, "--begin-after="+slurmtime.Format(o.HoldUntil, zone))
		}
		return options
	case OfferNodes:
		if len(o.Scale) > 0 {
			options := make([]string, len(o.Scale))
			for i, s := range o.Scale {
				options[i] = fmt.Sprintf("%s%d", s.Option, s.Count)
			}
			return options
		}
		if o.Nodes == refused.Job.Nodes {
			return []string{fmt.Sprintf("--ntasks=%d", o.CPUs)}
		}
		return []string{fmt.Sprintf("--nodes=%d", o.Nodes)}
	case OfferTasks:
		return []string{fmt.Sprintf("--tasks=%d", o.Tasks)}
	case OfferCost:
		return []string{"--max-cost=" + HoursUp(o.Worst.NodeSeconds)}
	case OfferTime:
		return []string{"--time=" + slurmtime.FormatDuration(o.Limit)}
	case OfferSaves:
		return []string{"--checkpoint-interval=" + slurmtime.FormatDuration(o.CheckpointInterval)}
	default:
		return nil
	}
}
