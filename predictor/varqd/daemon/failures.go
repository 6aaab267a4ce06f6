package daemon

import "github.com/varq-project/varq/predictor/live/health"

// keeperHealth is the keeper.Health of a daemon.
type keeperHealth struct {
	risks *health.Risks
	nodes *health.Monitor
}

// FailureProb implements desk.Health. Before the nodes have been read, no failures are expected.
func (h keeperHealth) FailureProb(nodes []string, from, to int64) float64 {
	forecast, _ := h.risks.Forecast()
	if forecast == nil {
		return 0
	}
	return forecast.Prob(nodes, from, to)
}

// Lost implements keeper.Health.
func (h keeperHealth) Lost(nodes []string) []string { return h.nodes.Lost(nodes) }
