package desk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/promise/trajectory"
)

// mostAlternatives is how many ways to submit one job a request may leave open.
const mostAlternatives = 32

// severals are what a request may name several of, in a list with commas.
var severals = [...]several{
	{"partitions", "", func(r *api.PlanRequest) *string { return &r.Job.Partition }},
	{"accounts", "account ", func(r *api.PlanRequest) *string { return &r.Job.Account }},
	{"QOS", "QOS ", func(r *api.PlanRequest) *string { return &r.Job.QOS }},
}

type several struct {
	plural string
	prefix string // of the name of one in a sentence
	of     func(*api.PlanRequest) *string
}

// alternative is one way to submit the job of a request that leaves several open.
type alternative struct {
	request *api.PlanRequest
	name    string // "main", "account a", "main, account a"
	answer  api.PlanAnswer
}

// isOpen reports whether a request leaves several ways to submit its job open.
func isOpen(req *api.PlanRequest) bool {
	return slices.ContainsFunc(severals[:], func(s several) bool { return strings.Contains(*s.of(req), ",") })
}

// planAlternatives is Plan for a job that may run in any of several partitions, or be charged to
// any of several accounts or QOS. It plans the job in each way as if it were the only one, and
// promises the cheapest of these plans. Slurm may start a job in any of its partitions: that the
// others may have room sooner makes the promise only more probable, and what it may cost at most is
// so in the dearest of them. Of accounts and QOS the job gets the one that was planned.
func (d *Desk) planAlternatives(ctx context.Context, user string, req *api.PlanRequest, promise bool) (api.PlanAnswer, error) {
	all, what, err := d.alternatives(req)
	if err != nil {
		return api.PlanAnswer{}, err
	}
	var quotes []*alternative
	var refused refusals
	for i := range all {
		one := &all[i]
		if one.answer, err = d.quoteOne(ctx, user, one.request); err != nil {
			return api.PlanAnswer{}, err
		}
		if one.answer.Plan == nil {
			refused.add(one, &one.answer)
		} else {
			quotes = append(quotes, one)
		}
	}
	slices.SortStableFunc(quotes, func(a, b *alternative) int {
		p, q := a.answer.Plan, b.answer.Plan
		return cmp.Or(cmp.Compare(dearness(p), dearness(q)), cmp.Compare(p.FinishBy, q.FinishBy), cmp.Compare(q.Estimate, p.Estimate))
	})
	for _, q := range quotes {
		if !promise {
			return q.chosen(req, q.answer), nil
		}
		answer, err := d.planAny(ctx, user, q.request, true)
		if err != nil || answer.Plan != nil {
			return q.chosen(req, answer), err
		}
		refused.add(q, &answer)
	}
	nearest := refused.nearest()
	answer, err := d.planAny(ctx, user, nearest.request, promise)
	if err == nil && answer.Refusal != nil { // with the offers of the nearest, or what to do without
		reason := "none of the " + what + " will do: " + refused.String()
		for _, instead := range []string{trajectory.NoOffer, allForbidden} {
			if strings.Contains(answer.Refusal.Reason, instead) && !strings.HasSuffix(reason, instead) {
				reason += instead
			}
		}
		answer.Refusal.Reason = reason
	}
	return nearest.chosen(req, answer), err
}

// chosen adds to an answer which of the accounts and QOS of a request the job is to have.
func (a *alternative) chosen(req *api.PlanRequest, answer api.PlanAnswer) api.PlanAnswer {
	if answer.Plan == nil {
		return answer
	}
	if of := &a.request.Job; of.Account != req.Job.Account {
		answer.Account = of.Account
	}
	if of := &a.request.Job; of.QOS != req.Job.QOS {
		answer.QOS = of.QOS
	}
	return answer
}

// alternatives returns the ways to submit the job of a request, and what it names several of, in
// the plural. The error is a fault of package api.
func (d *occupancy) alternatives(req *api.PlanRequest) (all []alternative, what string, err error) {
	all = []alternative{{request: req}}
	var open []string
	for i, s := range severals {
		list := *s.of(req)
		if !strings.Contains(list, ",") {
			continue
		}
		names := distinct(list)
		if len(names) == 0 {
			return nil, "", api.Fault(api.ErrInvalid, fmt.Sprintf("%q names no %s", list, s.plural))
		}
		if len(names)*len(all) > mostAlternatives {
			return nil, "", api.Fault(api.ErrInvalid, fmt.Sprintf("%d ways to submit the job are more than %d: name fewer partitions, accounts or QOS", len(names)*len(all), mostAlternatives))
		}
		open = append(open, s.plural)
		partitions := i == 0
		if partitions {
			if err := exist(d.Premises.Limits(), list, names); err != nil {
				return nil, "", err
			}
		}
		var more []alternative
		for _, a := range all {
			for i, name := range names {
				one := *a.request
				one.Of = req
				*s.of(&one) = name
				if partitions {
					one.Others = slices.Delete(slices.Clone(names), i, i+1)
				}
				more = append(more, alternative{request: &one, name: strings.TrimPrefix(a.name+", "+s.prefix+name, ", ")})
			}
		}
		all = more
	}
	return all, strings.Join(open, " and "), nil
}

// distinct returns the names in a list, each once.
func distinct(list string) (names []string) {
	for name := range strings.SplitSeq(list, ",") {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// exist returns a fault if one of the partitions of a list does not exist in a cluster.
func exist(c *limits.Cluster, list string, names []string) error {
	if c == nil {
		return nil // planning says what is not known yet
	}
	for _, name := range names {
		if _, ok := c.Partitions[name]; !ok {
			return api.Fault(api.ErrInvalid, fmt.Sprintf("--partition=%s: %s", list, c.NoPartition(name)))
		}
	}
	return nil
}

// quoteOne is Plan for a job in one partition, without a promise and without a search for offers
// where that would take long.
func (d *Desk) quoteOne(ctx context.Context, user string, req *api.PlanRequest) (api.PlanAnswer, error) {
	if len(req.Sizes) > 0 || req.Finishes() {
		return d.planAny(ctx, user, req, false)
	}
	one := *req
	one.Trajectory = true
	answer, err := d.planStart(ctx, user, &one, false, (*trajectory.Planner).Decide)
	if answer.Plan != nil && !req.Trajectory {
		answer.Trajectory = nil
	}
	return answer, err
}

// dearness returns what a plan costs at most, in billing units x seconds.
func dearness(p *api.Plan) float64 { return p.Work.BillingSeconds + p.AtMost().BillingSeconds }

// refusals are why a job cannot be promised, by alternative.
type refusals []refusedIn

// refusedIn is why a job cannot be promised in one of several ways.
type refusedIn struct {
	*alternative
	reason string
	prob   float64 // the highest that is forecast there
}

func (r *refusals) add(a *alternative, answer *api.PlanAnswer) {
	*r = append(*r, refusedIn{a, answer.Refusal.Reason, highest(answer.Trajectory)})
}

// nearest returns which of the alternatives could be promised with the highest probability, or the
// first.
func (r refusals) nearest() *alternative {
	best := 0
	for i := range r {
		if r[i].prob > r[best].prob {
			best = i
		}
	}
	return r[best].alternative
}

// String names each alternative, and why.
func (r refusals) String() string {
	reasons := make([]string, len(r))
	for i, no := range r {
		reasons[i] = no.name + ": " + no.reason
	}
	return strings.Join(reasons, "; ")
}
