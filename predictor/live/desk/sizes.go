package desk

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/promise/trajectory"
)

// planSizes is Plan for a job that can have several sizes. Among the sizes that can be promised, it
// promises the one that the user prefers. If that one is gone by then, it promises the next. If
// none can be promised, the refusal is about the size that is nearest to a promise. The search for
// offers takes many times as long as a plan, so offers are searched for this size only.
func (d *Desk) planSizes(ctx context.Context, user string, req *api.PlanRequest, promise bool) (api.PlanAnswer, error) {
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
		refused refusedSizes
		failed  error // about the size that would have been promised
	)
	decide := (*trajectory.Planner).Decide
	for i := range req.Sizes {
		size := &req.Sizes[i]
		one := sized(req, size)
		one.Trajectory = true
		quote, err := d.planStart(ctx, user, one, false, decide)
		if err != nil {
			return api.PlanAnswer{}, err
		}
		if quote.Plan == nil {
			refused.add(size, &quote)
			continue
		}
		if !req.Trajectory {
			quote.Trajectory = nil
		}
		quotes[size.Nodes] = quote
		slots = append(slots, slotOf(size, quote.Plan))
	}
	var answer api.PlanAnswer
	outcome := elastic.Reserve(elastic.Rank([][]elastic.Slot{slots}, prefer, 0), func(s *elastic.Slot) error {
		size := &req.Sizes[slices.IndexFunc(req.Sizes, func(size api.Size) bool { return size.Nodes == s.Nodes })]
		answer = quotes[s.Nodes]
		if promise {
			if answer, failed = d.planStart(ctx, user, sized(req, size), true, decide); failed != nil {
				return elastic.ErrSite
			}
			if answer.Plan == nil {
				refused.add(size, &answer)
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
		return d.refuseSizes(ctx, user, req, promise, &refused)
	}
	answer.LeftOut = refused.besides(answer.Plan.SizeNodes)
	if next := outcome.RunnerUp; next != nil {
		p := quotes[next.Nodes].Plan
		answer.RunnerUp = &api.Slot{
			Start: next.Start, End: next.End, Nodes: next.Nodes, Limit: next.Limit, Prob: p.Prob, Estimate: p.Estimate, Work: p.Work, Worst: p.AtMost(),
		}
	}
	return answer, nil
}

// sized returns the request for one of the sizes of a request.
func sized(req *api.PlanRequest, size *api.Size) *api.PlanRequest {
	one := *req
	one.Of, one.Sizes, one.Prefer = cmp.Or(req.Of, req), nil, ""
	one.Job.Size, one.Job.Limit, one.Needs = size.Size, size.Limit, req.Needs.On(size.Nodes)
	return &one
}

// slotOf returns what preferences compare of a plan. The cost is the greatest one, in billing units
// x hours.
func slotOf(size *api.Size, p *api.Plan) elastic.Slot {
	return elastic.Slot{
		Start: p.BeginBy, End: p.BeginBy + size.Limit, Nodes: size.Nodes, Limit: size.Limit, Prob: p.Estimate,
		Cost: (p.Work.BillingSeconds + p.AtMost().BillingSeconds) / 3600,
	}
}

// refuseSizes answers a request of which no size can be promised, as for its nearest size. It
// leaves out the offers that change the size. If the nearest size can be promised after all,
// because something has changed meanwhile, refuseSizes promises it.
func (d *Desk) refuseSizes(ctx context.Context, user string, req *api.PlanRequest, promise bool, refused *refusedSizes) (api.PlanAnswer, error) {
	size := refused.nearest
	answer, err := d.planStart(ctx, user, sized(req, size), promise, (*trajectory.Planner).Plan)
	if err != nil {
		return api.PlanAnswer{}, err
	}
	if answer.Plan != nil {
		answer.Plan.SizeNodes, answer.LeftOut = size.Nodes, refused.besides(size.Nodes)
		return answer, nil
	}
	no := answer.Refusal
	no.Reason = fmt.Sprintf("none of the %d sizes can be promised; of %s: %s", len(req.Sizes), counted(size.Nodes), no.Reason)
	no.Offers = slices.DeleteFunc(no.Offers, func(o api.Offer) bool { return o.Kind == api.OfferNodes || o.Kind == api.OfferTime })
	return api.PlanAnswer{Refusal: no}, nil
}

// counted returns a number of nodes with the noun.
func counted(nodes int32) string {
	if nodes == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", nodes)
}

// refusedSizes are the sizes that cannot be promised.
type refusedSizes struct {
	nearest *api.Size // the one that could be promised with the highest probability, or the first
	prob    float64   // this probability
	all     []refusedSize
}

// refusedSize is one of them.
type refusedSize struct {
	nodes  int32
	reason string
}

// highest returns the highest probability of a trajectory, or 0.
func highest(trajectory []api.Point) (prob float64) {
	for _, p := range trajectory {
		prob = max(prob, p.Prob)
	}
	return prob
}

// add takes in a size, with the answer that refuses it.
func (r *refusedSizes) add(size *api.Size, a *api.PlanAnswer) {
	if prob := highest(a.Trajectory); r.nearest == nil || prob > r.prob {
		r.nearest, r.prob = size, prob
	}
	r.all = append(r.all, refusedSize{size.Nodes, a.Refusal.Reason})
}

// besides returns the clauses of api.PlanAnswer.LeftOut about all of the sizes but the one of so
// many nodes.
func (r *refusedSizes) besides(nodes int32) (clauses []string) {
	var list []elastic.Refused
	for _, one := range r.all {
		if one.nodes != nodes {
			list = elastic.Refuse(list, one.nodes, one.reason)
		}
	}
	for _, one := range list {
		clauses = append(clauses, one.String())
	}
	return clauses
}
