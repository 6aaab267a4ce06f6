package extern

import (
	"context"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/live/extern/forecasterpb"
)

// Serve is the main function of a forecaster written in Go. It offers f to the varqd that has
// started this program, and returns when varqd no longer needs it. The version is for people,
// such as "lastwait 1.2". No two methods of f run at the same time. What the program writes
// to standard error goes to varqd's log at level debug.
func Serve(f forecast.Forecaster, version string) {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: handshake,
		Plugins:         plugin.PluginSet{service: &wire{server: &server{forecaster: f, version: version}}},
		GRPCServer:      plugin.DefaultGRPCServer,
		Logger:          hclog.NewNullLogger(),
	})
}

// server answers varqd's calls.
type server struct {
	forecasterpb.UnimplementedForecasterServer
	version string

	mu         sync.Mutex
	forecaster forecast.Forecaster
}

// Describe implements forecasterpb.ForecasterServer.
func (s *server) Describe(context.Context, *forecasterpb.DescribeRequest) (*forecasterpb.DescribeResponse, error) {
	return &forecasterpb.DescribeResponse{Version: s.version}, nil
}

// Observe implements forecasterpb.ForecasterServer.
func (s *server) Observe(_ context.Context, r *forecasterpb.ObserveRequest) (*forecasterpb.ObserveResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range r.GetEvents() {
		observe(s.forecaster, e)
	}
	return &forecasterpb.ObserveResponse{}, nil
}

// Forecast implements forecasterpb.ForecasterServer.
func (s *server) Forecast(_ context.Context, r *forecasterpb.ForecastRequest) (*forecasterpb.ForecastResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	response := &forecasterpb.ForecastResponse{}
	for _, asked := range r.GetQuestions() {
		q, answer := toQuestion(asked), &forecasterpb.Answer{}
		var a forecast.Answer
		if s.forecaster.Forecast(&q, &a) {
			answer.Seconds, answer.Probability = grid, a.Wait[:]
			answer.Sample, answer.Class = a.Sample, a.Class
		}
		response.Answers = append(response.Answers, answer)
	}
	return response, nil
}
