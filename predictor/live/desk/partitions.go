package desk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/trajectory"
)

// mostPartitions is how many partitions a request may name.
const mostPartitions = 32

// planPartitions is Plan for a job that may run in any of several partitions. It plans the job in
// each of them as if it were the only one, and promises the cheapest of these plans: that the
// others may have room sooner makes the promise only more probable. What it may cost at most is so
// in the dearest of them.
func (d *Desk) planPartitions(ctx context.Context, user string, req *api.PlanRequest, promise bool) (api.PlanAnswer, error) {
	names, err := d.partitions(req.Job.Partition)
	if err != nil {
		return api.PlanAnswer{}, err
	}
	type quoted struct {
		request *api.PlanRequest
		answer  api.PlanAnswer
	}
	var quotes []quoted
	var refused refusals
	for i, name := range names {
		one := inOne(req, names, i)
		answer, err := d.quoteOne(ctx, user, one)
		switch {
		case err != nil:
			return api.PlanAnswer{}, err
		case answer.Plan == nil:
			refused.add(i, name, &answer)
		default:
			quotes = append(quotes, quoted{one, answer})
		}
	}
	slices.SortStableFunc(quotes, func(a, b quoted) int {
		return cmp.Or(cmp.Compare(dearness(a.answer.Plan), dearness(b.answer.Plan)), cmp.Compare(b.answer.Plan.Estimate, a.answer.Plan.Estimate))
	})
	for _, q := range quotes {
		if !promise {
			return q.answer, nil
		}
		answer, err := d.Plan(ctx, user, q.request, true)
		if err != nil || answer.Plan != nil {
			return answer, err
		}
		refused.add(slices.Index(names, q.request.Job.Partition), q.request.Job.Partition, &answer)
	}
	answer, err := d.Plan(ctx, user, inOne(req, names, refused.nearest()), promise)
	if err == nil && answer.Refusal != nil { // with the offers of the nearest
		answer.Refusal.Reason = "none of the partitions will do: " + refused.String()
	}
	return answer, err
}

// inOne returns the request for the i-th of the partitions of a request.
func inOne(req *api.PlanRequest, names []string, i int) *api.PlanRequest {
	one := *req
	one.Job.Partition, one.Others = names[i], slices.Delete(slices.Clone(names), i, i+1)
	return &one
}

// quoteOne is Plan for a job in one partition, without a promise and without a search for offers
// where that would take long.
func (d *Desk) quoteOne(ctx context.Context, user string, req *api.PlanRequest) (api.PlanAnswer, error) {
	if len(req.Sizes) > 0 || req.Finishes() {
		return d.Plan(ctx, user, req, false)
	}
	one := *req
	one.Trajectory = true
	answer, err := d.planStart(ctx, user, &one, false, (*trajectory.Planner).Decide)
	if answer.Plan != nil && !req.Trajectory {
		answer.Trajectory = nil
	}
	return answer, err
}

// partitions returns the names in a list of partitions, or a fault if one does not exist.
func (d *Desk) partitions(list string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > mostPartitions {
		return nil, api.Fault(api.ErrInvalid, fmt.Sprintf("--partition: %d partitions are more than %d", len(names), mostPartitions))
	}
	c := d.Premises.Limits()
	if c == nil {
		return names, nil // planning says what is not known yet
	}
	for _, name := range names {
		if _, ok := c.Partitions[name]; !ok {
			return nil, api.Fault(api.ErrInvalid, fmt.Sprintf("--partition=%s: unknown partition %q", list, name))
		}
	}
	return names, nil
}

// dearness returns what a plan costs at most, in billing units x seconds.
func dearness(p *api.Plan) float64 { return p.Work.BillingSeconds + p.AtMost().BillingSeconds }

// refusals are why a job cannot be promised, by partition.
type refusals []refusedIn

// refusedIn is why a job cannot be promised in one of several partitions.
type refusedIn struct {
	partition, reason string
	of                int     // which of the partitions
	prob              float64 // the highest that is forecast there
}

func (r *refusals) add(of int, partition string, answer *api.PlanAnswer) {
	*r = append(*r, refusedIn{partition, answer.Refusal.Reason, of, highest(answer.Trajectory)})
}

// nearest returns which of the partitions the job could be promised in with the highest
// probability, or the first.
func (r refusals) nearest() int {
	best := 0
	for i := range r {
		if r[i].prob > r[best].prob {
			best = i
		}
	}
	return r[best].of
}

// String names each partition, and why.
func (r refusals) String() string {
	reasons := make([]string, len(r))
	for i, no := range r {
		reasons[i] = no.partition + ": " + no.reason
	}
	return strings.Join(reasons, "; ")
}
