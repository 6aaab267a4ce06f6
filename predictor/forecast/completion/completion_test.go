package completion

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/walltime"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/workload"
)

// scripted forecasts the same wait for each job, and learns nothing.
type scripted struct{ wait *delay.Distribution }

func (scripted) Name() string            { return "scripted" }
func (scripted) Submitted(*workload.Job) {}
func (scripted) Started(*workload.Job)   {}
func (scripted) Ended(*workload.Job)     {}
func (s scripted) Forecast(_ *forecast.Question, a *forecast.Answer) bool {
	*a = forecast.Answer{}
	if s.wait == nil {
		return false
	}
	a.Wait = *s.wait
	return true
}

// runTimes has learnt from runs of one kind of job.
type runTimes struct{ walltime.Predictor }

func (r *runTimes) RunTime(q *forecast.Question) walltime.Distribution {
	return r.Distribution(&sched.Job{Limit: q.Limit, Procs: 1, User: 1, Queue: 1, Group: 1, App: -1, Partition: -1}, 0)
}

// learnt returns a predictor that has learnt from run times drawn by draw.
func learnt(limit int64, draw func() int64) *runTimes {
	r := &runTimes{}
	for i := range int64(400) {
		r.Learn(&sched.Job{ID: i, Submit: 1000 * i, Start: 1000 * i, End: 1000*i + min(limit, draw()), Limit: limit, Procs: 1, User: 1, Queue: 1, Group: 1, App: -1, Partition: -1})
	}
	return r
}

const limit = 7200

// dependent returns a dependence that has learnt a correlation.
func dependent(correlation float64) dependence {
	return dependence{n: 1e9, waits: 1e9, runs: 1e9, products: correlation * 1e9}
}

// The sum has the same distribution as sums that are drawn, also if wait and run time depend on one
// another.
func TestSumAgainstDraws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	wait := forecasttest.Exponential(1800)
	run := learnt(limit, func() int64 { return int64(600 + 3000*r.ExpFloat64()) }).RunTime(&forecast.Question{Request: workload.Request{Limit: limit}})
	for _, correlation := range []float64{0, .6, -.6} {
		d := dependent(correlation)
		var total delay.Distribution
		d.sum(wait, &run, &total)
		const draws = 100_000
		var within [delay.Points]float64
		for range draws {
			a, b := r.NormFloat64(), r.NormFloat64()
			b = correlation*a + math.Sqrt(1-correlation*correlation)*b
			u := distuv.UnitNormal.CDF(a)
			waited := wait.Quantile(u)
			if i := delay.Index(waited + float64(run.Quantile(distuv.UnitNormal.CDF(b)))); i < delay.Points {
				within[i]++
			}
		}
		sum := 0.
		for k := range total {
			sum += within[k] / draws
			if math.Abs(total[k]-sum) > .02 {
				t.Errorf("correlation %g: %.3f within %g s, drawn %.3f", correlation, total[k], delay.At(k), sum)
			}
		}
	}
}

// The forecasts come true as often as they say, although the forecasts of waits are far too short,
// and waits and run times depend on one another.
func TestForecastsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	runs := learnt(limit, func() int64 { return int64(600 * math.Exp(r.NormFloat64())) })
	f := New(scripted{forecasttest.Exponential(600)}, runs, r)
	levels := []float64{.5, .75, .9, .95}
	covered := make([]float64, len(levels))
	const jobs, learning = 4000, 1000
	now := int64(1e6)
	for i := range int64(jobs) {
		now += 100
		j := workload.Job{ID: i + 1, Request: workload.Request{User: "alice", Limit: limit}, Submit: now, Eligible: now}
		q := forecast.AtSubmission(&j)
		var a forecast.Answer
		if !f.Forecast(&q, &a) {
			t.Fatal("no answer")
		}
		f.Submitted(&j)
		z := r.NormFloat64()
		j.Start = now + int64(1800*-math.Log(distuv.UnitNormal.CDF(-z)))
		f.Started(&j)
		j.End = j.Start + min(limit, int64(600*math.Exp(.6*z+.8*r.NormFloat64())))
		f.Ended(&j)
		if i < learning {
			continue
		}
		for k, level := range levels {
			if float64(j.End-now) <= a.Wait.Quantile(level) {
				covered[k]++
			}
		}
	}
	for k, level := range levels {
		if share := covered[k] / (jobs - learning); math.Abs(share-level) > .02 {
			t.Errorf("the %v quantile covers %.3f", level, share)
		}
	}
	if c := f.dependence.correlation(); c < .3 || c > .8 {
		t.Errorf("a correlation of %.2f is learnt, of .6", c)
	}
}

// Jobs that never start, and jobs without a forecast of the wait, teach nothing and leave nothing
// behind.
func TestNothingToLearn(t *testing.T) {
	for name, waits := range map[string]scripted{"cancelled": {forecasttest.Exponential(60)}, "no forecast": {}} {
		f := New(waits, learnt(limit, func() int64 { return 60 }), rand.New(rand.NewPCG(3, 3)))
		j := workload.Job{ID: 1, Request: workload.Request{Limit: limit}, Submit: 100, Eligible: 100}
		f.Submitted(&j)
		if name == "no forecast" {
			j.Start = 200
			f.Started(&j)
		}
		j.End = 300
		f.Ended(&j)
		if f.dependence.n != 0 || f.unscored.Len() != 0 {
			t.Errorf("%s: %+v, %d unscored", name, f.dependence, f.unscored.Len())
		}
	}
}

func BenchmarkSum(b *testing.B) {
	run := learnt(limit, func() int64 { return 600 }).RunTime(&forecast.Question{Request: workload.Request{Limit: limit}})
	wait := forecasttest.Exponential(1800)
	var total delay.Distribution
	for name, d := range map[string]dependence{"independent": {}, "dependent": dependent(.5)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				d.sum(wait, &run, &total)
			}
		})
	}
}
