package replay

import (
	"math"
	"strconv"

	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/promise/checkpoint"
)

// Even is a Predictor for which all nodes fail at the same constant rate: the failures so far over
// the time so far.
type Even struct {
	nodes    float64
	start    int64
	failures float64
}

// NewEven returns the Predictor for a Log.
func NewEven(l Log) *Even { return &Even{nodes: float64(l.Nodes), start: l.Start} }

// Fail implements Predictor.
func (e *Even) Fail(int64, int) { e.failures++ }

// Hazard implements Predictor.
func (e *Even) Hazard(at int64, nodes []int) checkpoint.Hazard {
	return checkpoint.Constant(e.failures / e.nodes / float64(max(1, at-e.start)) * float64(len(nodes)))
}

// Model is a Predictor that forecasts as varqd does, by a fault.Model. Its forecasts are of the
// time of the last failure: requests for Hazards come in no order of time, and that no node has
// failed since is only known by the later ones.
type Model struct {
	model    *fault.Model
	nodes    []string
	at       int64           // of the last failure, or the start
	forecast *fault.Forecast // of that time, nil if it is to be made
}

// spans are the times for which risks are forecast, in seconds: those of varqd's own advice.
var spans = []float64{3600, 6 * 3600, day, 2 * day, 7 * day}

const day = 86400

// unknown is a node of which nothing is known.
const unknown = ""

// NewModel returns the Predictor for a Log.
func NewModel(l Log) *Model {
	m := &Model{at: l.Start}
	for node := range l.Nodes {
		m.nodes = append(m.nodes, strconv.Itoa(node))
	}
	m.model = fault.New(m.nodes, nil, l.Start)
	return m
}

// Fail implements Predictor.
func (m *Model) Fail(at int64, node int) {
	m.model.Observe(fault.Event{Node: m.nodes[node], At: at})
	m.at, m.forecast = at, nil
}

// Hazard implements Predictor.
func (m *Model) Hazard(at int64, nodes []int) checkpoint.Hazard {
	if m.forecast == nil {
		m.forecast = m.model.Forecast(m.nodes)
	}
	names := make([]string, len(nodes))
	for i, node := range nodes {
		names[i] = m.nodes[node]
	}
	// failures returns how many failures of nodes together are expected within a span from now on.
	failures := func(names []string, span float64) float64 {
		return -math.Log1p(-min(m.forecast.Prob(names, at-m.at, at-m.at+int64(span)), mostProb))
	}
	h, last := &checkpoint.Table{}, 0.
	for _, span := range spans {
		last = max(last, failures(names, span))
		h.Expected = append(h.Expected, checkpoint.Expected{Within: span, Failures: last})
	}
	h.LongRun = float64(len(nodes)) * m.forecast.Expected(unknown, day) / day
	return h
}

// mostProb is the largest probability with which nodes are taken to fail.
const mostProb = 1 - 1e-9
