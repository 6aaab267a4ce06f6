package backtest

import (
	"math"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/walltime"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/workload"
)

// Completions has all methods of forecasting completions. The baselines come last: the past
// completions of similar jobs, and what is got by adding a run time to a forecast of the wait,
// which is a rolling one or the same as that of the first method.
var Completions = []Maker{
	{Name: "completion", Cost: blendCost, New: func(c Cluster) Method {
		p := present(c)
		return Of(completion.New(p.Present(), p, chance()))
	}},
	plusMaker("limit", blendCost, fromBlend, (*plus).limit),
	plusMaker("last-two", blendCost, fromBlend, (*plus).lastTwo),
	plusMaker("product", blendCost, fromBlend, (*plus).product),
	plusMaker("rolling-limit", 1, fromRolling, (*plus).limit),
	plusMaker("rolling-last-two", 1, fromRolling, (*plus).lastTwo),
	rollingEndMaker("rolling-log", wholeLog),
	rollingEndMaker("rolling-queue", eachQueue),
	rollingEndMaker("rolling-cell", eachCell),
}

func present(c Cluster) *predictor.Predictor {
	return predictor.Standard(c.Queue, predictor.Options{Background: c.Background}, chance())
}

// plus is a Method that adds a run time to another's forecast of the wait.
type plus struct {
	Method
	name  string
	add   func(*plus, *forecast.Question, score.Prediction) score.Prediction
	last  walltime.LastTwo
	users map[string]int32
	times completion.RunTimes // nil if the other does not know of run times
}

func plusMaker(name string, cost float64, from func(Cluster) *plus, add func(*plus, *forecast.Question, score.Prediction) score.Prediction) Maker {
	return Maker{name, true, cost, func(c Cluster) Method {
		p := from(c)
		p.name, p.add, p.users = name, add, map[string]int32{}
		return p
	}}
}

func fromBlend(c Cluster) *plus {
	p := present(c)
	return &plus{Method: Of(p.Present()), times: p}
}

func fromRolling(Cluster) *plus { return &plus{Method: newBaseline("", eachCell, newRolling)} }

func rollingEndMaker(name string, s scope) Maker {
	return Maker{name, true, 1, func(Cluster) Method {
		b := newBaseline(name, s, newRolling)
		b.completion = true
		return b
	}}
}

// Name implements [Method].
func (p *plus) Name() string { return p.name }

// Ended implements [forecast.Observer].
func (p *plus) Ended(j *workload.Job) {
	p.Method.Ended(j)
	if j.Start > 0 {
		p.last.Learn(p.job(j))
	}
}

// job returns what LastTwo reads of a job.
func (p *plus) job(j *workload.Job) *sched.Job {
	user, ok := p.users[j.User]
	if !ok {
		user = int32(len(p.users))
		p.users[j.User] = user
	}
	return &sched.Job{User: user, Limit: j.Limit, Start: j.Start, End: j.End}
}

// Predict implements [Method].
func (p *plus) Predict(q *forecast.Question) (end, lower score.Prediction) {
	wait, _ := p.Method.Predict(q)
	if wait == nil {
		return nil, nil
	}
	return p.add(p, q, wait), nil
}

func (p *plus) limit(q *forecast.Question, wait score.Prediction) score.Prediction {
	return later{wait, float64(q.Limit)}
}

func (p *plus) lastTwo(q *forecast.Question, wait score.Prediction) score.Prediction {
	run, _ := p.last.Estimate(p.job(&workload.Job{Request: q.Request}))
	return later{wait, float64(run)}
}

func (p *plus) product(q *forecast.Question, wait score.Prediction) score.Prediction {
	run := p.times.RunTime(q)
	return &product{wait, &run}
}

// later is a wait and a number of seconds more.
type later struct {
	wait    score.Prediction
	seconds float64
}

func (l later) Quantile(q float64) float64     { return l.wait.Quantile(q) + l.seconds }
func (l later) Within(seconds float64) float64 { return l.wait.Within(seconds - l.seconds) }
func (l later) Below(seconds float64) float64  { return l.wait.Below(seconds - l.seconds) }

// product takes a job to end by a time if it starts by another and then runs for no longer than the
// rest, at the best of all these other times.
type product struct {
	wait score.Prediction
	run  *walltime.Distribution
}

// splits is how many ways to divide a probability are tried.
const splits = 64

func (p *product) Quantile(q float64) float64 {
	least := math.Inf(1)
	for i := range splits {
		wait := math.Pow(q, (float64(i)+.5)/splits)
		least = min(least, p.wait.Quantile(wait)+float64(p.run.Quantile(q/wait)))
	}
	return least
}

func (p *product) Within(seconds float64) float64 {
	best := 0.
	for i := range delay.Points {
		if at := delay.At(i); at <= seconds {
			best = max(best, p.wait.Within(at)*p.run.Within(int64(seconds-at)))
		}
	}
	return best
}

func (p *product) Below(seconds float64) float64 { return p.Within(math.Ceil(seconds) - 1) }
