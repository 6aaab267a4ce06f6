package sites

import (
	"context"
	"strconv"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/varqd/broker"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// For returns the site for package broker, which submits the job there.
func (s *Site) For(job *Job) broker.Site {
	if s.HasNoVarqd() {
		return newTrials(s, job)
	}
	return &promising{s, job}
}

// promising is a site for a job whose varqd keeps what it promises.
type promising struct {
	*Site
	job *Job
}

var _ broker.GroupSite = (*promising)(nil)

// Probe implements broker.Site.
func (s *promising) Probe(ctx context.Context, r api.ProbeRequest) (api.ProbeAnswer, error) {
	return s.Varqd.Probe(ctx, r)
}

// Submit implements broker.Site.
func (s *promising) Submit(ctx context.Context, slot *api.Slot, tentative int64) (sbatch.Submission, error) {
	return s.SubmitMember(ctx, slot, tentative, sbatch.Member{})
}

// SubmitMember implements broker.GroupSite.
func (s *promising) SubmitMember(ctx context.Context, slot *api.Slot, tentative int64, of sbatch.Member) (sbatch.Submission, error) {
	options := []string{"--begin-by=uts" + strconv.FormatInt(slot.Start, 10), "--prob=" + strconv.FormatFloat(slot.Prob, 'g', -1, 64)}
	if s.job.BestEffort {
		options = append(options, "--best-effort")
	}
	order := sbatch.Order{Site: s.Order(), Partition: slot.Partition, Reference: s.job.Reference, Tentative: tentative, Member: of}
	if s.job.Sized {
		options = append(options, "--sizes="+elastic.Size{Nodes: slot.Nodes, Seconds: slot.Limit}.String())
	} else {
		order.Limit = slot.Limit
	}
	return s.sbatch(s.job, options...).Submit(ctx, order)
}

// Confirm implements broker.Site.
func (s *promising) Confirm(ctx context.Context, c api.Confirmation) error {
	return s.Varqd.Confirm(ctx, c)
}

// Release implements broker.Site.
func (s *promising) Release(ctx context.Context, plan string) error {
	return s.Varqd.Cancel(ctx, api.Cancellation{Plan: plan})
}

// Cancel implements broker.Site.
func (s *promising) Cancel(ctx context.Context, plan *api.Plan, job int64) (started bool, err error) {
	return s.sbatch(s.job).Cancel(ctx, plan, job)
}
