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

// Scheduled returns the log of a machine of one partition on which n jobs of Downey's
// model were started by a policy: FCFS or LWF. Load is the work that comes, as a share
// of what the machine can do.
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

// log takes down the jobs that have ended.
type log struct{ jobs []workload.Job }

func (l *log) Ended(_ int64, j *sched.Job) {
	done := workload.Job{ID: j.ID, Submit: j.Submit, Eligible: j.Submit, Start: j.Start, End: j.End, State: workload.Completed}
	done.User, done.CPUs, done.Limit = fmt.Sprint("user", j.User), j.Procs, j.Limit
	l.jobs = append(l.jobs, done)
}
func (*log) Started(int64, *sched.Job)                {}
func (*log) Reserved(int64, *sched.Job, int64, int64) {}
func (*log) Stopped(int64, *sched.Job)                {}
