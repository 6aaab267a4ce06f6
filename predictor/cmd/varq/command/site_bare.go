package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/broker"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// bareSite is a cluster without varqd, for package broker. The varqd of this host's cluster answers
// probes for it. Nobody keeps a promise there: what stands for a tentative one is a job on trial,
// and what confirms it is to take that.
type bareSite struct {
	*site
	trials map[string]*sbatch.Trial // by plan
	jobs   map[string]int64         // their jobs, as far as they are known
	// doubts are the plans of failed submissions that may have left a job, and how often Slurm must
	// say yet that there is none.
	doubts map[string]int
}

// asBroker returns the site for package broker.
func (s *site) asBroker() broker.Site {
	if s.HasNoVarqd() {
		return &bareSite{site: s, trials: map[string]*sbatch.Trial{}, jobs: map[string]int64{}, doubts: map[string]int{}}
	}
	return s
}

// describer returns the site whose sbatch reads what the job needs, which has a varqd: the first
// such one, else this host's cluster.
func (l *link) describer(sites []*site) *site {
	if i := slices.IndexFunc(sites, func(s *site) bool { return !s.HasNoVarqd() }); i >= 0 {
		return sites[i]
	}
	own := &site{own: true, job: sites[0].job}
	own.Site.Name = thisCluster
	return own
}

// refuseBare returns an error if one of the sites has no varqd, for what cannot be without.
func refuseBare(sites []*site, what string) error {
	for _, s := range sites {
		if s.HasNoVarqd() {
			return fmt.Errorf("%s: site %s has no varqd, which would let its job begin or give up beside the others: leave it out of --clusters", what, s.Name())
		}
	}
	return nil
}

// Probe implements broker.Site.
func (s *bareSite) Probe(ctx context.Context, r api.ProbeRequest) (api.ProbeAnswer, error) {
	r.Site = s.Name()
	return s.varqd.Probe(ctx, r)
}

// Submit implements broker.Site. The promise is that of nobody.
func (s *bareSite) Submit(ctx context.Context, slot *api.Slot, _ int64) (sbatch.Submission, error) {
	plan := &api.Plan{
		ID: api.NewPlanID(), BeginBy: slot.Start, WorkLimit: slot.Limit, SizeNodes: slot.Nodes, Prob: slot.Prob, Estimate: slot.Estimate,
		Work: slot.Work, Worst: slot.Worst,
	}
	t := &sbatch.Trial{
		Plan: plan.ID, Start: slot.Start, Limit: slot.Limit, Late: s.Lateness(), Partition: slot.Partition, Comment: s.described.Comment, Arguments: s.described.Arguments,
		Env: []string{"VARQ_NODES=" + strconv.Itoa(int(slot.Nodes)), "VARQ_TIME=" + strconv.FormatInt(slot.Limit, 10), "VARQ_SITE=" + s.Name()},
	}
	if s.sizes {
		t.Nodes = slot.Nodes
	}
	s.trials[plan.ID] = t
	job, err := s.sbatch(nil).Try(ctx, t)
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

// Confirm implements broker.Site.
func (s *bareSite) Confirm(ctx context.Context, c api.Confirmation) error {
	ctx, cancel := context.WithTimeout(ctx, slurmTime)
	defer cancel()
	err := s.sbatch(nil).Take(ctx, s.trials[c.Plan], c.Job)
	if errors.Is(err, sbatch.ErrOver) {
		return api.Fault(api.ErrConflict, err.Error())
	}
	return err
}

// slurmTime bounds how long Slurm's commands may take to confirm a job.
const slurmTime = confirmPause * 20

// Release implements broker.Site. A job that has started was confirmed.
func (s *bareSite) Release(ctx context.Context, plan string) error {
	started, err := s.sbatch(nil).Drop(ctx, s.trials[plan], s.jobs[plan])
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
func (s *bareSite) Cancel(ctx context.Context, plan *api.Plan, job int64) (started bool, err error) {
	return s.sbatch(nil).Drop(ctx, s.trials[plan.ID], job)
}

// left is a job that may be left at a site without varqd, where it cannot run.
type left struct {
	Site string `json:"site"`
	Plan string `json:"plan"` // which its comment names
	// Until is when its Slurm cancels it, Unix seconds.
	Until int64 `json:"until"`
}

// How long settle may take, and how long a slurmctld that goes on needs to accept what it was sent
// before.
const (
	settleTime  = 5 * time.Second
	settlePause = time.Second
)

// settle once more drops what failed submissions may have left at sites without varqd, also if ctx
// is done, and returns what may be left still.
func settle(ctx context.Context, sites []broker.Site) []left {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	lists := make([][]left, len(sites))
	var wait sync.WaitGroup
	for i := range sites {
		if s, bare := sites[i].(*bareSite); bare {
			wait.Go(func() { lists[i] = s.settle(ctx) })
		}
	}
	wait.Wait()
	return slices.Concat(lists...)
}

// settle is settle of one site, until ctx is done.
func (s *bareSite) settle(ctx context.Context) (list []left) {
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
		list = append(list, left{s.Name(), plan, s.trials[plan].CancelledBy()})
	}
	return list
}
