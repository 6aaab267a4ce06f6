package graph

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/trial/follow"
)

// varqd does in a simulation what the daemon varqd does on a live cluster.
type varqd struct {
	follow.Follower
	flows  follow.Flows
	learnt stats.Platt
	random *rand.Rand
	starts map[*sched.Job]*flow.Times // as forecast, of jobs that wait for others
}

func newVarqd(e *Experiment) *varqd {
	v := &varqd{Follower: follow.Follower{Request: e.Request}, random: e.chance(1), starts: map[*sched.Job]*flow.Times{}}
	p := predictor.Standard(&v.Queue, predictor.Options{Background: e.Background}, e.chance(2))
	v.flows = follow.Flows{Waits: p, Ends: completion.New(p, p, e.chance(3))}
	v.Observer = v.flows.Ends
	return v
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
		of, ok := v.flows.Job(j.ID, v.Request(&j.Job), now, after)
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
	v.learnt.LearnRank(starts.Rank(now, v.random.Float64()), now)
}
