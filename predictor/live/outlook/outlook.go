// Package outlook answers questions about waits: how long a job would wait, how likely it starts in
// time, and what each forecaster says. The answers come from a Model. Package ingest feeds the
// Model, and replaces it by a new one after a gap in its observations. Times are Unix seconds.
//
// The odds of promises compare how many promises were missed with how many misses the forecasts
// predicted. Past jobs do not show the odds. So the odds pass from a Model to the next, and varqd
// stores them across restarts.
package outlook

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/predictor"
	"github.com/varq-project/varq/predictor/workload"
)

// Options configure an Outlook.
type Options struct {
	// SiteForecasters are a site's own forecasters, which are blended with the standard
	// ones. They learn the past by themselves, and observe only what happens while a
	// Model serves. A forecast.Preparer is told of the questions of a plan ahead, and a
	// forecast.Relearner that a new Model replaces an old one.
	SiteForecasters []forecast.Forecaster
	// Confidence is the level of lower bounds on probabilities.
	Confidence float64
	// OldOdds are the odds of promises that an earlier Outlook returned last, or nil.
	OldOdds []forecast.Odds
	Now     func() int64
}

// Outlook answers questions. Its methods may be called at any time, also while a Model
// learns. Before the first Model serves, nothing is known.
type Outlook struct {
	Options
	model atomic.Pointer[Model] // the one that serves, or nil
}

// New returns an Outlook without a Model.
func New(o Options) *Outlook { return &Outlook{Options: o} }

// Forecast implements trajectory.Forecaster.
func (o *Outlook) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	m := o.model.Load()
	if m == nil {
		clear(est)
		return
	}
	o.prepare(&r, now, c)
	m.mu.RLock()
	defer m.mu.RUnlock()
	m.sets.setLine(&r)
	predictor.Trajectory{Predictor: m.predictor}.Forecast(r, now, c, est)
	known := m.known(&r)
	for i := range est {
		est[i].Sample = min(est[i].Sample, known)
	}
	if why := m.unknown(&r); why != "" {
		forget(est, why)
	}
}

// prepare passes the questions about all candidates of a plan to each of the site's
// forecasters that is a Preparer.
func (o *Outlook) prepare(r *workload.Request, now int64, c []workload.Candidate) {
	var questions []forecast.Question
	for _, f := range o.SiteForecasters {
		f, ok := f.(forecast.Preparer)
		if !ok || len(c) < 2 {
			continue
		}
		if questions == nil {
			questions = make([]forecast.Question, len(c))
			for i := range c {
				questions[i] = forecast.Question{Request: *r, Now: now, Submit: max(now, c[i].Submit), Job: c[i].Job}
				questions[i].Limit = c[i].Limit
			}
			questions = slices.Compact(questions) // candidates with other budgets are asked about once
		}
		f.Prepare(questions)
	}
}

// Predict forecasts how long a job like r would wait if it were submitted now. If job is not 0,
// that job waits already, and would be submitted anew as r. Predict reports false when it has no
// answer; a.Down then says why, as far as that is known.
func (o *Outlook) Predict(r workload.Request, job int64) (a forecast.Answer, ok bool) {
	m := o.model.Load()
	if m == nil {
		return a, false
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	now := o.Now()
	m.sets.setLine(&r)
	ok = m.predictor.Forecast(&forecast.Question{Request: r, Now: now, Submit: now, Job: job}, &a)
	a.Sample = min(a.Sample, float64(m.known(&r)))
	if why := m.unknown(&r); why != "" {
		return forecast.Answer{Evidence: forecast.Evidence{Down: cmp.Or(a.Down, why)}}, false
	}
	return a, ok
}

// Gather tells the Outlook that many jobs which wait are asked about by Wait at a time. Their
// answers then cost little more than one of them, as long as the queue stays as it is.
func (o *Outlook) Gather(now int64) {
	m := o.model.Load()
	if m == nil {
		return
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	m.predictor.Gather(now)
}

// Downey is Predict by Downey's predictors with their bias corrected. Its answers have no Lower
// bounds.
func (o *Outlook) Downey(r workload.Request) (a forecast.Answer, ok bool) {
	m := o.model.Load()
	if m == nil {
		return a, false
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	now := o.Now()
	m.sets.setLine(&r)
	q := &forecast.Question{Request: r, Now: now, Submit: now}
	m.predictor.Forecast(q, &a)
	if why := cmp.Or(a.Down, m.unknown(&r)); why != "" {
		return forecast.Answer{Evidence: forecast.Evidence{Down: why}}, false
	}
	ok = m.downey.Forecast(q, &a)
	return a, ok
}

// Promise records that a job with request r is promised a start by a deadline, because of the
// forecast for a job that becomes eligible at begin. Holds is false if the job is moved to begin
// although its promise no longer holds. A call counts only before begin, and only if it is the
// first for the job and that begin time. Of an array, job is its number, and r what so many of its
// tasks need together, of which the last is to start by the deadline; tasks is 0 for a job that is
// no array.
func (o *Outlook) Promise(job int64, tasks int32, r workload.Request, begin, deadline int64, holds bool) {
	m, now := o.model.Load(), o.Now()
	if m == nil || begin < now {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sets.setLine(&r)
	m.predictor.Promise(job, &forecast.Question{Request: r, Now: now, Submit: begin, Job: job, Tasks: tasks}, deadline, holds)
}

// Odds returns what has become of promises, as Predictor.Odds does, or nil before the first Model
// serves.
func (o *Outlook) Odds() []forecast.Odds {
	m := o.model.Load()
	if m == nil {
		return nil
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.predictor.Odds()
}

// Queue returns how many jobs wait and how many jobs run, as far as the Model knows. Each
// task of an array counts.
func (o *Outlook) Queue() (waiting, running int) {
	m := o.model.Load()
	if m == nil {
		return 0, 0
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.queue.Count()
}

// Jobs yields the jobs that wait and those that run, as far as the Model knows. The Start of one
// that waits is 0. The jobs must not be changed. What happens while they are yielded does not
// change them either.
func (o *Outlook) Jobs(yield func(*workload.Job) bool) {
	m := o.model.Load()
	if m == nil {
		return
	}
	jobs := m.list()
	for i := range jobs {
		if !yield(&jobs[i]) {
			return
		}
	}
}

// StartsObserved returns how many starts the Model has observed, and the time of the
// latest one.
func (o *Outlook) StartsObserved() (starts int, newest int64) {
	m := o.model.Load()
	if m == nil {
		return 0, 0
	}
	return int(m.starts.Load()), m.newest.Load()
}

// Ask asks the blend, then each of its forecasters alone, and then the forecaster of the job's end.
// It returns the names of those that have an answer, and the answers.
func (o *Outlook) Ask(q *forecast.Question) (names []string, answers []forecast.Answer) {
	m := o.model.Load()
	if m == nil {
		return nil, nil
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	q = m.inLine(q)
	var a forecast.Answer
	for _, f := range slices.Concat([]forecast.Forecaster{m.predictor}, m.predictor.Experts(), []forecast.Forecaster{m.ends}) {
		if f.Forecast(q, &a) {
			names, answers = append(names, f.Name()), append(answers, a)
		}
	}
	return names, answers
}
