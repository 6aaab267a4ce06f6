package desk

import (
	"context"
	"iter"
	"sync"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/workload"
)

// jobs yields the jobs of the queue, and the jobs of promises that no look at the queue has shown
// yet. The promises of a moment ago leave as little room under Slurm's limits as jobs that wait.
// jobs leaves out the promise of the plan that but names. It reads the ledger once, when it is used
// first. If that fails, err returns the reason, as a fault of package api, and jobs yields only the
// jobs of the queue.
func (d *occupancy) jobs(ctx context.Context, but string) (jobs iter.Seq[*workload.Job], err func() error) {
	var failed error
	unseen := sync.OnceValue(func() []ledger.Entry {
		entries, err := d.unseen(ctx)
		if err != nil {
			failed = d.unread(ctx, err)
		}
		return entries
	})
	jobs = func(yield func(*workload.Job) bool) {
		promised := unseen()
		shown := map[string]bool{}
		for j := range d.Outlook.Jobs {
			if plan, ok := api.PlanInComment(j.Comment); ok && len(promised) > 0 {
				shown[plan] = true
			}
			if !yield(j) {
				return
			}
		}
		for i := range promised {
			if e := &promised[i]; e.ID != but && !shown[e.ID] && !yield(jobOf(e)) {
				return
			}
		}
	}
	return jobs, func() error { return failed }
}

// unseen returns the open promises that no look at the queue has shown, except those that were
// taken back.
func (d *occupancy) unseen(ctx context.Context) ([]ledger.Entry, error) {
	seen := d.Outlook.Seen()
	return d.Ledger.Open(ctx, func(e *ledger.Entry) bool {
		return e.Job != 0 && e.Progress.Submit >= seen || e.Job == 0 && e.Withdrawn == 0
	})
}

// jobOf returns the job of a promise as it is to be submitted.
func jobOf(e *ledger.Entry) *workload.Job {
	return &workload.Job{
		ID: e.Job, Eligible: e.BeginTime, Start: e.Start, Tasks: e.Tasks, Request: e.Request(e.TimeLimit),
	}
}
