package sites

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/broker"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// trials is a site without varqd for a job. The varqd of this host's cluster answers probes for it.
// Nobody keeps a promise there: what stands for a tentative one is a job on trial, and what
// confirms it is to take that.
type trials struct {
	*Site
	job    *Job
	trials map[string]*sbatch.Trial // by plan
	jobs   map[string]int64         // their jobs, as far as they are known
	// doubts are the plans of failed submissions that may have left a job, and how often Slurm must
	// say yet that there is none.
	doubts map[string]int
}

var _ broker.DoubtfulSite = (*trials)(nil)

func newTrials(s *Site, job *Job) *trials {
	return &trials{Site: s, job: job, trials: map[string]*sbatch.Trial{}, jobs: map[string]int64{}, doubts: map[string]int{}}
}

// Probe implements broker.Site.
func (s *trials) Probe(ctx context.Context, r api.ProbeRequest) (api.ProbeAnswer, error) {
	r.Site = s.Name()
	return s.Varqd.Probe(ctx, r)
}

// Submit implements broker.Site. The promise is that of nobody.
func (s *trials) Submit(ctx context.Context, slot *api.Slot, _ int64) (sbatch.Submission, error) {
	plan := &api.Plan{
		ID: api.NewPlanID(), BeginBy: slot.Start, WorkLimit: slot.Limit, SizeNodes: slot.Nodes, Prob: slot.Prob, Estimate: slot.Estimate,
		Work: slot.Work, Worst: slot.Worst,
	}
	read := s.job.Description
	t := &sbatch.Trial{
		Plan: plan.ID, Start: slot.Start, Limit: slot.Limit, Late: s.Lateness(), Partition: slot.Partition, Comment: read.Comment, Arguments: read.Arguments,
		Env: []string{"VARQ_NODES=" + strconv.Itoa(int(slot.Nodes)), "VARQ_TIME=" + strconv.FormatInt(slot.Limit, 10), "VARQ_SITE=" + s.Name()},
	}
	if s.job.Sized {
		t.Nodes = slot.Nodes
	}
	s.trials[plan.ID] = t
	job, err := s.sbatch(s.job).Try(ctx, t)
	s.jobs[plan.ID] = job
	switch {
	case sbatch.Unanswered(err):
		// a slurmctld that goes on may answer squeue before it accepts the job
		s.doubts[plan.ID] = 2
	case err != nil:
		s.doubts[plan.ID] = 1
	}
	return sbatch.Submission{Plan: plan, Job: job}, err
}

// slurmTime bounds how long Slurm's commands may take to confirm a job.
const slurmTime = 10 * time.Second

// Confirm implements broker.Site.
func (s *trials) Confirm(ctx context.Context, c api.Confirmation) error {
	ctx, cancel := context.WithTimeout(ctx, slurmTime)
	defer cancel()
	err := s.sbatch(s.job).Take(ctx, s.trials[c.Plan], c.Job)
	if errors.Is(err, sbatch.ErrOver) {
		return api.Fault(api.ErrConflict, err.Error())
	}
	return err
}

// Release implements broker.Site. A job that has started was confirmed.
func (s *trials) Release(ctx context.Context, plan string) error {
	started, err := s.sbatch(s.job).Drop(ctx, s.trials[plan], s.jobs[plan])
	if started {
		return api.Fault(api.ErrConflict, "the job has started")
	}
	if err == nil {
		if s.doubts[plan]--; s.doubts[plan] <= 0 {
			delete(s.doubts, plan)
		}
	}
	return err
}

// Cancel implements broker.Site.
func (s *trials) Cancel(ctx context.Context, plan *api.Plan, job int64) (started bool, err error) {
	return s.sbatch(s.job).Drop(ctx, s.trials[plan.ID], job)
}

// settlePause is how long a slurmctld that goes on needs to accept what it was sent before.
const settlePause = time.Second

// Settle implements broker.DoubtfulSite.
func (s *trials) Settle(ctx context.Context) (list []broker.Left) {
	for len(s.doubts) > 0 && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(settlePause):
		}
		for _, plan := range slices.Sorted(maps.Keys(s.doubts)) {
			_ = s.Release(ctx, plan) // or it stays in doubt
		}
	}
	for _, plan := range slices.Sorted(maps.Keys(s.doubts)) {
		list = append(list, broker.Left{Site: s.Name(), Plan: plan, Until: s.trials[plan].CancelledBy()})
	}
	return list
}
