package extern

import (
	"context"
	"time"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/workload"
)

// DefaultTimeout is how long an answer may take.
const DefaultTimeout = 20 * time.Millisecond

// Forecaster is a forecast.Forecaster that runs as a program of its own. It has no answers
// while the program does not run or has not learnt the past.
//
// Forecast, Prepare and Health may be called at any time. The methods of forecast.Observer
// are called one after the other. Only Forecast and Prepare wait for the program, and no
// longer than Options.Timeout.
type Forecaster struct {
	supervisor[forecast.Observer]
	ahead ahead
}

// New returns a Forecaster whose program is not started yet.
func New(o Options[forecast.Observer]) *Forecaster {
	return &Forecaster{supervisor: newSupervisor(o, DefaultTimeout, func(s *sender) forecast.Observer { return s })}
}

// Name implements forecast.Forecaster.
func (f *Forecaster) Name() string { return f.Options.Name }

// Submitted implements forecast.Observer.
func (f *Forecaster) Submitted(j *workload.Job) { f.add(submitted(j)) }

// Started implements forecast.Observer.
func (f *Forecaster) Started(j *workload.Job) { f.add(started(j)) }

// Ended implements forecast.Observer.
func (f *Forecaster) Ended(j *workload.Job) { f.add(ended(j)) }

// Prepare implements forecast.Preparer. It asks at most maxQuestions of the questions, evenly
// spread, in one call. Forecast then answers all of them without another call: a question that was
// not asked gets a mixture of its neighbours' answers.
func (f *Forecaster) Prepare(questions []forecast.Question) {
	if len(questions) == 0 {
		return
	}
	questions = thin(questions, maxQuestions)
	replies := f.ask(questions)
	points := make([]point, len(questions))
	for i, q := range questions {
		points[i] = point{submit: q.Submit, limit: q.Limit}
		if replies != nil {
			points[i].reply = replies[i]
		}
	}
	f.ahead.keep(about(&questions[0]), points)
}

// Forecast implements forecast.Forecaster. It also reports false if the program does not
// answer in time, or if its answer is not valid.
func (f *Forecaster) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	r, ok := f.ahead.answer(q)
	if !ok {
		if replies := f.ask([]forecast.Question{*q}); replies != nil {
			r = replies[0]
		}
	}
	*a = r.Answer
	return r.known
}

// ask returns the program's answers, or nil if none come in time.
func (f *Forecaster) ask(questions []forecast.Question) (replies []reply) {
	f.call(func(ctx context.Context, p *process) (err error) {
		replies, err = p.forecast(ctx, questions)
		return err
	})
	return replies
}
