package extern

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/extern/forecasterpb"
	"github.com/varq-project/varq/predictor/workload"
)

// DefaultTimeout is how long an answer may take.
const DefaultTimeout = 20 * time.Millisecond

const (
	// patience is how many questions in succession a program may fail to answer.
	patience = 3
	// longestPause bounds the pause before a program is started again, which doubles each
	// time. After a program has run for longestPause, the pause is the first one again.
	longestPause = 10 * time.Minute
)

// Options configure a Forecaster.
type Options struct {
	// Name is the forecaster's name, a word in lower case.
	Name string
	// Command starts the program. It is split at spaces and run without a shell,
	// as varqd's own user.
	Command string
	// Timeout bounds one call, which asks one question or those of a plan; 0 stands for
	// DefaultTimeout.
	Timeout time.Duration
	// Past replays to an observer all that is known of the past, in the order of time. It
	// is called each time after the program has started. The Forecaster observes what
	// happens at the same time, so the program may receive some events twice. An error is
	// logged, and the program does without what is missing. ctx ends when the program
	// does. If Past is nil there is no past.
	Past func(ctx context.Context, o forecast.Observer) error
	Log  *slog.Logger
}

// Forecaster is a forecast.Forecaster that runs as a program of its own. It has no answers
// while the program does not run or has not learnt the past.
//
// Forecast, Prepare and Health may be called at any time. The methods of forecast.Observer
// are called one after the other. Only Forecast and Prepare wait for the program, and no
// longer than Options.Timeout.
type Forecaster struct {
	Options
	pace pace

	process atomic.Pointer[process] // nil while there is none
	backlog *backlog
	ahead   ahead
	record  *record
}

// New returns a Forecaster whose program is not started yet.
func New(o Options) *Forecaster {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	o.Log = o.Log.With("forecaster", o.Name)
	return &Forecaster{Options: o, pace: usualPace, backlog: newBacklog(), record: newRecord(o.Name)}
}

// Run starts the program, and starts it again each time it has ended, until ctx is done.
// When Run returns, the program has ended.
func (f *Forecaster) Run(ctx context.Context) {
	for pause := f.pace.pause; ; pause = min(2*pause, longestPause) {
		begun := time.Now()
		err := f.live(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(begun) > longestPause {
			pause = f.pace.pause
		}
		f.Log.Warn("forecaster is left out", "error", err, "again_in", pause)
		f.record.out(err.Error())
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// live runs the program once, and returns why it ended.
func (f *Forecaster) live(ctx context.Context) error {
	p, err := start(ctx, f.Command, f.pace, f.Log)
	if err != nil {
		return err
	}
	defer p.kill()
	f.process.Store(p)
	defer f.process.Store(nil)
	f.backlog.reopen()
	defer f.backlog.close()
	sent, err := f.sendPast(p)
	if err != nil {
		return err
	}
	f.Log.Info("forecaster answers", "version", p.version, "events", sent)
	p.ready.Store(true)
	f.record.up(p.version)
	for {
		select {
		case <-p.ctx.Done():
			return context.Cause(p.ctx)
		case <-f.backlog.more:
			f.sendBacklog(p)
		}
	}
}

// sendPast sends the past to a program, and returns the number of events sent.
func (f *Forecaster) sendPast(p *process) (sent int, err error) {
	if f.Past == nil {
		return 0, nil
	}
	s := sender{process: p}
	err = f.Past(p.ctx, &s)
	s.flush()
	if p.ctx.Err() != nil {
		return 0, context.Cause(p.ctx)
	}
	if err != nil {
		f.Log.Warn("forecaster is told of a part of the past only", "error", err)
	}
	return s.sent, nil
}

// sendBacklog sends the backlog to a program. It gives the program up if that fails.
func (f *Forecaster) sendBacklog(p *process) {
	for events := f.backlog.next(); len(events) > 0; events = f.backlog.next() {
		if err := p.observe(events); err != nil {
			p.giveUp(err)
			return
		}
		f.backlog.sent()
	}
}

// sender is a forecast.Observer that sends events to a program in batches. It gives the
// program up if that fails.
type sender struct {
	process *process
	events  []*forecasterpb.Event
	sent    int
}

func (s *sender) Submitted(j *workload.Job) { s.add(submitted(j)) }
func (s *sender) Started(j *workload.Job)   { s.add(started(j)) }
func (s *sender) Ended(j *workload.Job)     { s.add(ended(j)) }

func (s *sender) add(e *forecasterpb.Event) {
	s.events = append(s.events, e)
	if len(s.events) == maxBatch {
		s.flush()
	}
}

func (s *sender) flush() {
	if len(s.events) > 0 && s.process.ctx.Err() == nil {
		if err := s.process.observe(s.events); err != nil {
			s.process.giveUp(err)
		}
	}
	s.sent += len(s.events)
	s.events = s.events[:0]
}

// Name implements forecast.Forecaster.
func (f *Forecaster) Name() string { return f.Options.Name }

// Submitted implements forecast.Observer.
func (f *Forecaster) Submitted(j *workload.Job) { f.add(submitted(j)) }

// Started implements forecast.Observer.
func (f *Forecaster) Started(j *workload.Job) { f.add(started(j)) }

// Ended implements forecast.Observer.
func (f *Forecaster) Ended(j *workload.Job) { f.add(ended(j)) }

// add puts an event into the backlog. A program that falls behind by more than maxBacklog is
// restarted, because it learns the past faster.
func (f *Forecaster) add(e *forecasterpb.Event) {
	if !f.backlog.add(e) {
		f.restart(fmt.Errorf("it has fallen behind by %d events", maxBacklog))
	}
}

// Relearn restarts the program, which then receives the past again. It is called when the
// past holds more than the Forecaster has observed.
func (f *Forecaster) Relearn() { f.restart(errors.New("it is to be told the past again")) }

// restart stops the program, which Run starts again.
func (f *Forecaster) restart(why error) {
	f.backlog.close()
	if p := f.process.Load(); p != nil {
		p.stop(why)
	}
}

// Prepare asks the questions of a plan ahead, in one call. They differ only in Submit and
// Limit. Prepare asks at most maxQuestions of them, evenly spread. Forecast then answers all
// of them without another call: a question that was not asked gets a mixture of its
// neighbours' answers.
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

// ask returns the program's answers, or nil if none come in time. It asks only after the
// program has received all earlier events.
func (f *Forecaster) ask(questions []forecast.Question) []reply {
	p := f.process.Load()
	if p == nil || !p.ready.Load() {
		return nil
	}
	ctx, done := context.WithTimeout(p.ctx, f.Timeout)
	defer done()
	if !f.backlog.wait(ctx) || !p.take(ctx) {
		if p.ctx.Err() == nil {
			f.record.failed(Busy)
		}
		return nil
	}
	defer p.give()
	replies, err := p.forecast(ctx, questions)
	if err == nil {
		f.record.answered()
		return replies
	}
	if p.ctx.Err() != nil {
		return nil // the program has been given up
	}
	first, inRow := f.record.failed(kind(err))
	if first {
		f.Log.Warn("forecaster is left out of an answer", "error", f.describe(err))
	}
	if inRow >= patience {
		p.stop(p.explained(fmt.Errorf("%d failures in succession, the last: %w", inRow, f.describe(err))))
	}
	return nil
}

// describe returns the error of a failed call in one line for people.
func (f *Forecaster) describe(err error) error {
	switch {
	case kind(err) == Late:
		return fmt.Errorf("no answer within %v", f.Timeout)
	case errors.Is(err, errNonsense):
		return err
	}
	return fmt.Errorf("%s: %s", kind(err), printable(status.Convert(err).Message()))
}

// kind returns the way in which a call has failed.
func kind(err error) Failure {
	switch {
	case errors.Is(err, errNonsense), status.Code(err) == codes.ResourceExhausted, status.Code(err) == codes.Internal:
		return Nonsense
	case status.Code(err) == codes.DeadlineExceeded:
		return Late
	}
	return Failed
}
