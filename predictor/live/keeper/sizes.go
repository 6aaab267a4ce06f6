package keeper

import (
	"context"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/elastic"
)

// planSizes is Plan for a job that can have several sizes: it promises the one that the user prefers of those that can be
// promised. If that is gone when it is to be promised, it is the next one. If none can be promised, the refusal is that
// of the size that is nearest to it.
func (k *Keeper) planSizes(ctx context.Context, user string, req *api.PlanRequest, promise bool) (api.PlanAnswer, error) {
	prefer := elastic.DefaultPreferences()
	if req.Prefer != "" {
		var err error
		if prefer, err = elastic.ParsePreferences(req.Prefer); err != nil {
			return api.PlanAnswer{}, api.Fault(api.ErrInvalid, "prefer: "+err.Error())
		}
	}
	var (
		slots   []elastic.Slot
		quotes  = map[int32]api.PlanAnswer{} // by nodes
		refused nearest
		failed  error // of the size that would have been promised
	)
	for i := range req.Sizes {
		size := &req.Sizes[i]
		quote, err := k.Plan(ctx, user, sized(req, size), false)
		if err != nil {
			return api.PlanAnswer{}, err
		}
		if quote.Plan == nil {
			refused.add(size, quote.Refusal)
			continue
		}
		quotes[size.Nodes] = quote
		slots = append(slots, slotOf(size, quote.Plan))
	}
	var answer api.PlanAnswer
	outcome := elastic.Reserve(elastic.Rank([][]elastic.Slot{slots}, prefer, 0), func(s *elastic.Slot) error {
		size := &req.Sizes[slices.IndexFunc(req.Sizes, func(size api.Alternative) bool { return size.Nodes == s.Nodes })]
		answer = quotes[s.Nodes]
		if promise {
			if answer, failed = k.Plan(ctx, user, sized(req, size), true); failed != nil {
				return elastic.ErrSite
			}
			if answer.Plan == nil {
				refused.add(size, answer.Refusal)
				return errCrowded
			}
		}
		answer.Plan.SizeNodes = size.Nodes
		return nil
	}, len(slots))
	if failed != nil {
		return api.PlanAnswer{}, failed
	}
	if outcome.Taken == nil {
		return api.PlanAnswer{Refusal: refused.refusal(len(req.Sizes))}, ctx.Err()
	}
	if next := outcome.RunnerUp; next != nil {
		p := quotes[next.Nodes].Plan
		answer.RunnerUp = &api.Slot{
			Start: next.Start, End: next.End, Nodes: next.Nodes, Limit: next.Limit, Prob: p.Prob, Estimate: p.Estimate, Work: p.Work, Worst: p.Worst,
		}
	}
	return answer, nil
}

// sized is the request of one of the sizes of a request.
func sized(req *api.PlanRequest, size *api.Alternative) *api.PlanRequest {
	one := *req
	one.Sizes, one.Prefer = nil, ""
	one.Job.Size, one.Job.Limit, one.Needs = size.Size, size.Limit, needsOn(req.Needs, size.Nodes)
	return &one
}

// slotOf returns what is preferred of a plan: what it costs at most, in billing units x hours.
func slotOf(size *api.Alternative, p *api.Plan) elastic.Slot {
	return elastic.Slot{
		Start: p.BeginBy, End: p.BeginBy + size.Limit, Nodes: size.Nodes, Limit: size.Limit, Prob: p.Estimate,
		Cost: (p.Work.BillingSeconds + p.AtMost().BillingSeconds) / 3600,
	}
}

// nearest has the refusal, of several, of the size that could be promised with the highest probability, or the first.
type nearest struct {
	size *api.Alternative
	no   *api.Refusal
	prob float64
}

func (n *nearest) add(size *api.Alternative, no *api.Refusal) {
	prob := 0.
	for _, o := range no.Offers {
		if o.Kind == api.OfferProb {
			prob = o.Prob
		}
	}
	if n.no == nil || prob > n.prob {
		*n = nearest{size, no, prob}
	}
}

// refusal returns the refusal of so many sizes. Its offers are those that do not change the size.
func (n *nearest) refusal(sizes int) *api.Refusal {
	no := *n.no
	no.Reason = fmt.Sprintf("none of the %d sizes can be promised; of %d nodes: %s", sizes, n.size.Nodes, no.Reason)
	no.Offers = slices.DeleteFunc(slices.Clone(no.Offers), func(o api.Offer) bool { return o.Kind == api.OfferNodes || o.Kind == api.OfferTime })
	return &no
}
