package extern

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/extern/forecasterpb"
)

// pace is how long a program may take, and how long varqd pauses.
type pace struct {
	start time.Duration // until it has described itself
	learn time.Duration // to learn one batch of events
	pause time.Duration // until it is started again for the first time
	end   time.Duration // to end by itself, with its pipes closed
	gone  time.Duration // until it and all it has started are gone, once killed
}

var usualPace = pace{
	start: 10 * time.Second, learn: 30 * time.Second, pause: time.Second, end: 100 * time.Millisecond, gone: 5 * time.Second,
}

const (
	// maxAnswer bounds a program's response, in bytes. It has room for maxQuestions times
	// maxPoints points of 16 bytes.
	maxAnswer = 4 << 20
	// maxQuestions is how many questions are asked in one call.
	maxQuestions = 128
)

// process is one run of a forecaster's program, from its start to its end.
type process struct {
	program *program
	client  *plugin.Client
	words   *lastWords
	model   forecasterpb.ForecasterClient
	version string // as the program reports it
	pace    pace
	turn    chan struct{} // holds one while a call is made
	ready   atomic.Bool   // the program knows the past

	// ctx ends when the program ends, or when stop gives the program up. Its cause says why.
	ctx  context.Context
	stop context.CancelCauseFunc
}

// start starts a command, and returns after the program has described itself.
func start(ctx context.Context, command string, pace pace, log *slog.Logger) (*process, error) {
	p := &process{program: newProgram(command), words: &lastWords{log: log}, pace: pace, turn: make(chan struct{}, 1)}
	p.client = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  handshake,
		Plugins:          plugin.PluginSet{service: &wire{}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		RunnerFunc:       p.program.prepare,
		SkipHostEnv:      true,
		StartTimeout:     2 * pace.start, // starting, below, ends first
		Logger:           hclog.NewNullLogger(),
		Stderr:           p.words,
		SyncStderr:       p.words,
	})
	p.ctx, p.stop = context.WithCancelCause(ctx)
	starting, done := context.WithTimeoutCause(p.ctx, pace.start, fmt.Errorf("it has not started within %v", pace.start))
	defer done()
	connected := make(chan error, 1)
	go func() { connected <- p.connect(starting) }()
	var err error
	select {
	case err = <-connected:
	case <-starting.Done():
		err = context.Cause(starting)
	}
	if err != nil {
		if p.program.endedItself(pace.end) {
			err = p.end()
		}
		p.kill()
		return nil, p.explained(err)
	}
	go func() {
		<-p.program.exited
		p.stop(p.explained(p.end()))
	}()
	return p, nil
}

// end returns how the program has ended.
func (p *process) end() error {
	if p.program.state == nil {
		return errors.New("it ended: exit status 0")
	}
	return fmt.Errorf("it ended: %w", p.program.state)
}

// explained adds what the program wrote last to an error.
func (p *process) explained(err error) error {
	words := p.words.String()
	if words == "" {
		return errors.New(printable(err.Error()))
	}
	return fmt.Errorf("%s; it wrote: %s", printable(err.Error()), words)
}

func (p *process) connect(ctx context.Context) error {
	protocol, err := p.client.Client()
	if err != nil {
		return err
	}
	model, err := protocol.Dispense(service)
	if err != nil {
		return err
	}
	p.model = model.(forecasterpb.ForecasterClient)
	d, err := p.model.Describe(ctx, &forecasterpb.DescribeRequest{}, grpc.MaxCallRecvMsgSize(maxAnswer))
	if err != nil {
		return fmt.Errorf("it does not describe itself: %s", status.Convert(err).Message())
	}
	if err := checkName(d.GetVersion()); err != nil {
		return fmt.Errorf("its version: %w", err)
	}
	p.version = d.GetVersion()
	return nil
}

// kill kills the program and all it has started. It gives no warning, as a program that hangs
// would not heed one.
func (p *process) kill() {
	p.stop(context.Canceled)
	_ = p.program.Kill(context.Background()) // it is gone, or will not go
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		p.client.Kill() // closes the connection and removes the socket
	}()
	select {
	case <-gone:
	case <-time.After(p.pace.gone): // something else holds its pipes open
	}
}

// giveUp stops the process after a call has failed with err. If the program ends within
// pace.end, its end is the cause. Otherwise err is.
func (p *process) giveUp(err error) {
	select {
	case <-p.ctx.Done():
	case <-time.After(p.pace.end):
		p.stop(p.explained(err))
	}
}

// take waits for the turn to make a call. A call of give must follow. It reports false if ctx
// is done first.
func (p *process) take(ctx context.Context) bool {
	select {
	case p.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p *process) give() { <-p.turn }

// observe sends events.
func (p *process) observe(events []*forecasterpb.Event) error {
	ctx, done := context.WithTimeout(p.ctx, p.pace.learn)
	defer done()
	if !p.take(ctx) {
		return context.Cause(p.ctx)
	}
	defer p.give()
	_, err := p.model.Observe(ctx, &forecasterpb.ObserveRequest{Events: events}, grpc.MaxCallRecvMsgSize(maxAnswer))
	if err != nil {
		return fmt.Errorf("told of %d events: %w", len(events), err)
	}
	return nil
}

// forecast asks at most maxQuestions questions. The caller has taken the turn.
func (p *process) forecast(ctx context.Context, questions []forecast.Question) ([]reply, error) {
	request := &forecasterpb.ForecastRequest{Questions: make([]*forecasterpb.Question, len(questions))}
	for i := range questions {
		request.Questions[i] = fromQuestion(&questions[i])
	}
	response, err := p.model.Forecast(ctx, request, grpc.MaxCallRecvMsgSize(maxAnswer))
	if err != nil {
		return nil, err
	}
	return toReplies(len(questions), response.GetAnswers())
}
