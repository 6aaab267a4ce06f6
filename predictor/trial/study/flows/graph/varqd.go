package graph

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/trial/follow"
)

// varqd does in a simulation what the daemon varqd does on a live cluster.
type varqd struct {
	follow.Follower
	flows  follow.Flows
	learnt *flow.Learnt
	random *rand.Rand
	sights map[*sched.Job]sight // of jobs that wait for others
}

// mostSeen is from how many jobs of a flow is learnt that wait for others, each as likely as any
// other: what they teach depends on one another.
const mostSeen = 3

// sight is when a job starts as it was drawn, and how many waits there are until then.
type sight struct {
	starts flow.Times
	waits  int
}

func newVarqd(e *Experiment) *varqd {
	v := &varqd{Follower: follow.Follower{Request: e.Request}, learnt: flow.NewLearnt(), random: e.chance(1), sights: map[*sched.Job]sight{}}
	p := predictor.Standard(&v.Queue, predictor.Options{Background: e.Background}, e.chance(2))
	v.flows = follow.Flows{Waits: p, Ends: completion.New(p, p, e.chance(3))}
	v.Observer = v.flows.Ends
	return v
}

// forecast forecasts a flow that is submitted now. It reports false if nothing is known of one of
// its jobs.
func (v *varqd) forecast(now int64, f *Flow, jobs []*job, o *Outcome) bool {
	all := flow.New(flow.AlikeWaits, v.learnt, now)
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
		single := flow.New(0, nil, now)
		ends := flow.TimesOf(single.Courses(single.Add(of)).End)
		alone[i] = &ends
	}
	drawn := all.Drawn()
	told, raw := flow.TimesOf(all.Last(places)), flow.TimesOf(drawn.Last(places))
	for i, level := range Levels {
		o.Quantiles[Told][i] = seconds(told.Quantile(level), now)
		o.Quantiles[Courses][i] = seconds(raw.Quantile(level), now)
		o.Quantiles[Sum][i] = f.Longest(func(k int) float64 { return seconds(alone[k].Quantile(level), now) })
	}
	o.Prob = told.Prob(now + f.Within)
	var dependents []int
	for i := range jobs {
		if len(f.After[i]) > 0 {
			dependents = append(dependents, i)
		}
	}
	v.random.Shuffle(len(dependents), func(i, k int) { dependents[i], dependents[k] = dependents[k], dependents[i] })
	for _, i := range dependents[:min(mostSeen, len(dependents))] {
		v.sights[&jobs[i].Job] = sight{flow.TimesOf(drawn.Courses(places[i]).Start), all.Waits(places[i])}
	}
	return true
}

// learn learns from a job that starts now, if it has waited for others.
func (v *varqd) learn(now int64, j *sched.Job) {
	of, ok := v.sights[j]
	if !ok {
		return
	}
	delete(v.sights, j)
	v.learnt.LearnRank(of.waits, of.starts.Rank(now, v.random.Float64()), now)
}
