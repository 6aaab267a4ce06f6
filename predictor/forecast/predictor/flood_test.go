package predictor

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/workload"
)

// calm returns a Predictor that has observed a calm cluster of 64 processors for long, and
// the time then.
func calm(t *testing.T) (p *Predictor, q *queue.Queue, now int64) {
	t.Helper()
	q = new(queue.Queue)
	p = Standard(q, Options{}, rand.New(rand.NewPCG(1, 1)))
	jobs := forecasttest.Jobs(1500, 3)
	if err := forecast.Replay(jobs, q, []forecast.Observer{p}, func(*workload.Job) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		now = max(now, jobs[i].End)
	}
	return p, q, now + 3600
}

// TestFlood: when weeks of work are thrown at a calm cluster, as jobs or as an array, nothing
// is promised that the queue rules out, now or later, and the answers say why. When it is
// withdrawn, all is as before.
func TestFlood(t *testing.T) {
	for name, flood := range map[string]func(now int64) []workload.Job{
		"jobs": func(now int64) (jobs []workload.Job) {
			random := rand.New(rand.NewPCG(4, 4))
			for id := range int64(400) {
				j := workload.Job{ID: 1_000_000 + id, Submit: now, Eligible: now}
				j.CPUs, j.Limit = 8*(1+random.Int32N(8)), 600*(1+random.Int64N(60))
				jobs = append(jobs, j)
			}
			return jobs
		},
		"an array": func(now int64) []workload.Job {
			j := workload.Job{ID: 1_000_000, Array: 1_000_000, Tasks: 5000, Submit: now, Eligible: now}
			j.CPUs, j.Limit = 8, 18_000
			return []workload.Job{j}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, q, now := calm(t)
			const lead = 6 * 3600
			asked := workload.Request{Partition: "batch", Size: workload.Size{CPUs: 64}, Limit: 36_000}
			trajectory := func() []workload.Estimate {
				var c []workload.Candidate
				for at := int64(0); at <= lead; at += 600 {
					c = append(c, workload.Candidate{Submit: now + at, Limit: asked.Limit + lead - at, Budget: lead - at})
				}
				est := make([]workload.Estimate, len(c))
				Trajectory{p}.Forecast(asked, now, c, est)
				return est
			}
			best := func(list []workload.Estimate) (prob, beyond float64) {
				for _, e := range list {
					prob, beyond = max(prob, e.Prob), max(beyond, e.Beyond)
				}
				return prob, beyond
			}
			if prob, beyond := best(trajectory()); prob < .6 || beyond != 0 {
				t.Errorf("while it is calm, %v is promised, %v beyond", prob, beyond)
			}
			jobs := flood(now)
			for i := range jobs {
				jobs[i].Partition = "batch"
				q.Submit(jobs[i])
				p.Submitted(&jobs[i])
			}
			if prob, beyond := best(trajectory()); prob > .05 || beyond != 1 {
				t.Errorf("with weeks of work ahead, %v is promised, %v beyond", prob, beyond)
			}
			var a forecast.Answer
			p.Forecast(&forecast.Question{Request: asked, Now: now, Submit: now}, &a)
			if a.Wait.Quantile(.5) < 3*86_400 || a.Beyond != 1 {
				t.Errorf("a median of %v s, %v beyond", a.Wait.Quantile(.5), a.Beyond)
			}
			for i := range jobs {
				jobs[i].End = now
				q.Remove(jobs[i].ID)
				p.Ended(&jobs[i])
			}
			if prob, beyond := best(trajectory()); prob < .6 || beyond != 0 {
				t.Errorf("when all is withdrawn, %v is promised, %v beyond", prob, beyond)
			}
		})
	}
}

// TestFalseAlarm: jobs whose limits are much longer than any before, and that run for a minute,
// keep the machine full. Simulations until their limits say that the next one waits for days. After
// a few have started, nobody is told of hours any more.
func TestFalseAlarm(t *testing.T) {
	p, q, now := calm(t)
	var running []workload.Job
	alarms := 0
	for id := range int64(60) {
		j := workload.Job{ID: 1_000_000 + id, Submit: now, Eligible: now}
		j.User, j.Partition, j.CPUs, j.Limit = "alice", "batch", 32, 5*86_400
		question := forecast.AtSubmission(&j)
		var a forecast.Answer
		p.Forecast(&question, &a)
		if a.Wait.Quantile(.5) > 3600 {
			if alarms++; id >= 10 {
				t.Errorf("job %d: a median of %v s, %v beyond", id, a.Wait.Quantile(.5), a.Beyond)
			}
		}
		q.Submit(j)
		p.Submitted(&j)
		now += 30
		if len(running) == 2 { // the machine is full
			ended := running[0]
			ended.End, running = now, running[1:]
			q.Remove(ended.ID)
			p.Ended(&ended)
		}
		j.Start, j.State = now, workload.Running
		q.Start(j)
		p.Started(&j)
		running = append(running, j)
	}
	if alarms == 0 {
		t.Error("no alarm: this tests nothing")
	}
}

// TestSecondFlood: a user of whom nothing is known submits jobs whose limits are days and that run
// for seconds, and soon after many more of them. The machine starts jobs in the order in which they
// come. Behind neither flood a start is as good as promised that does not come.
func TestSecondFlood(t *testing.T) {
	p, q, now := calm(t)
	var waiting, running []workload.Job
	id := int64(1_000_000)
	submit := func(user string, limit int64) {
		id++
		j := workload.Job{ID: id, Submit: now, Eligible: now, Priority: 1}
		j.User, j.Partition, j.CPUs, j.Limit = user, "batch", 8, limit
		q.Submit(j)
		p.Submitted(&j)
		waiting = append(waiting, j)
	}
	// pass lets a second pass: jobs that have run for so long end, and others start.
	pass := func(run int64) {
		now++
		for len(running) > 0 && running[0].Start+run <= now {
			j := running[0]
			j.End, running = now, running[1:]
			q.Remove(j.ID)
			p.Ended(&j)
		}
		for len(running) < 8 && len(waiting) > 0 {
			j := waiting[0]
			j.Start, j.State, waiting = now, workload.Running, waiting[1:]
			q.Start(j)
			p.Started(&j)
			running = append(running, j)
		}
	}
	within := func(seconds float64) float64 {
		var a forecast.Answer
		r := workload.Request{User: "alice", Partition: "batch", Size: workload.Size{CPUs: 8}, Limit: 300}
		p.Forecast(&forecast.Question{Request: r, Now: now, Submit: now}, &a)
		return a.Lower.Within(seconds)
	}
	for n := range 120 {
		submit("bob", 2*86_400)
		if n%10 == 9 {
			pass(20)
		}
	}
	for len(waiting) > 0 || len(running) > 0 {
		pass(20)
		if len(waiting) > 24 && within(10) > .5 {
			t.Errorf("%d jobs wait, and the next starts within 10 s with a probability of %.2f", len(waiting), within(10))
		}
	}
	for range 1500 {
		submit("bob", 2*86_400)
	}
	for second := range 1800 {
		pass(60)
		if second%30 == 0 && within(3600) > .6 {
			t.Errorf("%d jobs wait for three hours, and after %d s the next one starts within an hour with a probability of %.2f", len(waiting), second, within(3600))
		}
	}
}

// TestAnchorsAreShared: a question about a submission to come may be answered by what was
// simulated for another. The answer does not depend on what was asked before.
func TestAnchorsAreShared(t *testing.T) {
	p, q, now := calm(t)
	j := workload.Job{ID: 1_000_000, Array: 1_000_000, Tasks: 5000, Submit: now, Eligible: now}
	j.CPUs, j.Limit, j.Partition = 8, 18_000, "batch"
	q.Submit(j)
	p.Submitted(&j)
	ask := func(limits ...int64) []float64 {
		var said []float64
		for _, limit := range limits {
			question := forecast.Question{Request: workload.Request{Partition: "batch", Size: workload.Size{CPUs: 64}, Limit: limit}, Now: now, Submit: now + 3600}
			var a forecast.Answer
			p.Forecast(&question, &a)
			said = append(said, a.Wait.Quantile(.5))
		}
		return said
	}
	limits := []int64{600, 1200, 3600, 36_000, 86_400}
	up := ask(limits...)
	j.ID, j.End = 1_000_001, now
	p.Ended(&j) // forgets what was simulated
	slices.Reverse(limits)
	down := ask(limits...)
	slices.Reverse(down)
	if !slices.Equal(up, down) {
		t.Errorf("%v, and in the reverse order %v", up, down)
	}
}
