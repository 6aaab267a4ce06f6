package completion

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/forecasttest"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/thorough"
)

// certain returns a Forecaster whose lower bounds equal its probabilities. Its recalibration
// changes nothing, because its past forecasts have come true as often as they said.
func certain(t *testing.T, wait *delay.Distribution, runs *runTimes) *Forecaster {
	t.Helper()
	return trained(wait, runs, 1)
}

// trained returns a Forecaster of jobs that run for a number of times as long as forecast.
func trained(wait *delay.Distribution, runs *runTimes, times float64) *Forecaster {
	f := New(scripted{wait}, runs, rand.New(rand.NewPCG(4, 4)))
	f.SetConfidence(.5)
	for i := range int64(20_000) {
		j := workload.Job{ID: i + 1, Request: workload.Request{Limit: limit}, Submit: 1e6 + i, Eligible: 1e6 + i}
		q := forecast.AtSubmission(&j)
		f.Expect(&j, q)
		run := runs.RunTime(&q)
		j.Start = j.Submit + int64(wait.Quantile(f.rng.Float64()))
		f.Waited(&j)
		j.End = j.Start + int64(times*float64(run.Draw(f.rng)))
		f.Score(&j)
	}
	return f
}

// The probabilities are the shares of drawn jobs that have done their work in time, among the jobs
// that are not stopped at their limit before.
func TestProspectAgainstDraws(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	wait := forecasttest.Exponential(1800)
	runs := learnt(limit, func() int64 { return int64(600 + 3000*r.ExpFloat64()) })
	f := certain(t, wait, runs)
	q := &forecast.Question{Request: workload.Request{Limit: limit}}
	run := runs.RunTime(q)
	for name, c := range map[string]struct {
		Circumstances
		waited int64
	}{
		"alone":                 {},
		"has waited":            {waited: 900},
		"failures":              {Circumstances: Circumstances{FailureRate: 1. / 20_000}},
		"failures, checkpoints": {Circumstances: Circumstances{FailureRate: 1. / 20_000, Checkpoints: 300}},
	} {
		r := rand.New(rand.NewPCG(6, 6))
		var a forecast.Answer
		if !f.Wait(q, c.waited, &a) {
			t.Fatal("no forecast")
		}
		p := f.Prospect(q, c.Circumstances, &a.Wait)
		const draws = 200_000
		for _, by := range []float64{1800, 3600, 7200, 9000, 20_000} {
			done, stopped := 0., 0.
			for range draws {
				// exponential waits have no memory: the time already waited does not matter
				waited := -1800 * math.Log(r.Float64())
				ran := float64(run.Draw(r))
				total := waited + ran
				if fails := r.ExpFloat64() / max(c.FailureRate, 1e-30); fails < ran {
					repeat := fails
					if c.Checkpoints > 0 {
						repeat = math.Mod(fails, float64(c.Checkpoints))
					}
					total += repeat + r.ExpFloat64()*1800
					if r.Float64() < -math.Expm1(-c.FailureRate*ran) {
						total = math.Inf(1)
					}
				}
				switch {
				case total > by:
				case ran >= limit:
					stopped++
				default:
					done++
				}
			}
			want := done / (draws - stopped)
			if got := p.Prob(by); math.Abs(got-want) > .03 { // twice the error of recalibration
				t.Errorf("%s: %.3f within %g s, drawn %.3f", name, got, by, want)
			}
		}
		if want := 1 - run.Below(limit); math.Abs(p.TimeOut()-want) > .01 {
			t.Errorf("%s: stopped with %.3f, want %.3f", name, p.TimeOut(), want)
		}
		for _, prob := range []float64{.1, .5, .9} {
			seconds, ok := p.Within(prob, 60)
			if !ok || p.Prob(float64(seconds)) < prob || seconds >= 120 && p.Prob(float64(seconds-120)) >= prob || seconds%60 != 0 {
				t.Errorf("%s: %v is reached after %d s, %v", name, prob, seconds, ok)
			}
		}
	}
}

// No job ends sooner than it starts, also where past jobs ran for a shorter time than forecast, and
// where the wait is careful.
func TestEndIsAfterStart(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	wait := forecasttest.Exponential(1800)
	f := trained(wait, learnt(limit, func() int64 { return int64(600 + 100*r.ExpFloat64()) }), .01)
	var careful delay.Distribution
	for i := range careful {
		careful[i] = max(0, 1-3*(1-wait[i]))
	}
	for name, wait := range map[string]*delay.Distribution{"forecast": wait, "careful": &careful} {
		p := f.Prospect(&forecast.Question{Request: workload.Request{Limit: limit}}, Circumstances{}, wait)
		for seconds := 0.; seconds < 20_000; seconds += 60 {
			if end, start := p.Prob(seconds), wait.Within(seconds); end > start {
				t.Fatalf("%s: within %v s it ends with %v, and starts with %v", name, seconds, end, start)
			}
		}
	}
}

// The rest of a run has the distribution of the rests of drawn runs that have lasted as long.
func TestRestAgainstDraws(t *testing.T) {
	thorough.Only(t)
	r := rand.New(rand.NewPCG(6, 6))
	runs := learnt(limit, func() int64 { return int64(600 + 3000*r.ExpFloat64()) })
	f := certain(t, forecasttest.Exponential(1800), runs)
	q := &forecast.Question{Request: workload.Request{Limit: limit}}
	run := runs.RunTime(q)
	const age, draws = 1800, 200_000
	p := f.Rest(q, age, Circumstances{FailureRate: 1. / 50_000})
	for _, by := range []int64{300, 1800, 5000, 6000} {
		done, all := 0., 0.
		for range draws {
			ran := run.Draw(r)
			late := ran-age > by
			switch fails := r.ExpFloat64() * 50_000; {
			case ran <= age:
				continue
			case ran >= limit && !late:
				continue // stopped
			case !late && fails >= float64(by):
				// a failure counts although it may come after the end
				done++
			}
			all++
		}
		if got := p.Prob(float64(by)); math.Abs(got-done/all) > .02 {
			t.Errorf("%.3f within %d s, drawn %.3f", got, by, done/all)
		}
	}
	beyond := f.Rest(q, limit+60, Circumstances{})
	if got, stopped := beyond.Prob(60), beyond.TimeOut(); got != 0 || stopped != 1 {
		t.Errorf("beyond its limit a job has done its work with %v, and is stopped with %v", got, stopped)
	}
}

// A job that starts at once, and has not run yet, is at least as likely to end in time as when it
// was promised.
func TestRestFollowsProspect(t *testing.T) {
	thorough.Only(t)
	r := rand.New(rand.NewPCG(7, 7))
	runs := learnt(limit, func() int64 { return int64(600 + 3000*r.ExpFloat64()) })
	for name, f := range map[string]*Forecaster{
		"as forecast":     certain(t, forecasttest.Exponential(1800), runs),
		"jobs are faster": trained(forecasttest.Exponential(1800), runs, .3),
		"nothing seen":    New(scripted{forecasttest.Exponential(1800)}, runs, r),
	} {
		q := &forecast.Question{Request: workload.Request{Limit: limit}}
		var a forecast.Answer
		ok := f.Wait(q, 0, &a)
		promised := f.Prospect(q, Circumstances{}, &a.Wait)
		rest := f.Rest(q, 0, Circumstances{})
		for _, by := range []float64{900, 3600, 7200} {
			if before, now := promised.Prob(by), rest.Prob(by); !ok || now < before {
				t.Errorf("%s: %.3f within %g s before it started, and then %.3f", name, before, by, now)
			}
		}
	}
}

// Nothing can be promised for a job of which nothing is known, or for a job whose wait has no end.
func TestNoProspect(t *testing.T) {
	runs := learnt(limit, func() int64 { return 60 })
	var a forecast.Answer
	if New(scripted{}, runs, nil).Wait(&forecast.Question{}, 0, &a) {
		t.Error("a forecast of a wait of which nothing is known")
	}
	p := New(scripted{}, runs, nil).Prospect(&forecast.Question{Request: workload.Request{Limit: limit}}, Circumstances{FailureRate: 1}, &delay.Distribution{})
	if p.Prob(1e9) != 0 {
		t.Errorf("%v", p.Prob(1e9))
	}
	if _, ok := p.Within(.01, 60); ok {
		t.Error("an end of a wait without end")
	}
}

func BenchmarkProspect(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 7))
	f := New(scripted{forecasttest.Exponential(1800)}, learnt(limit, func() int64 { return int64(3000 * r.ExpFloat64()) }), r)
	q := &forecast.Question{Request: workload.Request{Limit: limit}}
	for b.Loop() {
		var a forecast.Answer
		f.Wait(q, 0, &a)
		f.Prospect(q, Circumstances{FailureRate: 1e-6}, &a.Wait)
	}
}

// The end of an array is that of the longest of its tasks, as drawn. A task that is stopped at its
// limit has ended. Of several rounds it is the later one of two ends: of rounds that take equally
// long, and of rounds that do not depend on one another.
func TestArrayAgainstDraws(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	wait := forecasttest.Exponential(1800)
	runs := learnt(limit, func() int64 { return int64(600 + 3000*r.ExpFloat64()) })
	f := certain(t, wait, runs)
	q := &forecast.Question{Request: workload.Request{Limit: limit}}
	run := runs.RunTime(q)
	var a forecast.Answer
	if !f.Wait(q, 0, &a) {
		t.Fatal("no forecast")
	}
	const tasks, draws = 8, 20_000
	round := func() float64 {
		longest := int64(0)
		for range tasks {
			longest = max(longest, run.Draw(r))
		}
		return -1800*math.Log(r.Float64()) + float64(longest)
	}
	for _, rounds := range []int{1, 2, 10} {
		p := f.Prospect(q, Circumstances{Tasks: tasks, Rounds: int32(rounds)}, &a.Wait)
		for _, by := range []float64{8400, 9000, 12_000} {
			equally, independent := 0., 0.
			for range draws {
				each, sum := 0., 0.
				for range rounds {
					each = round()
					sum += each
				}
				if each <= by {
					equally++
				}
				if sum <= by*float64(rounds) {
					independent++
				}
			}
			if got, want := p.Prob(by*float64(rounds)), min(equally, independent)/draws; got > want+.04 || got < want-.08 {
				// a gamma distribution is not quite theirs
				t.Errorf("%d rounds: %.3f within %g s each, drawn %.3f", rounds, got, by, want)
			}
		}
		if want := 1 - run.Below(limit); math.Abs(p.TimeOut()-want) > .01 {
			t.Errorf("a task is stopped with %.3f, want %.3f", p.TimeOut(), want)
		}
		seconds, ok := p.Within(.9, 60)
		if !ok || p.Prob(float64(seconds)) < .9 || p.Prob(float64(seconds-120)) >= .9 || seconds%60 != 0 {
			t.Errorf("%d rounds: .9 is reached after %d s, %v", rounds, seconds, ok)
		}
	}
	alone, together := f.Rest(q, 900, Circumstances{}), f.Rest(q, 900, Circumstances{Tasks: tasks})
	if one, all := alone.Prob(6000), together.Prob(6000); all > one || all < math.Pow(one, tasks)-.1 {
		t.Errorf("one has ended with %.3f, and all with %.3f", one, all)
	}
	if stopping := f.Rest(q, limit+60, Circumstances{Tasks: tasks}); stopping.Prob(60) != 1 || stopping.TimeOut() != 1 {
		t.Errorf("tasks that are being stopped have ended with %.3f", stopping.Prob(60))
	}
}
