package graph

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/trial/follow"
)

// varqd does in a simulation what the daemon varqd does on a live cluster.
type varqd struct {
	follow.Follower
	waits  forecast.Forecaster
	ends   *completion.Forecaster
	learnt stats.Platt
	random *rand.Rand
	starts map[*sched.Job]*flow.Times // as forecast, of jobs that wait for others
}

func newVarqd(e *Experiment) *varqd {
	v := &varqd{Follower: follow.Follower{Request: e.Request}, random: e.chance(1), starts: map[*sched.Job]*flow.Times{}}
	p := predictor.Standard(&v.Queue, predictor.Options{Background: e.Background}, e.chance(2))
	v.waits = p
	v.ends = completion.New(v.waits, p, e.chance(3))
	v.Observer = v.ends
	return v
}

// job returns a job that is eligible now, or once those at some places have ended. It reports false
// if nothing is known of it.
func (v *varqd) job(now int64, j *sched.Job, after []int) (of flow.Job, ok bool) {
	request := v.Request(j)
	var a forecast.Answer
	wait := func(at int64) bool {
		return v.waits.Forecast(&forecast.Question{Request: request, Now: now, Submit: at}, &a)
	}
	if !wait(now) {
		return of, false
	}
	of = flow.Job{ID: j.ID, Earliest: now, Success: 1, Run: v.ends.Run(&forecast.Question{Request: request, Now: now, Submit: now}, 0, completion.Circumstances{})}
	for _, place := range after {
		of.Conditions = append(of.Conditions, flow.Condition{Event: flow.Ended, Job: place})
	}
	of.Wait = func(at int64) delay.Distribution {
		wait(at)
		return a.Wait
	}
	return of, true
}

// forecast forecasts a flow that is submitted now. It reports false if nothing is known of one of
// its jobs.
func (v *varqd) forecast(now int64, f *Flow, jobs []*job, o *Outcome) bool {
	all := flow.New(flow.AlikeWaits)
	places, alone := make([]int, len(jobs)), make([]*flow.Times, len(jobs))
	for i, j := range jobs {
		after := make([]int, len(f.After[i]))
		for k, before := range f.After[i] {
			after[k] = places[before]
		}
		of, ok := v.job(now, &j.Job, after)
		if !ok {
			return false
		}
		places[i] = all.Add(of)
		of.Conditions = nil
		single := flow.New(0)
		ends := flow.TimesOf(single.Courses(single.Add(of)).End, nil, now)
		alone[i] = &ends
	}
	learnt := v.learnt
	last := all.Last(places)
	told, raw := flow.TimesOf(last, &learnt, now), flow.TimesOf(last, nil, now)
	for i, level := range Levels {
		o.Quantiles[Told][i] = seconds(told.Quantile(level), now)
		o.Quantiles[Courses][i] = seconds(raw.Quantile(level), now)
		o.Quantiles[Sum][i] = f.Longest(func(k int) float64 { return seconds(alone[k].Quantile(level), now) })
	}
	o.Prob = told.Prob(now + f.Within)
	for i, j := range jobs {
		if len(f.After[i]) > 0 {
			starts := flow.TimesOf(all.Courses(places[i]).Start, nil, now)
			v.starts[&j.Job] = &starts
		}
	}
	return true
}

// learn learns from a job that starts now, if it has waited for others.
func (v *varqd) learn(now int64, j *sched.Job) {
	starts := v.starts[j]
	if starts == nil {
		return
	}
	delete(v.starts, j)
	low, high := starts.Prob(now-1), starts.Prob(now)
	v.learnt.LearnRank(low+v.random.Float64()*(high-low), now)
}
