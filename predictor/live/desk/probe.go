package desk

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/promise/esr"
	"github.com/varq-project/varq/predictor/workload"
)

// probeTime bounds the time for which one Probe plans.
const probeTime = 5 * time.Second

// Probe returns what user could be promised for a job that can have several sizes, in a window of
// time. For each size and partition it returns slots that are spread over the window. It promises
// nothing. The errors are faults of package api.
func (d *Desk) Probe(ctx context.Context, user string, req *api.ProbeRequest) (api.ProbeAnswer, error) {
	v, err := d.view(ctx, user, nil)
	if err != nil {
		return api.ProbeAnswer{}, err
	}
	if no, err := d.mayPromise(ctx, user); no != nil || err != nil {
		answer := api.ProbeAnswer{Slots: []api.Slot{}, Unit: d.Site.Unit}
		if no != nil {
			answer.Reasons = []string{no.Reason}
		}
		return answer, err
	}
	within, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	p := probe{view: v, user: user, req: req, answer: api.ProbeAnswer{Slots: []api.Slot{}, Unit: d.Site.Unit}}
	for _, size := range req.Sizes {
		size.Limit = elastic.TimeOn(d.Site.Power, size.Limit, req.Power)
		p.sizes = append(p.sizes, size)
	}
	for _, partition := range partitionsOf(req) {
		if !p.partition(within, partition) {
			break
		}
	}
	if err := v.unread(); err != nil {
		return api.ProbeAnswer{}, err
	}
	p.answer.Young = p.young && len(p.answer.Slots) == 0
	p.answer.Final = !slices.ContainsFunc(partitionsOf(req), p.admitted)
	return p.answer, ctx.Err()
}

func partitionsOf(req *api.ProbeRequest) []string {
	if len(req.Partitions) == 0 {
		return strings.Split(req.Job.Partition, ",")
	}
	return req.Partitions
}

// probe is the state of one Probe.
type probe struct {
	*view
	user    string
	req     *api.ProbeRequest
	sizes   []api.Size                // with limits for the site's processors
	known   map[string]*esr.Knowledge // by partition, for success rates
	answer  api.ProbeAnswer
	reasons elastic.Reasons // of the answer
	young   bool            // too few waits are known for some slot
}

// partition finds the slots of one partition. It goes through the window for all sizes together, so
// that the answer has slots of each size if time is short. It returns false when the time is over.
func (p *probe) partition(ctx context.Context, partition string) bool {
	starts := make([][]int64, len(p.sizes))
	// by size: the reason for the latest start, "" once there is a slot
	why := make([]string, len(p.sizes))
	hopeless := make([]bool, len(p.sizes))
	most := 0
	for i, size := range p.sizes {
		starts[i] = elastic.Starts(p.now, p.req.Earliest, p.req.Ends(size.Limit), size.Limit, p.req.Slots, p.req.Gap)
		if len(starts[i]) == 0 {
			why[i] = "the window is too short for the work, or has passed"
		}
		most = max(most, len(starts[i]))
	}
	defer func() {
		for i, reason := range why {
			if reason != "" {
				p.refuse(partition, p.sizes[i].Nodes, reason)
			}
		}
	}()
	found := make([]bool, len(p.sizes))
	for n := range most { // the latest first: it can be promised most often
		for i := range p.sizes {
			if ctx.Err() != nil {
				p.answer.Cut = true
				return false
			}
			if hopeless[i] || n >= len(starts[i]) {
				continue
			}
			reason, final := p.slot(ctx, partition, &p.sizes[i], starts[i][len(starts[i])-1-n])
			found[i], hopeless[i] = found[i] || reason == "", final
			switch {
			case found[i]:
				why[i] = ""
			case why[i] == "":
				why[i] = reason
			}
		}
	}
	return true
}

// admitted reports whether Slurm takes jobs of the user in a partition.
func (p *probe) admitted(partition string) bool {
	job := p.req.Job
	job.User, job.Partition, job.Size, job.Limit = p.user, partition, p.sizes[0].Size, p.sizes[0].Limit
	return p.Cluster.Admits(job)
}

// slot adds a slot of a size, if it can be promised. Otherwise it returns the reason. final is true
// if the reason applies to all slots of the size.
func (p *probe) slot(ctx context.Context, partition string, size *api.Size, start int64) (reason string, final bool) {
	plan := &api.PlanRequest{Job: p.req.Job, Needs: p.needs(size), BeginBy: start, Prob: p.req.Prob, GroupProb: p.req.GroupProb, BestEffort: p.req.BestEffort, MaxCost: p.req.MaxCost}
	plan.Job.Partition, plan.Job.Size, plan.Job.Limit = partition, size.Size, size.Limit
	q := p.question(p.user, plan)
	q.terms.option = optionMinProb // only varq reserve probes
	if no := q.terms.admit(q.request.Prob); no != nil {
		return no.Reason, true
	}
	got := p.Decide(q.request)
	if got.Plan == nil {
		p.young = p.young || got.Refusal.Young
		return got.Refusal.Reason, len(got.Trajectory) == 0
	}
	promised := apiPlan(&q.request, got.Plan)
	promised.WorkLimit = got.Job.Limit
	q.terms.agree(&promised, &q.request)
	idle := promised.AtMost()
	if no := q.terms.rules.CheckCost(q.terms.who, promised.Worst.NodeSeconds, idle.NodeSeconds); no != nil {
		return apiRule(no).Reason, false
	}
	units := promised.Work.BillingSeconds / float64(got.Job.Limit)
	slot := api.Slot{
		Partition: got.Job.Partition, Start: start, End: start + size.Limit, Nodes: size.Nodes, Limit: size.Limit,
		Prob: promised.Prob, Estimate: promised.Estimate, Work: promised.Work, Worst: idle,
		Cost: p.desk.Site.atMost(units, got.Job.Account, period{promised.BeginTime, start}, period{start - int64(idle.BillingSeconds/max(units, 1e-9)), start + size.Limit}, p.req.BestEffort),
	}
	if p.req.ESR {
		slot.ESR = p.rates(ctx, &slot)
	}
	p.answer.Slots = append(p.answer.Slots, slot)
	return "", false
}

// needs returns the needs of a job of a size. If the job has one size only, its own options say on
// how many nodes it may run.
func (p *probe) needs(size *api.Size) *workload.Needs {
	if len(p.sizes) == 1 {
		return p.req.Needs
	}
	return p.req.Needs.On(size.Nodes)
}

// refuse notes why a size has no slot in a partition.
func (p *probe) refuse(partition string, nodes int32, reason string) {
	if partition != "" && len(p.req.Partitions) > 1 {
		reason = "partition " + partition + ": " + reason
	}
	if len(p.sizes) > 1 {
		reason = counted(nodes) + ": " + reason
	}
	p.reasons.Add(reason)
	p.answer.Reasons = p.reasons.List
}
