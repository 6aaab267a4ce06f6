package daemon

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
)

// register registers the metrics of the daemon as a whole.
func (d *Daemon) register(registry *prometheus.Registry) {
	d.errors = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "varq_slurm_errors_total", Help: "Failures of varqd's loops, by part.",
	}, []string{"what"})
	registry.MustRegister(
		d.errors,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		outcomes{d.ledger, d.log},
		d.sites,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "varq_history_jobs", Help: "Past jobs learnt from."}, func() float64 {
			jobs, _ := d.outlook.StartsObserved()
			return float64(jobs)
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "varq_history_newest_seconds", Help: "Unix time of the latest start learnt."}, func() float64 {
			_, newest := d.outlook.StartsObserved()
			return float64(newest)
		}),
	)
}

// outcomes counts the reservations in the ledger by state.
type outcomes struct {
	ledger *ledger.Ledger
	log    *slog.Logger
}

var outcomesDesc = prometheus.NewDesc("varq_reservations", "Reservations in the ledger, by state.", []string{"state"}, nil)

// Describe implements prometheus.Collector.
func (outcomes) Describe(ch chan<- *prometheus.Desc) { ch <- outcomesDesc }

// Collect implements prometheus.Collector.
func (o outcomes) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	counts, err := o.ledger.Outcomes(ctx)
	if err != nil {
		o.log.Error("count reservations", "error", err)
		return
	}
	for _, state := range []string{
		api.StatePromised, api.StatePending, api.StateHolding, api.StateRunning,
		api.StateKept, api.StateMissed, api.StateCancelled,
	} {
		ch <- prometheus.MustNewConstMetric(outcomesDesc, prometheus.GaugeValue, float64(counts[state]), state)
	}
}
