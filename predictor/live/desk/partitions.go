package desk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
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
		one := *req
		one.Job.Partition, one.Others = name, slices.Delete(slices.Clone(names), i, i+1)
		answer, err := d.Plan(ctx, user, &one, false)
		switch {
		case err != nil:
			return api.PlanAnswer{}, err
		case answer.Plan == nil:
			refused.add(name, answer.Refusal)
		default:
			quotes = append(quotes, quoted{&one, answer})
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
		refused.add(q.request.Job.Partition, answer.Refusal)
	}
	if promise && len(quotes) == 0 {
		d.Metrics.refusals.Inc()
	}
	return api.PlanAnswer{Refusal: refused.refusal()}, nil
}

// partitions returns the names in a list of partitions, or a fault if one does not exist.
func (d *Desk) partitions(list string) ([]string, error) {
	names := slices.Compact(slices.Sorted(strings.SplitSeq(list, ",")))
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

// refusals are those of a job in several partitions.
type refusals []struct {
	partition string
	*api.Refusal
}

func (r *refusals) add(partition string, no *api.Refusal) {
	*r = append(*r, struct {
		partition string
		*api.Refusal
	}{partition, no})
}

// refusal returns one refusal: with the reason of each partition, and the offers of the first that
// has any.
func (r refusals) refusal() *api.Refusal {
	var all api.Refusal
	var reasons []string
	for _, no := range r {
		reasons = append(reasons, no.partition+": "+no.Reason)
		if len(all.Offers) == 0 {
			all.Offers = no.Offers
		}
	}
	all.Reason = "none of the partitions will do: " + strings.Join(reasons, "; ")
	return &all
}
