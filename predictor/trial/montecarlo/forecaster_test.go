package montecarlo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// busy returns a Forecaster that has observed four weeks of short jobs, and a time at which
// this many jobs wait and run.
func busy(waiting, running, futures int, seed uint64) (f *Forecaster, now int64) {
	const start = 1_000_000_000
	r := rand.New(rand.NewPCG(1, 1))
	q := new(queue.Queue)
	f = New(q, futures, rand.New(rand.NewPCG(seed, 1)))
	now, id := int64(start), int64(0)
	submit := func() workload.Job {
		id++
		j := workload.Job{ID: id, Submit: now, Eligible: now}
		j.User, j.Partition = fmt.Sprint("user", r.IntN(60)), "batch"
		j.CPUs, j.Limit = 1<<r.IntN(8), 1800<<r.IntN(6)
		q.Submit(j)
		f.Submitted(&j)
		return j
	}
	run := func(j workload.Job) workload.Job {
		j.Start = now
		q.Start(j)
		f.Started(&j)
		return j
	}
	for now < start+4*week {
		j := run(submit())
		now += 900
		j.End = min(j.Start+60+r.Int64N(j.Limit-60), now)
		q.Remove(j.ID)
		f.Ended(&j)
	}
	for range running {
		run(submit())
		now += 5
	}
	for range waiting {
		submit()
		now += 5
	}
	return f, now
}

// asked returns a question at time now.
func asked(now int64) *forecast.Question {
	return &forecast.Question{
		Request: workload.Request{User: "user1", Partition: "batch", Size: workload.Size{CPUs: 32}, Limit: 3600},
		Now:     now, Submit: now,
	}
}

// TestForecast: the same seed gives the same answer. A question gets the same answer when
// it is asked again at once.
func TestForecast(t *testing.T) {
	ask := func(seed uint64) delay.Distribution {
		f, now := busy(200, 100, 20, seed)
		var a, again forecast.Answer
		if !f.Forecast(asked(now), &a) || a.Sample != 20 {
			t.Errorf("%+v", a)
		}
		if f.Forecast(asked(now), &again); again.Wait != a.Wait {
			t.Error("the same question is answered in another way")
		}
		if f.Forecast(asked(now+1), &again); again.Wait == a.Wait {
			t.Error("a second later the answer is the same")
		}
		return a.Wait
	}
	first, second, third := ask(1), ask(1), ask(2)
	if first != second {
		t.Error("the same random numbers give different answers")
	}
	if first == third {
		t.Error("different random numbers give the same answer")
	}
	if first[0] < 0 || !slices.IsSorted(first[:]) || first[delay.Points-1] > 1 {
		t.Errorf("no distribution: %v", first)
	}
}

// TestRestart: a Forecaster answers after events of unknown jobs in any order.
func TestRestart(t *testing.T) {
	var q queue.Queue
	random := rand.New(rand.NewPCG(1, 1))
	f := New(&q, 2, random)
	for now := int64(1e9); now < 1e9+300*60; now += 60 {
		j := workload.Job{ID: random.Int64N(50), Submit: now - 60}
		j.CPUs, j.Limit = 1+random.Int32N(8), 600
		switch random.IntN(3) {
		case 0:
			q.Submit(j)
			f.Submitted(&j)
		case 1:
			j.Start = now
			q.Start(j)
			f.Started(&j)
		default:
			j.Start, j.End = now-30, now
			q.Remove(j.ID)
			f.Ended(&j)
		}
		var a forecast.Answer
		if f.Forecast(asked(now), &a) && !(a.Wait[0] >= 0 && a.Wait[delay.Points-1] <= 1) {
			t.Fatalf("%v", a.Wait)
		}
	}
}

// BenchmarkForecast forecasts each job at another moment. 1,000 jobs wait and 500 run.
func BenchmarkForecast(b *testing.B) {
	f, now := busy(1000, 500, 20, 1)
	var a forecast.Answer
	b.ReportAllocs()
	for b.Loop() {
		now++
		f.Forecast(asked(now), &a)
	}
}
