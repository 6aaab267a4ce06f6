package daemon

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk"
	"github.com/varq-project/varq/predictor/live/look"
)

// makeMetrics makes the metrics that the daemon itself counts.
func (d *Daemon) makeMetrics() {
	d.errors = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "varq_slurm_errors_total", Help: "Failures of varqd's loops, by part.",
	}, []string{"what"})
	d.looked = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "varq_queue_newest_seconds", Help: "Unix time of the look at Slurm's queue that forecasts rest on.",
	})
	d.jobs = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "varq_queue_jobs", Help: "Jobs in Slurm's queue when it was read last: running, waiting, or later, if they cannot start yet (held, dependent, or with a later begin time).",
	}, []string{"state"})
	d.unwritten = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "varq_ledger_write_errors_total", Help: "Writes that the ledger's file has not taken.",
	})
	d.requests = newRequestSeconds()
}

// deskMetrics makes the desk's metrics and registers them.
func deskMetrics(registry prometheus.Registerer) desk.Metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		registry.MustRegister(c)
		return c
	}
	return desk.Metrics{
		Promises: counter("varq_promises_total", "Reservations promised."),
		Refusals: counter("varq_refusals_total", "Reservations refused."),
	}
}

// countJobs counts the jobs of the queue, and the tasks of arrays.
func (d *Daemon) countJobs(l *look.Look) {
	counts := map[string]int{"running": 0, "waiting": 0, "later": 0}
	for i := range l.Jobs {
		j := &l.Jobs[i]
		state := "later"
		switch {
		case j.Start != 0:
			state = "running"
		case !j.Held && j.Stopped == "" && j.Eligible != 0 && j.Eligible <= l.At:
			state = "waiting"
		}
		counts[state] += j.Count()
	}
	for state, n := range counts {
		d.jobs.WithLabelValues(state).Set(float64(n))
	}
}

// register registers the metrics of the daemon as a whole.
func (d *Daemon) register(registry *prometheus.Registry) {
	registry.MustRegister(
		d.errors,
		d.looked,
		d.jobs,
		d.unwritten,
		d.requests,
		d.looks.took,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&outcomes{count: d.ledger.Outcomes, now: time.Now, log: d.log},
		d.problems,
		d.looks.all,
		&d.sites,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "varq_slurm_clock_ahead_seconds", Help: "By how much Slurm's clock is ahead of the clock of varqd's host.",
		}, func() float64 { return d.clock.offset().Seconds() }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "varq_history_in_memory", Help: "Whether the history's file cannot be written, so that it is in memory.",
		}, func() float64 {
			if d.cache.Unstored() != nil {
				return 1
			}
			return 0
		}),
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

// outcomes counts the reservations in the ledger by state. Everybody may read the metrics, and
// the count searches the whole ledger, so it is kept for a while.
type outcomes struct {
	count func(context.Context) (map[string]int, error)
	now   func() time.Time
	log   *slog.Logger

	mu     sync.Mutex
	counts map[string]int
	at     time.Time // when they were counted
}

// countLife is how long a count is kept.
const countLife = time.Minute

var outcomesDesc = prometheus.NewDesc("varq_reservations", "Reservations in the ledger, by state, counted within the last minute.", []string{"state"}, nil)

// Describe implements prometheus.Collector.
func (*outcomes) Describe(ch chan<- *prometheus.Desc) { ch <- outcomesDesc }

// Collect implements prometheus.Collector.
func (o *outcomes) Collect(ch chan<- prometheus.Metric) {
	counts := o.counted()
	if counts == nil {
		return
	}
	for _, state := range api.States {
		ch <- prometheus.MustNewConstMetric(outcomesDesc, prometheus.GaugeValue, float64(counts[state]), state)
	}
}

// counted returns the counts, or nil if the last try to count has failed.
func (o *outcomes) counted() map[string]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := o.now(); now.Sub(o.at) >= countLife {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		var err error
		if o.counts, err = o.count(ctx); err != nil {
			o.log.Error("count reservations", "error", err)
			o.counts = nil
		}
		o.at = now
	}
	return o.counts
}
