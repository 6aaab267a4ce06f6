package scenario

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/queue"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/qbets"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/workload"
)

// Forecaster is what VARQ's reservations are planned with.
type Forecaster uint8

const (
	// QBETS knows the waits of the jobs that have started and nothing else, as in
	// VARQ 2007: neither which jobs wait, nor that none has started for long.
	QBETS Forecaster = iota
	// History is forecast.History: whatever can be known without simulations.
	History
	// Blend is forecast.Standard, which varqd forecasts with.
	Blend
)

var forecasterNames = []string{"qbets", "history", "blend"}

// String returns the name that ParseReservations knows f by.
func (f Forecaster) String() string { return forecasterNames[f] }

func parseForecaster(text string) (Forecaster, error) {
	i := slices.Index(forecasterNames, text)
	if i < 0 {
		return 0, fmt.Errorf("%.40q is none of qbets, history and blend", text)
	}
	return Forecaster(i), nil
}

// oracle forecasts submissions, and is told what happens.
type oracle interface {
	trajectory.Forecaster
	forecast.Observer
	// Promise tells that a job was promised a start because of the answer to q, or
	// that it is to be submitted as q says and whether its promise still holds.
	Promise(job int64, q *forecast.Question, deadline int64, holds bool)
}

// oracle returns f in a cluster with this queue, which knows all before f does.
func (f Forecaster) oracle(q *queue.Queue, random *rand.Rand) oracle {
	switch f {
	case History:
		return forecast.Trajectory{Predictor: forecast.History(random)}
	case Blend:
		return forecast.Trajectory{Predictor: forecast.Standard(q, twin.Options{}, random)}
	default:
		return plain{qbets.New(qbets.Options{})}
	}
}

// plain is a predictor that is told of nothing but starts.
type plain struct{ *qbets.Predictor }

func (plain) Submitted(*workload.Job)                        {}
func (plain) Ended(*workload.Job)                            {}
func (plain) Promise(int64, *forecast.Question, int64, bool) {}
