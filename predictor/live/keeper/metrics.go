package keeper

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the keeper's counts for Prometheus.
type Metrics struct {
	promises, refusals, replans, revisions prometheus.Counter
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		registry.MustRegister(c)
		return c
	}
	return &Metrics{
		promises:  counter("varq_promises_total", "Reservations promised."),
		refusals:  counter("varq_refusals_total", "Reservations refused."),
		replans:   counter("varq_replans_total", "Times a pending reservation was planned again."),
		revisions: counter("varq_revisions_total", "Changes made to pending jobs."),
	}
}
