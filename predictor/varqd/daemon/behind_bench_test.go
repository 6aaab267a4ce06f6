package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/workload"
)

// Job firstFlow is the first of flowCount flows of flowJobs jobs, of which 25 depend on others. The
// first user has the first flowsOfOne flows, and each further one has one.
const (
	firstFlow  = 3_000_000
	flowJobs   = 30
	flowCount  = 200
	flowsOfOne = 20
)

// flowUser is whose a flow is.
func flowUser(flow int) string { return fmt.Sprint("flows", max(0, flow-flowsOfOne+1)) }

// flowOf returns the jobs of a flow: a chain of 5, a fan-out of 10, 7 of the same name of which one
// is to run at a time, an array for which 5 wait, and a job alone. The array has ten tasks.
func flowOf(n int, now int64, random *rand.Rand) (jobs []slurm.QueueEntry) {
	first := int64(firstFlow + n*flowJobs)
	add := func(dependency string) {
		j := slurm.QueueEntry{Name: "work", Dependency: dependency, Job: waiting(first+int64(len(jobs)), flowUser(n), now, random), Reason: "Priority"}
		if dependency != "" {
			j.Eligible, j.Reason = 0, "Dependency"
		}
		jobs = append(jobs, j)
	}
	last := func() int64 { return first + int64(len(jobs)) - 1 }
	add("")
	for range 4 {
		add(fmt.Sprintf("afterok:%d(unfulfilled)", last()))
	}
	add("")
	for root := last(); last() < root+10; {
		add(fmt.Sprintf("afterany:%d(unfulfilled)", root))
	}
	add("")
	for one := last(); last() < one+6; {
		add("singleton(unfulfilled)")
	}
	for i := len(jobs) - 7; i < len(jobs); i++ {
		jobs[i].Name = fmt.Sprint("singleton", n)
	}
	add("")
	array := last()
	jobs[len(jobs)-1].ArrayJob, jobs[len(jobs)-1].ArrayTasks = array, "0-9"
	for last() < array+5 {
		add(fmt.Sprintf("afterok:%d_*(unfulfilled)", array))
	}
	add("")
	return jobs
}

// waiting returns a job that has waited for two hours.
func waiting(id int64, user string, now int64, random *rand.Rand) workload.Job {
	return workload.Job{ID: id, Submit: now - 7200, Eligible: now - 7200, State: workload.Pending, Priority: random.Int64N(10_000), Request: workload.Request{
		User: user, Partition: "main", QOS: "normal", Size: workload.Size{Nodes: 1, CPUs: 1 + random.Int32N(6)}, Limit: 3600 * (1 + random.Int64N(4)),
	}}
}

// flowSite is a varqd at a site of 2,000 nodes, which does not run: 5,000 jobs run, and 20,000
// wait, of which 5,000 depend on others, or none. move lets a minute pass.
func flowSite(b *testing.B, dependent bool) (d *Daemon, move func()) {
	b.Helper()
	c, random, clock := testConfig(b), rand.New(rand.NewPCG(5, 5)), &hands{time.Now()}
	c.Watch = config.Default().Watch
	fake, now := &bigSlurm{}, clock.at.Unix()
	fake.past = manyEnded(now, random)
	var queue []slurm.QueueEntry
	for n := range flowCount {
		queue = append(queue, flowOf(n, now, random)...)
	}
	for i := range 25_000 - len(queue) {
		j := slurm.QueueEntry{Job: waiting(int64(2_000_000+i), fmt.Sprint("user", random.IntN(300)), now, random), Reason: "Priority"}
		if i < 5000 {
			j.State, j.Start, j.On = workload.Running, now-random.Int64N(1800), []string{nodeName(i % bigNodes)}
		}
		queue = append(queue, j)
	}
	for i := range queue {
		if j := &queue[i]; !dependent && j.Dependency != "" {
			j.Dependency, j.Eligible, j.Reason = "", j.Submit, "Priority"
		}
	}
	fake.setQueue(queue...)
	d, err := New(Options{Config: c, Slurm: fake, Now: clock.now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	move = func() {
		clock.move(time.Minute)
		if err := errors.Join(d.readClock(b.Context()), d.premises.Refresh(b.Context())); err != nil {
			b.Fatal(err)
		}
	}
	move()
	if err := errors.Join(d.ingest.Load(b.Context()), d.ingest.CatchUp(b.Context())); err != nil {
		b.Fatal(err)
	}
	d.pastLoaded.set()
	following, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		d.follow(following)
		close(done)
	}()
	b.Cleanup(func() {
		stop()
		<-done
		d.Close()
	})
	lookOnce(b, d)
	return d, move
}

// lookOnce looks at the queue, and waits until all who follow it have taken it in.
func lookOnce(b *testing.B, d *Daemon) {
	b.Helper()
	if err := d.lookAtAll(b.Context()); err != nil {
		b.Fatal(err)
	}
	for d.ingest.Seen() < d.clock.now() {
		time.Sleep(time.Millisecond / 10)
	}
}

// promiseFlows promises that each of 20 users' flows ends within six days.
func promiseFlows(b *testing.B, d *Daemon) {
	b.Helper()
	for n := flowsOfOne; n < flowsOfOne+20; n++ {
		r := api.FlowRequest{FinishBy: d.clock.now() + 6*86400, Prob: .5}
		for i := range int64(flowJobs) {
			r.Jobs = append(r.Jobs, int64(firstFlow+n*flowJobs)+i)
		}
		if a, err := d.flows.PromiseFlow(b.Context(), flowUser(n), r); err != nil || a.Promised == nil {
			b.Fatalf("%+v, %v", a.Refusal, err)
		}
	}
}

// A look at 20,000 jobs that wait: all independent; 5,000 of them dependent on others; and also 20
// flows of 30 jobs promised, each of which is forecast at the look.
func BenchmarkLook(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	for _, queue := range []string{"independent", "dependent", "promised"} {
		b.Run(queue, func(b *testing.B) {
			d, move := flowSite(b, queue != "independent")
			if queue == "promised" {
				promiseFlows(b, d)
			}
			for b.Loop() {
				b.StopTimer()
				move()
				b.StartTimer()
				lookOnce(b, d)
			}
		})
	}
}

// What is asked about jobs that depend on others at the site of BenchmarkLook: a plan of a job that
// is to wait for one of a chain, the starts of 500 jobs of a user, of which as many are told as an
// answer has time for, that of one, and whether the end of a chain can be promised. again plans a
// promised job anew that waits for a chain.
func BenchmarkDependent(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	const job = firstFlow + flowsOfOne*flowJobs + 4 // the last of a chain
	user := flowUser(flowsOfOne)
	d, _ := flowSite(b, true)
	queue, err := d.slurm.Queue(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	promised := &queue[slices.IndexFunc(queue, func(j slurm.QueueEntry) bool { return j.ID == job })]
	var dependent []int64
	for i := range queue {
		if j := &queue[i]; j.User == flowUser(0) && j.Dependency != "" {
			dependent = append(dependent, j.ID)
		}
	}
	for _, c := range []struct {
		what string
		ask  func() (told int, err error) // of so many jobs
	}{
		{"plan", func() (told int, err error) {
			r := planRequest()
			r.BeginBy, r.Dependency = d.clock.now()+48*3600, fmt.Sprint("afterok:", job)
			a, err := d.desk.Plan(b.Context(), user, &r, false)
			if a.Eligible != nil {
				told = 1
			}
			return told, err
		}},
		{"when=500", func() (told int, err error) {
			a, err := d.desk.When(b.Context(), flowUser(0), api.WhenQuery{Jobs: dependent})
			return len(a.Jobs), err
		}},
		{"when=1", func() (told int, err error) {
			a, err := d.desk.When(b.Context(), user, api.WhenQuery{Jobs: []int64{job}})
			return len(a.Jobs), err
		}},
		{"flow", func() (told int, err error) {
			a, err := desk.Flows{Desk: d.desk}.Quote(b.Context(), user, &api.FlowRequest{Jobs: []int64{job}, FinishBy: d.clock.now() + 86400, Prob: .5})
			return len(a.Flow.Jobs), err
		}},
		{"again", func() (told int, err error) {
			if _, _, ok := d.desk.Again(&ledger.Entry{Reservation: api.Reservation{User: user, Partition: "main"}}, promised, d.clock.now()); ok {
				told = 1
			}
			return told, nil
		}},
	} {
		b.Run(c.what, func(b *testing.B) {
			all := 0
			for b.Loop() {
				told, err := c.ask()
				if told == 0 || err != nil {
					b.Fatal(told, err)
				}
				all += told
			}
			b.ReportMetric(float64(all)/float64(b.N), "told")
		})
	}
}
