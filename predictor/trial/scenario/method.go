package scenario

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/forest"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/workload"
)

// Method is a way to forecast the waits that VARQ's reservations are planned with.
type Method uint8

const (
	// QBETS is the method of VARQ 2007. It learns from the waits of the jobs that have
	// started only: it knows neither the jobs that wait now, nor whether jobs have
	// started lately.
	QBETS Method = iota
	// History is predictor.History, which blends the experts that need no simulation
	// of the queue.
	History
	// Blend is predictor.Standard, the method of varqd.
	Blend
)

var methodNames = []string{"qbets", "history", "blend"}

// String returns the name by which ParseReservations reads m.
func (m Method) String() string { return methodNames[m] }

func parseMethod(text string) (Method, error) {
	i := slices.Index(methodNames, text)
	if i < 0 {
		return 0, fmt.Errorf("%.40q is none of qbets, history and blend", text)
	}
	return Method(i), nil
}

// forecaster forecasts the waits of submissions, and observes what happens on the
// cluster.
type forecaster interface {
	trajectory.Forecaster
	forecast.Observer
	// Promise registers a promise or its new plan: the job is going to be submitted as
	// q says. holds says whether the present forecast still reaches the probability of
	// the promise.
	Promise(job int64, q *forecast.Question, deadline int64, holds bool)
}

// newForecaster returns a forecaster that has learnt nothing yet. Invariant: q knows of
// each event on the cluster before the forecaster observes it.
func (m Method) newForecaster(q *queue.Queue, b forest.Background, random *rand.Rand) forecaster {
	switch m {
	case History:
		return predictor.Trajectory{Predictor: predictor.History(predictor.Options{Background: b}, random)}
	case Blend:
		return predictor.Trajectory{Predictor: predictor.Standard(q, predictor.Options{Background: b}, random)}
	default:
		return startsOnly{qbets.New()}
	}
}

// startsOnly is QBETS as in VARQ 2007: it observes starts and ignores all other events.
type startsOnly struct{ *qbets.Predictor }

func (startsOnly) Submitted(*workload.Job)                        {}
func (startsOnly) Ended(*workload.Job)                            {}
func (startsOnly) Promise(int64, *forecast.Question, int64, bool) {}
