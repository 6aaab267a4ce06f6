package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/live/health"
)

// riskSpans are the times within which failures of a set of nodes are told, in seconds. Between
// those that the forecast has learnt it takes risks to grow evenly.
var riskSpans = []int64{3600, 6 * 3600, 86400, 2 * 86400, 7 * 86400}

// Risk implements server.Service. Who may not see the nodes may ask about those of her running
// jobs.
func (s service) Risk(_ context.Context, user string, names []string) (api.Risk, error) {
	d := s.daemon
	if err := d.premises.MaySeeNodes(user); err != nil {
		hers := d.nodesOf(user)
		if slices.ContainsFunc(names, func(name string) bool { return !hers[name] }) {
			if !errors.Is(err, api.ErrForbidden) {
				return api.Risk{}, err
			}
			return api.Risk{}, api.Fault(api.ErrForbidden, "only Slurm's operators may see nodes of which they have no running job (PrivateData=nodes or events in slurm.conf); those of a job that has just started are known within a minute")
		}
	}
	forecast, learnt := d.risks.Forecast()
	if forecast == nil {
		return api.Risk{}, errNodesUnread
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	nodes := make(map[string]bool, len(names))
	for _, name := range names {
		nodes[name] = true
	}
	r := api.Risk{At: d.nodesAt.Load(), Since: learnt.Since, Failures: learnt.Failures, Nodes: len(names), Maintenance: d.premises.Maintenance(nodes)}
	known := 0
	for _, n := range d.nodes.Nodes() {
		if !nodes[n.Node] {
			continue
		}
		known++
		nodes[n.Node] = false
		if (n.State == health.Draining || n.State == health.Failing) && (r.Drain == nil || n.Since > r.Drain.Since) {
			r.Drain = &api.Drain{Node: n.Node, Since: n.Since, Reason: n.Reason, By: n.By}
		}
	}
	if known < len(names) {
		unknown := slices.IndexFunc(names, func(name string) bool { return nodes[name] })
		return api.Risk{}, api.Fault(api.ErrNotFound, fmt.Sprintf("Slurm has no node %.100s", names[unknown]))
	}
	expected := func(names []string, span int64) float64 {
		return fault.Failures(forecast.Prob(names, 0, span))
	}
	last := 0.
	for _, span := range riskSpans {
		last = max(last, expected(names, span))
		r.Within = append(r.Within, api.ExpectedFailures{Within: span, Failures: last})
	}
	r.Rate = last / float64(riskSpans[len(riskSpans)-1])
	return r, nil
}
