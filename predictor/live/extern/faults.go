package extern

import (
	"context"
	"math"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/live/extern/forecasterpb"
)

// DefaultFaultTimeout is how long an answer about failures may take. No plan waits for it.
const DefaultFaultTimeout = time.Second

const (
	// maxNodes is how many nodes are asked about in one call.
	maxNodes = 10_000
	// mostExpected is the most failures of a node that may be expected.
	mostExpected = 1000
	// failureName is what a program is told that a failure is.
	failureName = "failure"
)

// Faults is a forecaster of failures that runs as a program of its own. It has no answers while the
// program does not run or has not learnt the past. Its methods may be called as those of
// Forecaster.
type Faults struct {
	supervisor[func(fault.Event)]
}

// NewFaults returns a Faults whose program is not started yet.
func NewFaults(o Options[func(fault.Event)]) *Faults {
	return &Faults{newSupervisor(o, DefaultFaultTimeout, func(s *sender) func(fault.Event) {
		return func(e fault.Event) { s.add(happened(&e)) }
	})}
}

// Name returns the forecaster's name.
func (f *Faults) Name() string { return f.Options.Name }

// Observe tells that something has happened to a node.
func (f *Faults) Observe(e fault.Event) { f.add(happened(&e)) }

// Expected returns how many failures of each of these nodes the program expects within a span from
// now, in seconds. A node of which it does not know is missing, as all are if it does not answer in
// time, or answers what makes no sense.
func (f *Faults) Expected(nodes []string, now, span int64) map[string]float64 {
	known := map[string]float64{}
	for some := range slices.Chunk(nodes, maxNodes) {
		f.call(func(ctx context.Context, p *process) error {
			expected, err := p.fail(ctx, some, now, span)
			for i, e := range expected {
				if e >= 0 {
					known[some[i]] = e
				}
			}
			return err
		})
	}
	return known
}

// fail asks about at most maxNodes nodes. The answer is empty if the program knows nothing. The
// caller has taken the turn.
func (p *process) fail(ctx context.Context, nodes []string, now, span int64) ([]float64, error) {
	request := &forecasterpb.FailRequest{Now: now, Span: span}
	for _, node := range nodes {
		request.Nodes = append(request.Nodes, text(node))
	}
	response, err := p.model.Fail(ctx, request, grpc.MaxCallRecvMsgSize(maxAnswer))
	if err != nil {
		return nil, err
	}
	expected := response.GetExpected()
	if len(expected) != 0 && len(expected) != len(nodes) {
		return nil, nonsense("%d answers about %d nodes", len(expected), len(nodes))
	}
	for i, e := range expected {
		if !(e <= mostExpected) || math.IsInf(e, -1) {
			return nil, nonsense("node %d: %v failures", i, e)
		}
	}
	return expected, nil
}

func happened(e *fault.Event) *forecasterpb.Event {
	kind := e.Kind
	if kind == fault.Failure {
		kind = failureName
	}
	return &forecasterpb.Event{Event: &forecasterpb.Event_Node{Node: &forecasterpb.NodeEvent{Node: text(e.Node), Kind: text(kind), At: e.At}}}
}

func toHappened(e *forecasterpb.NodeEvent) fault.Event {
	event := fault.Event{Node: e.GetNode(), Kind: e.GetKind(), At: e.GetAt()}
	if event.Kind == failureName {
		event.Kind = fault.Failure
	}
	return event
}
