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

// Method is a way to forecast waits, with which VARQ's reservations are planned.
type Method uint8

const (
	// QBETS is the method of VARQ 2007: it learns the waits of the jobs that have
	// started. It knows neither which jobs wait now, nor that no job has started
	// for a long time.
	QBETS Method = iota
	// History is predictor.History, which blends all that needs no simulation.
	History
	// Blend is predictor.Standard, the method of varqd.
	Blend
)

var methodNames = []string{"qbets", "history", "blend"}

// String returns the name that ParseReservations knows m by.
func (m Method) String() string { return methodNames[m] }

func parseMethod(text string) (Method, error) {
	i := slices.Index(methodNames, text)
	if i < 0 {
		return 0, fmt.Errorf("%.40q is none of qbets, history and blend", text)
	}
	return Method(i), nil
}

// forecaster forecasts submissions, and observes what happens on the cluster.
type forecaster interface {
	trajectory.Forecaster
	forecast.Observer
	// Promise registers a promise, or a change of it: the job is going to be
	// submitted as q says, and the promise holds or does not by the present
	// forecast.
	Promise(job int64, q *forecast.Question, deadline int64, holds bool)
}

// forecaster returns a forecaster that knows nothing yet. Invariant: whatever
// happens on the cluster is in q before the forecaster observes it.
func (m Method) forecaster(q *queue.Queue, b forest.Background, random *rand.Rand) forecaster {
	switch m {
	case History:
		return predictor.Trajectory{Predictor: predictor.History(predictor.Options{Background: b}, random)}
	case Blend:
		return predictor.Trajectory{Predictor: predictor.Standard(q, predictor.Options{Background: b}, random)}
	default:
		return startsOnly{qbets.New()}
	}
}

// startsOnly is QBETS as in VARQ 2007: of all that happens it observes starts.
type startsOnly struct{ *qbets.Predictor }

func (startsOnly) Submitted(*workload.Job)                        {}
func (startsOnly) Ended(*workload.Job)                            {}
func (startsOnly) Promise(int64, *forecast.Question, int64, bool) {}
