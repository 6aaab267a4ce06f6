package synthetic

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
	"github.com/varq-project/varq/predictor/forecast/downey"
	"github.com/varq-project/varq/predictor/workload"
)

// Policies has scheduling policies, each with a load that is nearly the highest that the
// policy can sustain.
var Policies = []struct {
	rollout.Policy
	Load float64
}{
	{rollout.Policy{Order: rollout.FCFS, Backfill: sched.EASY}, .75},
	{rollout.Policy{Order: rollout.FCFS, Backfill: sched.NoBackfill}, .15},
	{rollout.Policy{Order: rollout.LWF, Backfill: sched.EASY}, .75},
	{rollout.Policy{Order: rollout.LWF, Backfill: sched.NoBackfill}, .15},
}

// Scheduled returns the log of a machine of one partition on which a policy, FCFS or LWF,
// started n jobs of Downey's model. load is the work that arrives, as a share of what the
// machine can do.
func Scheduled(policy rollout.Policy, procs int32, load float64, n int) []workload.Job {
	config := sched.Config{Procs: procs, Backfill: policy.Backfill}
	if policy.Order == rollout.LWF {
		config.Order = sched.LWF()
	}
	ended := new(log)
	s := sim.New(config, ended)
	random := rand.New(rand.NewPCG(1, uint64(n)))
	for j := range (downey.Model{Procs: procs, Load: load}).Jobs(random, n) {
		const first = 1_000_000_000
		j.Submit += first
		s.Advance(j.Submit)
		s.Submit(&j)
	}
	s.Drain()
	slices.SortFunc(ended.jobs, func(a, b workload.Job) int { return cmp.Compare(a.ID, b.ID) })
	return ended.jobs
}

// log collects the jobs that have ended.
type log struct{ jobs []workload.Job }

func (l *log) Ended(_ int64, j *sched.Job) {
	done := workload.Job{ID: j.ID, Submit: j.Submit, Eligible: j.Submit, Start: j.Start, End: j.End, State: workload.Completed}
	done.User, done.CPUs, done.Limit = fmt.Sprint("user", j.User), j.Procs, j.Limit
	l.jobs = append(l.jobs, done)
}
func (*log) Started(int64, *sched.Job)                {}
func (*log) Reserved(int64, *sched.Job, int64, int64) {}
func (*log) Stopped(int64, *sched.Job)                {}
