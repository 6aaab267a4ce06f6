package daemon

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/workload"
)

// bigSlurm is a Slurm of 2,000 nodes.
type bigSlurm struct{ fakeSlurm }

const bigNodes = 2000

func nodeName(i int) string { return fmt.Sprintf("node%04d", i) }

func (s *bigSlurm) Nodes(context.Context) ([]slurm.Node, error) {
	nodes := make([]slurm.Node, bigNodes)
	for i := range nodes {
		nodes[i] = slurm.Node{Name: nodeName(i), CPUs: 16, Memory: 64_000, Partitions: []string{"main"}, Up: true}
	}
	return nodes, nil
}

func (s *bigSlurm) Cluster(context.Context) (limits.Cluster, error) {
	main := limits.Partition{Name: "main", Default: true, Up: true, MaxTime: 7 * 86400, DefaultTime: 3600, MaxNodes: limits.None, TotalCPUs: 16 * bigNodes}
	for i := range bigNodes {
		main.Nodes = append(main.Nodes, nodeName(i))
	}
	return limits.Cluster{Partitions: map[string]limits.Partition{"main": main}}, nil
}

// promiseMany writes promises of the next six days into a ledger, and returns their jobs, which
// wait.
func promiseMany(b *testing.B, path string, promises int) (jobs []slurm.QueueEntry) {
	b.Helper()
	file, err := statefile.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	l, now, random := ledger.New(file), time.Now().Unix(), rand.New(rand.NewPCG(4, 4))
	for i := range promises {
		begin, job := now+3600+random.Int64N(6*24*3600), int64(1_000_000+i)
		request := workload.Request{User: fmt.Sprint("user", i%100), Partition: "main", QOS: "normal", Size: workload.Size{Nodes: 1, CPUs: 1 + random.Int32N(4)}, Limit: 7200}
		plan := api.Plan{
			ID: api.NewPlanID(), BeginTime: begin, TimeLimit: 7200 + 600, BeginBy: begin + 600, HoldUntil: begin + 600, WorkLimit: 7200,
			Prob: .8, Estimate: .9, OnMiss: api.OnMissRun, Work: api.Cost{NodeSeconds: 7200}, Worst: api.Cost{NodeSeconds: 600}, Expected: api.Cost{NodeSeconds: 300},
		}
		plan.Comment = api.CommentPrefix + plan.ID
		err := errors.Join(
			l.Promise(b.Context(), &api.Reservation{Plan: plan, User: request.User, Partition: request.Partition, QOS: request.QOS, Size: request.Size, Promised: now, State: api.StatePromised}, 0),
			l.Bind(b.Context(), plan.ID, request.User, job, begin, begin, true),
		)
		if err != nil {
			b.Fatal(err)
		}
		waits := slurm.QueueEntry{Job: workload.Job{ID: job, Request: request, Submit: now, Eligible: begin, Comment: plan.Comment}, Reason: "BeginTime"}
		waits.Limit = plan.TimeLimit
		jobs = append(jobs, waits)
	}
	return jobs
}

// manyEnded returns 10,000 past jobs: one ended a minute.
func manyEnded(now int64, random *rand.Rand) (past []workload.Job) {
	for i := range 10_000 {
		end, run, wait := now-int64(10_000-i)*60, 600+random.Int64N(2*3600), random.Int64N(4*3600)
		past = append(past, workload.Job{
			ID: int64(i + 1), Submit: end - run - wait, Eligible: end - run - wait, Start: end - run, End: end, State: workload.Completed,
			Request: workload.Request{User: fmt.Sprint("user", random.IntN(300)), Partition: "main", QOS: "normal", Size: workload.Size{Nodes: 1, CPUs: 1 + random.Int32N(6)}, Limit: 3 * 3600},
		})
	}
	return past
}

// bigSite is a varqd at a big site: 2,000 nodes, 5,000 jobs that run, 20,000 that wait, and 3,000
// promises. ask sets the random part of a request: how many CPUs, for how long, and by when, so
// many hours ahead and as many more at most.
func bigSite(b *testing.B) (d *Daemon, asking *client.Client, ask func(r *api.PlanRequest, hours, more int64)) {
	b.Helper()
	c := testConfig(b)
	c.Watch = config.Default().Watch
	queue, random, now := promiseMany(b, c.Ledger.Path, 3000), rand.New(rand.NewPCG(5, 5)), time.Now().Unix()
	fake := &bigSlurm{}
	fake.past = manyEnded(now, random)
	for i := range 25_000 {
		j := slurm.QueueEntry{Job: workload.Job{
			ID: int64(2_000_000 + i), Submit: now - 7200, Eligible: now - 7200,
			Request: workload.Request{User: fmt.Sprint("user", random.IntN(300)), Partition: "main", QOS: "normal", Size: workload.Size{Nodes: 1, CPUs: 1 + random.Int32N(6)}, Limit: 3600 * (1 + random.Int64N(4))},
		}, Reason: "Priority"}
		if i < 5000 {
			j.Start, j.On = now-random.Int64N(1800), []string{nodeName(i % bigNodes)}
		}
		queue = append(queue, j)
	}
	fake.setQueue(queue...)
	d, asking = learnt(b, c, fake)
	return d, asking, func(r *api.PlanRequest, hours, more int64) {
		r.BeginBy, r.Job.CPUs, r.Job.Limit = now+(hours+random.Int64N(more))*3600, 1+random.Int32N(6), 3600*(1+random.Int64N(4))
	}
}

// A plan three to six days ahead. Each is of another job, and settled at once.
func BenchmarkPlanAtBigSite(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	d, asking, ask := bigSite(b)
	r := planRequest()
	r.Prob = .5
	for b.Loop() {
		ask(&r, 72, 72)
		a, err := asking.Plan(b.Context(), r)
		if err != nil || a.Plan == nil {
			b.Fatalf("%+v, %v", a.Refusal, err)
		}
		if err := d.ledger.Settle(b.Context(), a.Plan.ID, ledger.Settlement{Outcome: api.StateCancelled}); err != nil {
			b.Fatal(err)
		}
	}
}

// A refusal, with what can be promised instead: the queue is longer than the hour until the
// deadline.
func BenchmarkRefusalAtBigSite(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	_, asking, ask := bigSite(b)
	r := planRequest()
	for b.Loop() {
		ask(&r, 1, 1)
		if a, err := asking.Plan(b.Context(), r); err != nil || a.Plan != nil {
			b.Fatalf("%+v, %v", a.Plan, err)
		}
	}
}

// Sixty-four sizes of which none can be promised, as in BenchmarkRefusalAtBigSite.
func BenchmarkSizesAtBigSite(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	_, asking, ask := bigSite(b)
	r := planRequest()
	for b.Loop() {
		ask(&r, 1, 1)
		limit := r.Job.Limit
		r.Job.Size, r.Job.Limit, r.Sizes = workload.Size{}, 0, nil
		for n := range int32(64) {
			r.Sizes = append(r.Sizes, api.Size{Size: workload.Size{Nodes: n + 1, CPUs: 6 * (n + 1)}, Limit: limit})
		}
		if a, err := asking.Plan(b.Context(), r); err != nil || a.Plan != nil {
			b.Fatalf("%+v, %v", a.Plan, err)
		}
	}
}
