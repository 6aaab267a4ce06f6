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

// Method is one way of forecasting, as it is scored. It is told of what happens,
// and keeps none of the jobs.
type Method interface {
	forecast.Observer
	// Name is a word in lower case, different for each Method.
	Name() string
	// Predict answers a question. Wait is nil when it does not. Lower has lower bounds
	// on the probabilities; it is nil when there are none, and may be wait itself. They
	// are comparable, and hold until the Method is told or asked the next thing.
	Predict(q *forecast.Question) (wait, lower score.Prediction)
}

// Cluster is what a Method may know of a cluster before anything happens.
type Cluster struct {
	// Queue is the jobs that wait and run, at any moment. A Method looks at it, and
	// changes nothing.
	Queue *queue.Queue
	// Procs is the number of processors, Nodes that of nodes.
	Procs, Nodes int32
	// Background is that of forecast.Options.
	Background func(task func())
}

// Maker makes a Method.
type Maker struct {
	Name string
	// Baseline says that it is there for others to be held against.
	Baseline bool
	New      func(Cluster) Method
}

// Methods are all there are, the baselines last.
var Methods = []Maker{
	{Name: "blend", New: func(c Cluster) Method {
		return Of(predictor.Standard(c.Queue, predictor.Options{Background: c.Background}, chance()).Present())
	}},
	{Name: "history", New: func(c Cluster) Method {
		return Of(predictor.History(predictor.Options{Background: c.Background}, chance()).Present())
	}},
	{Name: "twin", New: func(c Cluster) Method { return Of(montecarlo.New(c.Queue, 20, chance())) }},
	{Name: "downey", New: func(c Cluster) Method { return Of(expert.NewDowney(c.Queue)) }},
	{Name: "qbets", New: func(Cluster) Method { return newQBETS() }},
	rollingMaker("rolling-log", wholeLog),
	rollingMaker("rolling-queue", eachQueue),
	rollingMaker("rolling-cell", eachCell),
	binomialMaker("binomial-log", wholeLog),
	binomialMaker("binomial-queue", eachQueue),
	binomialMaker("binomial-cell", eachCell),
}

// chance is the same for each method and log, so that runs can be repeated.
func chance() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }

func rollingMaker(name string, s scope) Maker {
	return Maker{name, true, func(Cluster) Method { return newBaseline(name, s, newRolling) }}
}

func binomialMaker(name string, s scope) Maker {
	return Maker{name, true, func(Cluster) Method {
		shared := make(bounds)
		return newBaseline(name, s, func() *binomial { return &binomial{bounds: shared} })
	}}
}

// Of scores a Forecaster.
func Of(f forecast.Forecaster) Method { return &forecaster{Forecaster: f} }

// forecaster is a Forecaster with room for its answer.
type forecaster struct {
	forecast.Forecaster
	answer forecast.Answer
}

// Predict implements [Method].
func (f *forecaster) Predict(q *forecast.Question) (wait, lower score.Prediction) {
	if !f.Forecast(q, &f.answer) {
		return nil, nil
	}
	return &f.answer.Wait, &f.answer.Lower
}
