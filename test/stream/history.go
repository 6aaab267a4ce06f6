package stream

import (
	"iter"
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
	"github.com/varq-project/varq/predictor/workload"
)

// Past returns what a cluster's accounting would have of the two days before end, in Unix seconds,
// in which such streams ran on it with EASY backfilling, other jobs than those of the Config.
// streams tells which. Jobs that can have any number of nodes had one of sizes, by chance, as their
// users thought fit.
func (c Config) Past(end int64, streams func(Config) []Job, sizes []int32) iter.Seq2[workload.Job, error] {
	const days = 2
	before := c
	before.Seed, before.Until = c.Seed+1<<32, days*86400
	random := rand.New(rand.NewPCG(before.Seed, 0x70617374))
	began := end - days*86400
	ended := &log{users: map[int64]string{}}
	cluster := sim.New(sched.Config{Procs: c.Nodes, Backfill: sched.EASY}, ended)
	for i, j := range streams(before) {
		n := j.Nodes
		if n == 0 {
			n = sizes[random.IntN(len(sizes))]
		}
		past := &sched.Job{
			ID: int64(i) + 1, Submit: began + int64(j.At), Procs: n, Limit: j.LimitOn(n), Run: max(1, int64(j.On(n))),
			User: -1, Group: -1, App: -1, Queue: -1, Partition: -1,
		}
		ended.users[past.ID] = j.User
		cluster.Submit(past)
	}
	cluster.Advance(end)
	return func(yield func(workload.Job, error) bool) {
		for _, j := range ended.jobs {
			if !yield(j, nil) {
				return
			}
		}
	}
}

// log collects the jobs that have ended.
type log struct {
	users map[int64]string
	jobs  []workload.Job
}

// Ended implements sim.Observer.
func (l *log) Ended(_ int64, j *sched.Job) {
	const cpus = 4 // of a node of package cluster
	done := workload.Job{ID: j.ID, Submit: j.Submit, Eligible: j.Submit, Start: j.Start, End: j.End, State: workload.Completed}
	done.User, done.Partition, done.Limit = l.users[j.ID], "main", j.Limit
	done.Nodes, done.CPUs = j.Procs, cpus*j.Procs
	l.jobs = append(l.jobs, done)
}

// Started, Reserved and Stopped implement sim.Observer.
func (*log) Started(int64, *sched.Job)                {}
func (*log) Reserved(int64, *sched.Job, int64, int64) {}
func (*log) Stopped(int64, *sched.Job)                {}
