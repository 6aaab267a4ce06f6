package predictor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/workload"
)

// crowd passes this many past jobs, of 200 users, to an observer. Then some jobs wait and
// others run. It returns a similar job that is submitted next.
func crowd(q *queue.Queue, past, waiting, running int, o forecast.Observer) workload.Job {
	random := rand.New(rand.NewPCG(1, 1))
	now := int64(1_000_000_000)
	next := func(id int) workload.Job {
		j := workload.Job{ID: int64(id), Submit: now, Eligible: now, State: workload.Completed}
		j.User, j.Account = fmt.Sprint("user", random.IntN(200)), fmt.Sprint("group", random.IntN(20))
		j.Partition, j.CPUs, j.Limit = "batch", 1<<random.IntN(8), 1800<<random.IntN(6)
		return j
	}
	jobs := make([]workload.Job, past, past+waiting+running)
	for i := range jobs {
		now += random.Int64N(200)
		j := next(i)
		j.Start = now + random.Int64N(1+j.Limit)*random.Int64N(2)
		j.End = j.Start + 1 + random.Int64N(j.Limit)
		jobs[i] = j
	}
	for i := range waiting + running {
		now += random.Int64N(20)
		j := next(past + i)
		j.State = workload.Pending
		if i*running/(waiting+running) != (i+1)*running/(waiting+running) {
			j.Start, j.State = now, workload.Running
		}
		jobs = append(jobs, j)
	}
	now++
	// Past jobs that would still wait start now, and those that would still run end now.
	for i := range jobs[:past] {
		j := &jobs[i]
		j.Start = min(j.Start, now)
		j.End = min(j.End, now)
	}
	_ = forecast.Replay(jobs, q, []forecast.Observer{o}, func(*workload.Job) error { return nil })
	return next(len(jobs))
}

// BenchmarkDowney forecasts a job, each time at a new moment.
func BenchmarkDowney(b *testing.B) {
	var q queue.Queue
	f := expert.NewDowney(&q)
	j := crowd(&q, 5000, 1000, 500, f)
	question := forecast.AtSubmission(&j)
	var a forecast.Answer
	b.ReportAllocs()
	for b.Loop() {
		question.Now++
		question.Submit++
		f.Forecast(&question, &a)
	}
}

// BenchmarkQuantile forecasts a quantile from history, without simulations, each time at a
// new moment.
func BenchmarkQuantile(b *testing.B) {
	var q queue.Queue
	p := History(Options{}, rand.New(rand.NewPCG(1, 1)))
	j := crowd(&q, 20_000, 1000, 500, p)
	question := forecast.AtSubmission(&j)
	var a forecast.Answer
	b.ReportAllocs()
	for b.Loop() {
		question.Now++
		question.Submit++
		p.Forecast(&question, &a)
		a.Wait.Quantile(.95)
	}
}

// sizes are those of the queues of benchmarks: a usual one, and that of a big site, which has an
// array of 50,000 tasks besides.
var sizes = []struct{ waiting, running int }{{1000, 500}, {20_000, 5000}}

// site returns a Predictor of varqd with a queue of a size, and a job that is submitted next.
// Before there were 20,000 past jobs. A longer past would make no difference, because the memory of
// the forecasters is bounded, and full by then.
func site(q *queue.Queue, waiting, running int) (*Predictor, workload.Job) {
	p := Standard(q, Options{}, rand.New(rand.NewPCG(1, 1)))
	j := crowd(q, 20_000, waiting, running, p)
	if waiting >= 20_000 {
		array := j
		array.ID, array.Tasks, array.CPUs, array.Limit = 1<<40, 50_000, 1, 1800
		q.Submit(array)
		p.Submitted(&array)
	}
	return p, j
}

// BenchmarkUpdate measures the submission, the start and the end of a job, with all forecasters of
// the blend. us/start is the time for the start, from which they learn, and us/end that for the
// end.
func BenchmarkUpdate(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprint(size.waiting), func(b *testing.B) {
			var q queue.Queue
			p, j := site(&q, size.waiting, size.running)
			var starts, ends time.Duration
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				j.ID++
				j.Submit += 10
				j.Eligible = j.Submit
				j.Start, j.End = 0, 0
				q.Submit(j)
				p.Submitted(&j)
				j.Start = j.Submit + j.ID%10
				q.Start(j)
				began := time.Now()
				p.Started(&j)
				starts += time.Since(began)
				n++
				j.End = j.Start + 100
				q.Remove(j.ID)
				began = time.Now()
				p.Ended(&j)
				ends += time.Since(began)
			}
			b.ReportMetric(float64(starts.Nanoseconds())/1000/float64(n), "us/start")
			b.ReportMetric(float64(ends.Nanoseconds())/1000/float64(n), "us/end")
		})
	}
}

// BenchmarkPlan measures the forecasts for one plan, by the forecaster of varqd: submissions
// every 30 s of 12 hours, with limits that fall, for queues of all sizes.
func BenchmarkPlan(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprint(size.waiting), func(b *testing.B) {
			var q queue.Queue
			p, j := site(&q, size.waiting, size.running)
			const deadline = 12 * 3600
			candidates := make([]workload.Candidate, 0, deadline/30)
			estimates := make([]workload.Estimate, deadline/30)
			var took []time.Duration
			for now := j.Submit; b.Loop(); now += 30 {
				candidates = candidates[:0]
				for at := int64(0); at < deadline; at += 30 {
					candidates = append(candidates, workload.Candidate{Submit: now + at, Limit: 3600 + deadline - at, Budget: deadline - at})
				}
				began := time.Now()
				Trajectory{p}.Forecast(j.Request, now, candidates, estimates)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// BenchmarkPlansTogether measures the forecasts for plans of eight users who ask at the same time,
// at a big site. Each is a plan of BenchmarkPlan.
func BenchmarkPlansTogether(b *testing.B) {
	var q queue.Queue
	p, j := site(&q, 20_000, 5000)
	const deadline = 12 * 3600
	for now := j.Submit; b.Loop(); now += 30 {
		var asking sync.WaitGroup
		for user := range int32(8) {
			asking.Go(func() {
				r := j.Request
				r.CPUs += user
				var candidates []workload.Candidate
				for at := int64(0); at < deadline; at += 30 {
					candidates = append(candidates, workload.Candidate{Submit: now + at, Limit: 3600 + deadline - at, Budget: deadline - at})
				}
				Trajectory{p}.Forecast(r, now, candidates, make([]workload.Estimate, len(candidates)))
			})
		}
		asking.Wait()
	}
}
