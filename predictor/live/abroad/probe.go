package abroad

import (
	"context"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/promise/esr"
	"github.com/varq-project/varq/predictor/workload"
)

// surest is the greatest probability that is told. The methods call slots certain, and nothing is.
const surest = .99

// mostSlots is how many slots a Probe tells.
const mostSlots = 10_000

// ahead is for how many seconds Slurm's own reservations are counted as workload.
const ahead = 366 * 86400

// Probe returns when a job of user's could begin, as far as the method can tell: nobody keeps a
// promise there. The errors are faults of package api.
func (s *Site) Probe(ctx context.Context, user string, req *api.ProbeRequest) (api.ProbeAnswer, error) {
	picture, note, err := s.see(ctx)
	if err != nil {
		return api.ProbeAnswer{}, err
	}
	p := probe{site: s, picture: picture, req: req, now: s.Now(), least: req.Prob, answer: api.ProbeAnswer{Slots: []api.Slot{}, Unit: s.Unit, Read: picture.at, Note: note}}
	if p.least == 0 {
		p.least = s.Prob
	}
	partitions := req.Partitions
	if len(partitions) == 0 {
		partitions = []string{req.Job.Partition}
	}
	for _, name := range partitions {
		p.partition(ctx, user, name)
		if ctx.Err() != nil {
			return api.ProbeAnswer{}, ctx.Err()
		}
	}
	return p.answer, nil
}

// probe is one Probe.
type probe struct {
	site    *Site
	picture *picture
	req     *api.ProbeRequest
	now     int64
	least   float64 // probability of a slot
	answer  api.ProbeAnswer
	reasons elastic.Reasons // of the answer
}

// partition finds the slots of one partition.
func (p *probe) partition(ctx context.Context, user, name string) {
	if name == "" {
		if name = p.only(); name == "" {
			p.refuse(name, 0, "its slurmrestd does not tell the default partition: name one by --partitions")
			return
		}
	}
	var known *esr.Knowledge
	for _, size := range p.req.Sizes {
		job := workload.Request{User: user, Account: p.req.Job.Account, Partition: name, Size: size.Size, Limit: elastic.TimeOn(p.site.Power, size.Limit, p.req.Power)}
		whole, needs, reason := p.admit(job, size.Nodes)
		if reason != "" {
			p.refuse(name, size.Nodes, reason)
			continue
		}
		if known == nil {
			known = p.know(ctx, name)
		}
		if reason := p.size(&whole, needs, known); reason != "" {
			p.refuse(name, size.Nodes, reason)
		}
	}
}

// only returns the default partition, or the only one there is; or "".
func (p *probe) only() string {
	only := p.site.Partition
	for name := range p.picture.limits.Partitions {
		switch of := p.picture.limits.Partitions[name]; {
		case of.Default:
			return name
		case len(p.picture.limits.Partitions) == 1:
			only = name
		}
	}
	return only
}

// admit completes a job, or says why the partition has no place for it. What accounting limits,
// only Slurm itself knows there.
func (p *probe) admit(job workload.Request, nodes int32) (workload.Request, *workload.Needs, string) {
	c := &p.picture.limits
	needs := p.req.Needs
	if len(p.req.Sizes) > 1 {
		needs = needs.On(nodes)
	}
	whole, err := c.CompleteWith(c.OnCores(job, needs), needs)
	if err != nil {
		return whole, nil, err.Error()
	}
	if whole.Licences != "" {
		return whole, nil, fmt.Sprintf("when the licences %s are free there is not known", whole.Licences)
	}
	view := c.Job(whole, needs)
	if rule := view.CheckSize(); rule != nil {
		return whole, nil, rule.Says
	}
	if most, rule := view.MaxLimit(); most != limits.None && most < whole.Limit {
		return whole, nil, rule.Says
	}
	if fit := view.Fitting(); len(fit) < int(nodes) {
		return whole, nil, fmt.Sprintf("only %d nodes of partition %s are in service and fit the job", len(fit), whole.Partition)
	}
	return whole, needs, ""
}

// know returns what the methods go by in a partition.
func (p *probe) know(ctx context.Context, partition string) *esr.Knowledge {
	jobs := func(yield func(*workload.Job) bool) {
		for i := range p.picture.jobs {
			if !yield(&p.picture.jobs[i]) {
				return
			}
		}
	}
	load := esr.NewLoad(&p.picture.limits, partition, jobs, p.now, p.now+ahead)
	known := &esr.Knowledge{Now: p.now, Scale: p.site.Scale, Ends: load.End()}
	history, err := p.site.Idle.History(ctx, p.site.Name, partition, p.site.Zone)
	if err != nil && ctx.Err() == nil {
		p.site.Log.Warn("the idle nodes of a site are not known", "site", p.site.Name, "error", err)
	}
	known.Idle = history
	return known
}

// size adds the slots of a job, or returns why there is none.
func (p *probe) size(job *workload.Request, needs *workload.Needs, known *esr.Knowledge) string {
	starts := elastic.Starts(p.now, p.req.Earliest, p.req.Ends(job.Limit), job.Limit, p.req.Slots, p.req.Gap)
	if len(starts) == 0 {
		return "the window is too short for the work, or has passed"
	}
	view := p.picture.limits.Job(*job, needs)
	blocked, units := view.Blocked(view.Pieces()), view.MostBilling()
	best, found, knows := 0., false, false
	var stopped string
	for _, start := range starts {
		if i := slices.IndexFunc(blocked, func(w limits.Window) bool { return w.Stops(start, job.Limit) }); i >= 0 {
			stopped = blocked[i].Says
			continue
		}
		rates := known.Rates(job.Nodes, start, start+job.Limit)
		rate, ok := rates.Of(p.site.Method)
		knows = knows || ok
		rate = min(rate, surest)
		best = max(best, rate)
		if !ok || rate < p.least || rate == 0 {
			continue
		}
		if found = true; len(p.answer.Slots) == mostSlots {
			p.answer.Cut = true
			break
		}
		slot := api.Slot{
			Partition: job.Partition, Start: start, End: start + job.Limit, Nodes: job.Nodes, Limit: job.Limit,
			Prob: rate, Estimate: rate, Method: p.site.Method,
			Work: api.Cost{NodeSeconds: float64(job.Nodes) * float64(job.Limit), BillingSeconds: units * float64(job.Limit)},
			Cost: p.site.Tariff.Cost(units, start, start+job.Limit, job.Account),
		}
		if p.req.ESR {
			slot.ESR = &api.ESR{Static: rates.Static, Load: rates.Load}
			if rates.Recorded {
				slot.ESR.History = &rates.History
			}
		}
		p.answer.Slots = append(p.answer.Slots, slot)
	}
	switch {
	case found:
		return ""
	case !knows && stopped != "":
		return stopped
	case !knows:
		return fmt.Sprintf("the method %s knows nothing yet of these times of day", p.site.Method)
	}
	return fmt.Sprintf("by the method %s the success rate is %.2f at best, and %.2f is asked for", p.site.Method, best, p.least)
}

// refuse notes why a size has no slot in a partition.
func (p *probe) refuse(partition string, nodes int32, reason string) {
	if partition != "" && len(p.req.Partitions) > 1 {
		reason = "partition " + partition + ": " + reason
	}
	if len(p.req.Sizes) > 1 && nodes > 0 {
		reason = fmt.Sprintf("%d nodes: %s", nodes, reason)
	}
	p.reasons.Add(reason)
	p.answer.Reasons = p.reasons.List
}
