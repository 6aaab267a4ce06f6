package desk

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/policy"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Again returns a planner, and the request that was promised, to plan e's pending job j again. It
// reports false if nothing can be planned.
func (d *Desk) Again(e *ledger.Entry, j *slurm.QueueEntry, now int64) (*trajectory.Planner, trajectory.Request, bool) {
	if d.Shadow || d.Outlook.Learning() {
		return nil, trajectory.Request{}, false
	}
	return d.again(e, j, now)
}

// again is Again also while the past is being learnt.
func (d *Desk) again(e *ledger.Entry, j *slurm.QueueEntry, now int64) (*trajectory.Planner, trajectory.Request, bool) {
	planner, err := d.planner()
	if err != nil {
		return nil, trajectory.Request{}, false
	}
	place, others := planned(e, j)
	if _, ok := planner.Cluster.Partitions[place.Partition]; !ok {
		// others than those planned, or a partition newer than the last Refresh
		return nil, trajectory.Request{}, false
	}
	r := trajectory.Request{
		Job: workload.Request{
			User: e.User, Account: j.Account, Partition: place.Partition, NodeSet: place.NodeSet, Reservation: j.Reservation, QOS: j.QOS, Nice: j.Nice, Size: e.Size, Limit: e.WorkLimit,
		},
		Others: others,
		Pieces: e.Pieces,
		Tasks:  e.Waiting(), TasksNodes: e.NodesOf(e.Waiting()),
		ID:  e.Job,
		Now: now, Deadline: e.BeginBy, HoldUntil: e.HoldUntil, Earliest: e.Progress.Earliest, Prob: e.Prob,
	}
	if e.Progress.Yielded { // it is forecast as it is
		r.Job.Size, r.Job.Limit, r.Pieces = j.Size, j.Limit, workload.Pieces{}
	}
	planner.Room = d.room(d.held(), false) // a promise keeps its room beside others that wait
	ok := true
	if j.Dependency != "" {
		v := &view{Planner: planner, desk: d, now: now}
		ok = v.after(j)
	}
	return planner, r, ok
}

// planned returns the place for which e's pending job j is planned, and in which other partitions
// Slurm may start it: the job may wait in several.
func planned(e *ledger.Entry, j *slurm.QueueEntry) (place workload.Place, others []string) {
	if j.Partition == e.Partition || !j.MayRunIn(e.Partition) {
		return j.Place(), nil
	}
	others = slices.DeleteFunc(strings.Split(j.Partition, ","), func(name string) bool { return name == e.Partition })
	return workload.Place{Partition: e.Partition, NodeSet: e.NodeSet}, others
}

// Objection returns the reason why what e promises cannot be granted again to the submitted job j:
// the site's policy, Slurm's limits or other promises. It returns "" if there is none. The error is
// a fault of package api.
func (d *Desk) Objection(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry) (string, error) {
	who := policy.Who{User: e.User, Account: e.Account, Partition: e.Partition, QOS: e.QOS}
	rule, err := d.checkUse(ctx, d.policy().For(who), who, policy.Use{Open: 1, NodeSeconds: e.AtMost().NodeSeconds})
	if err != nil {
		return "", err
	}
	if rule != nil {
		return rule.What, nil
	}
	return d.crowded(ctx, e, j)
}

// crowded returns the reason why Slurm's limits, or other promises, leave no room for what e
// promises to the submitted job j, or "". The error is a fault of package api.
func (d *Desk) crowded(ctx context.Context, e *ledger.Entry, j *slurm.QueueEntry) (string, error) {
	planner, err := d.planner()
	if err != nil {
		return "", err
	}
	now := d.Now()
	slot := max(e.Slot, e.BeginTime, now)
	if j.Start != 0 || slot > e.Deadline() {
		return "", nil // it has its nodes, or is too late
	}
	job := e.Request(e.WorkLimit)
	plan := &trajectory.Plan{Limit: e.TimeLimit, Slot: slot, Start: slot, Last: slot, Estimate: workload.Estimate{Prob: e.Prob}}
	got := trajectory.Answer{Job: job, Pieces: e.Pieces, Tasks: cmp.Or(e.AtOnce, e.Tasks), TasksNodes: e.TasksNodes, Plan: plan}
	no, err := d.beside(ctx, planner, &got, j.ID, e.Deadline(), e.ID)
	if no != nil {
		return no.Reason, nil
	}
	var claims []workload.Claim
	if err == nil {
		claims, err = d.claims(ctx, now, e.ID)
		claims, _ = d.withOffers(claims, e.User, d.offered.standing(e.User, nil, now), now)
	}
	if err == nil {
		err = d.fits(&got, j.ID, claims, now)
	}
	if errors.Is(err, errCrowded) {
		return "running jobs and other promises leave too little room for it" + trajectory.OrLicences(&job), nil
	}
	return "", err
}
