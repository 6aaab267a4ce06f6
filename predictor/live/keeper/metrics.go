package keeper

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/records"
	"github.com/varq-project/varq/predictor/promise/report"
)

// Metrics are the keeper's counts for Prometheus.
type Metrics struct {
	replans, revisions prometheus.Counter
	// verdicts counts the settled promises, by band and outcome. expected is the sum of the
	// promised probabilities of promises that were kept or missed, by band. corrected counts the
	// outcomes that accounting has changed, by the new outcome.
	verdicts, expected, corrected *prometheus.CounterVec
	// held and worked are the node-seconds for which nodes have idled before the work of jobs, and
	// for which they have worked.
	held, worked prometheus.Counter
}

// bands divide the probabilities that can be promised. Each begins at From and ends before the From
// of the next.
var bands = []struct {
	From float64
	Name string
}{{0, "0-0.5"}, {.5, "0.5-0.75"}, {.75, "0.75-0.9"}, {.9, "0.9-0.95"}, {.95, "0.95-0.99"}, {.99, "0.99-1"}}

// band returns the name of the band of a probability.
func band(prob float64) string {
	name := bands[0].Name
	for _, b := range bands {
		if prob >= b.From {
			name = b.Name
		}
	}
	return name
}

// NewMetrics makes the metrics and registers them. All bands and outcomes exist from the start, so
// that the first promise of a band counts as an increase.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		registry.MustRegister(c)
		return c
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		registry.MustRegister(c)
		return c
	}
	m := &Metrics{
		replans:   counter("varq_replans_total", "Times a pending reservation was planned again."),
		revisions: counter("varq_revisions_total", "Changes made to pending jobs."),
		verdicts: counters("varq_promises_settled_total",
			"Promises settled, by band of the probability promised and what became of them first. Members of groups are left out.", "band", "outcome"),
		expected: counters("varq_promises_expected_kept_total",
			"Sum of the probabilities promised of the promises kept or missed, by band: as many should have been kept.", "band"),
		corrected: counters("varq_promises_corrected_total", "Settled promises of which accounting has told another outcome later, by that outcome.", "outcome"),
		held:      counter("varq_held_node_seconds_total", "Node-seconds for which nodes idled before the work of settled reservations."),
		worked:    counter("varq_worked_node_seconds_total", "Node-seconds that the work of settled reservations took."),
	}
	outcomes := []string{api.StateKept, api.StateMissed, api.StateCancelled}
	for _, b := range bands {
		m.expected.WithLabelValues(b.Name)
		for _, outcome := range outcomes {
			m.verdicts.WithLabelValues(b.Name, strings.ToLower(outcome))
		}
	}
	for _, outcome := range outcomes {
		m.corrected.WithLabelValues(strings.ToLower(outcome))
	}
	return m
}

// settled counts a reservation that is settled now, and its costs.
func (m *Metrics) settled(e *ledger.Entry, s *ledger.Settlement) {
	r := e.Reservation
	r.State, r.Start, r.WorkStart, r.End, r.Evicted, r.Allocated = s.Outcome, s.Start, s.WorkStart, s.End, s.Evicted, s.Nodes
	r.HeldBefore, r.WorkedBefore = e.Progress.HeldBefore, e.Progress.WorkedBefore
	p := records.Promise(&r)
	if !p.Member {
		name := band(p.Prob)
		m.verdicts.WithLabelValues(name, strings.ToLower(s.Outcome)).Inc()
		if p.Outcome != report.Cancelled {
			m.expected.WithLabelValues(name).Add(p.Prob)
		}
	}
	required, used, _ := report.Charged(&p)
	m.worked.Add(required)
	m.held.Add(max(0, used-required))
}
