package selfscore

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/live/label"
)

// mostPartitions is how many partitions have a time series of their own in the metrics. A
// list of partitions counts as one partition. All other partitions share the time series
// label.Rest.
const mostPartitions = 64

// Metrics are the scores of forecasts for Prometheus.
type Metrics struct {
	scored     *prometheus.CounterVec
	partitions label.Values
}

// NewMetrics makes the metrics and registers them. They include the calibration of the last
// 30 days, which read returns. read is called at most once a minute. now is the clock, in
// Unix seconds.
func NewMetrics(registry prometheus.Registerer, read ReadCalibration, now func() int64, log *slog.Logger) *Metrics {
	m := &Metrics{
		scored: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "varq_forecasts_scored_total", Help: "Forecasts of waits held against the wait, and with forecaster completion of ends against the end, by forecaster and partition.",
		}, []string{"forecaster", "partition"}),
		partitions: label.Values{Most: mostPartitions},
	}
	registry.MustRegister(m.scored, &collector{read: read, now: now, log: log})
	return m
}

// count adds the number of forecasts scored to the counters.
func (m *Metrics) count(scored score.Table) {
	for k, s := range scored {
		m.scored.WithLabelValues(k.Forecaster, m.partitions.Of(k.Partition)).Add(float64(s.Forecasts))
	}
}

// ReadCalibration is Reader.Rows.
type ReadCalibration func(context.Context, api.CalibrationQuery) (api.Calibration, error)

// collector collects the calibration of each forecaster.
type collector struct {
	read ReadCalibration
	now  func() int64
	log  *slog.Logger

	mu   sync.Mutex
	last api.Calibration
	at   int64 // when last was read
}

const (
	window = 30 * 86400 // the calibration is over the last window seconds
	maxAge = 60         // the calibration is read again after maxAge seconds
)

var (
	coverageDesc = prometheus.NewDesc("varq_forecast_coverage",
		"Share of the waits of the last 30 days within a forecast quantile, and with forecaster completion of the times until the end.", []string{"forecaster", "level"}, nil)
	pinballDesc = prometheus.NewDesc("varq_forecast_pinball_seconds",
		"Mean pinball loss of a forecast quantile over the last 30 days.", []string{"forecaster", "level"}, nil)
	errorDesc = prometheus.NewDesc("varq_forecast_calibration_error",
		"Expected calibration error of the probabilities of the last 30 days.", []string{"forecaster"}, nil)
	driftDesc = prometheus.NewDesc("varq_forecast_drift",
		"Whether a forecaster has drifted.", []string{"forecaster"}, nil)
)

// Describe implements prometheus.Collector.
func (*collector) Describe(ch chan<- *prometheus.Desc) {
	ch <- coverageDesc
	ch <- pinballDesc
	ch <- errorDesc
	ch <- driftDesc
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	for _, r := range c.calibration().Rows {
		for _, q := range r.Quantiles {
			level := strconv.FormatFloat(q.Quantile, 'g', -1, 64)
			gauge(coverageDesc, q.Covered, r.Forecaster, level)
			gauge(pinballDesc, q.Pinball, r.Forecaster, level)
		}
		gauge(errorDesc, r.CalibrationError, r.Forecaster)
		drift := 0.
		if r.Drift != "" {
			drift = 1
		}
		gauge(driftDesc, drift, r.Forecaster)
	}
}

// calibration returns the calibration, read at most maxAge ago. If reading fails, it returns
// the one that was read last.
func (c *collector) calibration() api.Calibration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now-c.at < maxAge {
		return c.last
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	calibration, err := c.read(ctx, api.CalibrationQuery{Start: now - window})
	if err != nil {
		c.log.Error("read the calibration of forecasts", "error", err)
		return c.last
	}
	c.last, c.at = calibration, now
	return calibration
}
