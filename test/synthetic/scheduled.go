package synthetic

import (
	"math/rand/v2"

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
	ended := new(Ended)
	s := sim.New(config, ended)
	random := rand.New(rand.NewPCG(1, uint64(n)))
	for j := range (downey.Model{Procs: procs, Load: load}).Jobs(random, n) {
		const first = 1_000_000_000
		j.Submit += first
		s.Advance(j.Submit)
		s.Submit(&j)
	}
	s.Drain()
	return ended.Jobs()
}
