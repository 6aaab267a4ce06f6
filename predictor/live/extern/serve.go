package extern

import (
	"context"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/live/extern/forecasterpb"
)

// Serve is the main function of a forecaster written in Go. It offers f to the varqd that has
// started this program, and returns when varqd no longer needs it. The version is for people,
// such as "lastwait 1.2". No two methods of f run at the same time. What the program writes
// to standard error goes to varqd's log at level debug.
func Serve(f forecast.Forecaster, version string) {
	serve(&server{describes: describes{version: version}, forecaster: f})
}

// FaultModel is a forecaster of failures.
type FaultModel interface {
	// Observe tells that something has happened to a node. Kinds are as in health.Kinds and
	// vitals.Kinds.
	Observe(e fault.Event)
	// Expected returns how many failures of each of these nodes are expected within a span from now
	// on, in seconds. A number below 0 says that it is not known.
	Expected(nodes []string, now, span int64) []float64
}

// ServeFaults is Serve for a forecaster of failures.
func ServeFaults(f FaultModel, version string) {
	serve(&faultServer{describes: describes{version: version}, model: f})
}

func serve(s forecasterpb.ForecasterServer) {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: handshake,
		Plugins:         plugin.PluginSet{service: &wire{server: s}},
		GRPCServer:      plugin.DefaultGRPCServer,
		Logger:          hclog.NewNullLogger(),
	})
}

// describes answers varqd's first call, and no other.
type describes struct {
	forecasterpb.UnimplementedForecasterServer
	version string
}

// Describe implements forecasterpb.ForecasterServer.
func (s *describes) Describe(context.Context, *forecasterpb.DescribeRequest) (*forecasterpb.DescribeResponse, error) {
	return &forecasterpb.DescribeResponse{Version: s.version}, nil
}

// server answers varqd's calls.
type server struct {
	describes
	mu         sync.Mutex
	forecaster forecast.Forecaster
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

// faultServer answers varqd's calls for a FaultModel.
type faultServer struct {
	describes
	mu    sync.Mutex
	model FaultModel
}

// Observe implements forecasterpb.ForecasterServer. It leaves out an event of an unknown kind,
// which comes from a newer varqd.
func (s *faultServer) Observe(_ context.Context, r *forecasterpb.ObserveRequest) (*forecasterpb.ObserveResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range r.GetEvents() {
		if node := e.GetNode(); node != nil {
			s.model.Observe(toHappened(node))
		}
	}
	return &forecasterpb.ObserveResponse{}, nil
}

// Fail implements forecasterpb.ForecasterServer.
func (s *faultServer) Fail(_ context.Context, r *forecasterpb.FailRequest) (*forecasterpb.FailResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &forecasterpb.FailResponse{Expected: s.model.Expected(r.GetNodes(), r.GetNow(), r.GetSpan())}, nil
}
