package broker

import (
	"context"
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// scripted is a site whose answers a test prescribes. Calls without prescribed answers succeed.
type scripted struct {
	name  string
	calls []string

	probe   func(ctx context.Context) (api.ProbeAnswer, error)
	submit  func(ctx context.Context) (sbatch.Submission, error)
	confirm func(ctx context.Context) error
	release func(ctx context.Context) error
	cancel  func(ctx context.Context) (bool, error)
	// promises changes a promise, so that it differs from its slot.
	promises func(p *api.Plan)
}

func (s *scripted) call(format string, args ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

func (s *scripted) Name() string { return s.name }

func (s *scripted) Probe(ctx context.Context, _ api.ProbeRequest) (api.ProbeAnswer, error) {
	return s.probe(ctx)
}

func (s *scripted) Submit(ctx context.Context, slot *api.Slot, _ int64) (sbatch.Submission, error) {
	s.call("submit by %d", slot.Start)
	got, err := sbatch.Submission{Plan: &api.Plan{ID: s.name}, Job: 7}, error(nil)
	if s.submit != nil {
		got, err = s.submit(ctx)
	}
	if got.Plan != nil {
		*got.Plan = planFor(slot, got.Plan.ID)
	}
	if s.promises != nil && got.Plan != nil {
		s.promises(got.Plan)
	}
	return got, err
}

// planFor returns a promise of a slot.
func planFor(slot *api.Slot, id string) api.Plan {
	return api.Plan{ID: id, BeginBy: slot.Start, WorkLimit: slot.Limit, Estimate: slot.Estimate, Work: slot.Work, Worst: slot.Worst}
}

func (s *scripted) Confirm(ctx context.Context, c api.Confirmation) error {
	s.call("confirm %s %d", c.Plan, c.Job)
	if s.confirm != nil {
		return s.confirm(ctx)
	}
	return nil
}

func (s *scripted) Release(ctx context.Context, plan string) error {
	s.call("release %s", plan)
	if s.release != nil {
		return s.release(ctx)
	}
	return nil
}

func (s *scripted) Cancel(ctx context.Context, p *api.Plan, job int64) (bool, error) {
	s.call("cancel %s %d", p.ID, job)
	if s.cancel != nil {
		return s.cancel(ctx)
	}
	return false, nil
}

// said returns the calls since the last time. It lists equal calls in a row once.
func (s *scripted) said() string {
	var some []string
	for _, c := range s.calls {
		if len(some) == 0 || some[len(some)-1] != c {
			some = append(some, c)
		}
	}
	s.calls = nil
	return strings.Join(some, ", ")
}

// slotAt returns a slot that starts at a time. The earliest slot is preferred.
func slotAt(start int64) api.Slot {
	return api.Slot{Partition: "main", Start: start, End: start + 600, Nodes: 2, Limit: 600, Prob: .8, Estimate: .9, Work: api.Cost{BillingSeconds: 600}}
}

// offers returns answers of sites with two slots each: first one by 1000, 2000 and so on, and then
// another for each site.
func offers(sites ...Site) (answers []Answer) {
	for i, s := range sites {
		at := int64(1000 * (i + 1))
		answers = append(answers, Answer{Site: s.Name(), ProbeAnswer: api.ProbeAnswer{Slots: []api.Slot{slotAt(at), slotAt(at + 100_000)}}})
	}
	return answers
}
