package backtest

import (
	"math/rand/v2"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/expert"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/trial/montecarlo"
)

// Method is one way of forecasting waits. It observes what happens. It must not keep the
// jobs that it is given.
type Method interface {
	forecast.Observer
	// Name returns a word in lower case. Each Method has another.
	Name() string
	// Predict forecasts the wait of a job. wait is nil if the Method has no forecast.
	// lower has lower bounds on the probabilities. It is nil if there are none, and it
	// may be equal to wait. Both must be comparable with ==, and are valid until the
	// next call of any method.
	Predict(q *forecast.Question) (wait, lower score.Prediction)
}

// Cluster is what a Method knows of a cluster before the replay begins.
type Cluster struct {
	// Queue has the jobs that wait and run at the present moment of the replay. A
	// Method must not change it.
	Queue *queue.Queue
	// Background is predictor.Options.Background.
	Background func(task func())
}

// Maker makes a Method.
type Maker struct {
	Name string
	// Baseline says that the Method is a baseline, with which others are compared.
	Baseline bool
	// Cost is about how much time it takes to learn from a job and to forecast one, in times of
	// what the quickest Method takes. It matters for what is told of the time left.
	Cost float64
	New  func(Cluster) Method
}

// Methods has all methods. The baselines come last.
var Methods = []Maker{
	{Name: "blend", Cost: blendCost, New: func(c Cluster) Method {
		return Of(predictor.Standard(c.Queue, predictor.Options{Background: c.Background}, chance()).Present())
	}},
	{Name: "history", Cost: 5, New: func(c Cluster) Method {
		return Of(predictor.History(predictor.Options{Background: c.Background}, chance()).Present())
	}},
	{Name: "twin", Cost: 50, New: func(c Cluster) Method { return Of(montecarlo.New(c.Queue, 20, chance())) }},
	{Name: "downey", Cost: 1, New: func(c Cluster) Method { return Of(expert.NewDowney(c.Queue)) }},
	{Name: "qbets", Cost: 4, New: func(Cluster) Method { return newQBETS() }},
	rollingMaker("rolling-log", wholeLog, window),
	rollingMaker("rolling-queue", eachQueue, window),
	rollingMaker("rolling-cell", eachCell, window),
	rollingMaker("rolling-cell-30", eachCell, 30),
	rollingMaker("rolling-cell-100", eachCell, 100),
	rollingMaker("rolling-cell-1000", eachCell, 1000),
	binomialMaker("binomial-log", wholeLog),
	binomialMaker("binomial-queue", eachQueue),
	binomialMaker("binomial-cell", eachCell),
}

// blendCost is the Cost of whatever asks a blend.
const blendCost = 40

// chance returns random numbers with a fixed seed, so that runs can be repeated.
func chance() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }

func rollingMaker(name string, s scope, most int) Maker {
	return Maker{name, true, 1, func(Cluster) Method {
		return newBaseline(name, s, func() *rolling { return &rolling{most: most} })
	}}
}

func binomialMaker(name string, s scope) Maker {
	return Maker{name, true, 1, func(Cluster) Method {
		shared := make(bounds)
		return newBaseline(name, s, func() *binomial { return &binomial{bounds: shared} })
	}}
}

// Of returns a Method that predicts as a Forecaster forecasts.
func Of(f forecast.Forecaster) Method { return &adapter{Forecaster: f} }

// adapter makes a Method of a Forecaster.
type adapter struct {
	forecast.Forecaster
	answer forecast.Answer
}

// Predict implements [Method].
func (f *adapter) Predict(q *forecast.Question) (wait, lower score.Prediction) {
	if !f.Forecast(q, &f.answer) {
		return nil, nil
	}
	return &f.answer.Wait, &f.answer.Lower
}
