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

	"github.com/varq-project/varq/predictor/live/extern/forecasterpb"
	"github.com/varq-project/varq/predictor/workload"
)

const (
	// patience is how many questions in succession a program may fail to answer.
	patience = 3
	// longestPause bounds the pause before a program is started again, which doubles each
	// time. After a program has run for longestPause, the pause is the first one again.
	longestPause = 10 * time.Minute
)

// Options configure a forecaster. To is what is told of events.
type Options[To any] struct {
	// Name is the forecaster's name, a word in lower case.
	Name string
	// Command starts the program. It is split at spaces and run without a shell,
	// as varqd's own user.
	Command string
	// Timeout bounds one call, which asks one question, those of a plan, or about some nodes; 0
	// stands for a default.
	Timeout time.Duration
	// Past replays all that is known of the past, in the order of time. It
	// is called each time after the program has started. The forecaster observes what
	// happens at the same time, so the program may receive some events twice. An error is
	// logged, and the program does without what is missing. ctx ends when the program
	// does. If Past is nil there is no past.
	Past func(ctx context.Context, to To) error
	Log  *slog.Logger
}

// supervisor runs the program of a forecaster, and keeps it told of what happens.
type supervisor[To any] struct {
	Options[To]
	tell func(*sender) To // tells a program
	pace pace

	process atomic.Pointer[process] // nil while there is none
	backlog *backlog
	record  *record
}

func newSupervisor[To any](o Options[To], timeout time.Duration, tell func(*sender) To) supervisor[To] {
	if o.Timeout == 0 {
		o.Timeout = timeout
	}
	o.Log = o.Log.With("forecaster", o.Name)
	return supervisor[To]{Options: o, tell: tell, pace: usualPace, backlog: newBacklog(), record: newRecord(o.Name)}
}

// Run starts the program, and starts it again each time it has ended, until ctx is done.
// When Run returns, the program has ended.
func (s *supervisor[To]) Run(ctx context.Context) {
	for pause := s.pace.pause; ; pause = min(2*pause, longestPause) {
		begun := time.Now()
		err := s.live(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(begun) > longestPause {
			pause = s.pace.pause
		}
		s.Log.Warn("forecaster is left out", "error", err, "again_in", pause)
		s.record.out(err.Error())
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// live runs the program once, and returns why it ended.
func (s *supervisor[To]) live(ctx context.Context) error {
	p, err := start(ctx, s.Command, s.pace, s.Log)
	if err != nil {
		return err
	}
	defer p.kill()
	s.process.Store(p)
	defer s.process.Store(nil)
	s.backlog.reopen()
	defer s.backlog.close()
	sent, err := s.sendPast(p)
	if err != nil {
		return err
	}
	s.Log.Info("forecaster answers", "version", p.version, "events", sent)
	p.ready.Store(true)
	s.record.up(p.version)
	for {
		select {
		case <-p.ctx.Done():
			return context.Cause(p.ctx)
		case <-s.backlog.more:
			s.sendBacklog(p)
		}
	}
}

// sendPast sends the past to a program, and returns the number of events sent.
func (s *supervisor[To]) sendPast(p *process) (sent int, err error) {
	if s.Past == nil {
		return 0, nil
	}
	to := sender{process: p}
	err = s.Past(p.ctx, s.tell(&to))
	to.flush()
	if p.ctx.Err() != nil {
		return 0, context.Cause(p.ctx)
	}
	if err != nil {
		s.Log.Warn("forecaster is told of a part of the past only", "error", err)
	}
	return to.sent, nil
}

// sendBacklog sends the backlog to a program. It gives the program up if that fails.
func (s *supervisor[To]) sendBacklog(p *process) {
	for events := s.backlog.next(); len(events) > 0; events = s.backlog.next() {
		if err := p.observe(events); err != nil {
			p.giveUp(err)
			return
		}
		s.backlog.sent()
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

// add puts an event into the backlog. A program that falls behind by more than maxBacklog is
// restarted, because it learns the past faster.
func (s *supervisor[To]) add(e *forecasterpb.Event) {
	if !s.backlog.add(e) {
		s.restart(fmt.Errorf("it has fallen behind by %d events", maxBacklog))
	}
}

// Relearn implements forecast.Relearner. It restarts the program, which then receives the past
// again.
func (s *supervisor[To]) Relearn() { s.restart(errors.New("it is to be told the past again")) }

// restart stops the program, which Run starts again.
func (s *supervisor[To]) restart(why error) {
	s.backlog.close()
	if p := s.process.Load(); p != nil {
		p.stop(why)
	}
}

// call calls a program, and reports whether it has answered in time. It does so only after the
// program has received all earlier events.
func (s *supervisor[To]) call(ask func(ctx context.Context, p *process) error) bool {
	p := s.process.Load()
	if p == nil || !p.ready.Load() {
		return false
	}
	ctx, done := context.WithTimeout(p.ctx, s.Timeout)
	defer done()
	if !s.backlog.wait(ctx) || !p.take(ctx) {
		if p.ctx.Err() == nil {
			s.record.failed(Busy)
		}
		return false
	}
	defer p.give()
	err := ask(ctx, p)
	if err == nil {
		s.record.answered()
		return true
	}
	if p.ctx.Err() != nil {
		return false // the program has been given up
	}
	first, inRow := s.record.failed(kind(err))
	if first {
		s.Log.Warn("forecaster is left out of an answer", "error", s.describe(err))
	}
	if inRow >= patience {
		p.stop(p.explained(fmt.Errorf("%d failures in succession, the last: %w", inRow, s.describe(err))))
	}
	return false
}

// describe returns the error of a failed call in one line for people.
func (s *supervisor[To]) describe(err error) error {
	switch {
	case kind(err) == Late:
		return fmt.Errorf("no answer within %v", s.Timeout)
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
