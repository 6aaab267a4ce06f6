package faultscore

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
)

// Metrics are the scores of forecasts of failures for Prometheus.
type Metrics struct {
	scored *prometheus.CounterVec
	reader Reader
	now    func() int64
	log    *slog.Logger

	mu   sync.Mutex
	last api.NodesCalibration
	at   int64 // when last was read
}

const (
	window = 30 * 86400 // the calibration is over the last window seconds
	maxAge = 60         // the calibration is read again after maxAge seconds
)

// NewMetrics makes the metrics and registers them. They include the calibration of the last 30
// days, which is read at most once a minute. now is the clock, in Unix seconds.
func NewMetrics(registry prometheus.Registerer, reader Reader, now func() int64, log *slog.Logger) *Metrics {
	m := &Metrics{
		scored: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "varq_fault_forecasts_scored_total", Help: "Forecasts of failures of nodes held against what happened.",
		}, []string{"forecaster"}),
		reader: reader, now: now, log: log,
	}
	registry.MustRegister(m.scored, m)
	return m
}

// count adds the number of forecasts scored, by forecaster.
func (m *Metrics) count(scored map[string]int) {
	for forecaster, n := range scored {
		m.scored.WithLabelValues(forecaster).Add(float64(n))
	}
}

// gauges are what is exported of each forecaster.
var gauges = []struct {
	desc  *prometheus.Desc
	value func(*api.NodesCalibrationRow) float64
}{
	{gauge("varq_fault_expected", "Forecasts of the last 30 days that should have been followed by a failure."), func(r *api.NodesCalibrationRow) float64 { return r.Expected }},
	{gauge("varq_fault_failed", "Forecasts of the last 30 days that were followed by a failure within a day."), func(r *api.NodesCalibrationRow) float64 { return float64(r.Failed) }},
	{gauge("varq_fault_gain_nats", "Log score gained in the last 30 days over the rate of all nodes, for each of these."), func(r *api.NodesCalibrationRow) float64 { return r.Gain }},
	{gauge("varq_fault_precision", "Share of the alarms of the last 30 days that were followed by a failure."), func(r *api.NodesCalibrationRow) float64 { return r.Precision }},
	{gauge("varq_fault_recall", "Share of the failures of the last 30 days that were announced."), func(r *api.NodesCalibrationRow) float64 { return r.Ahead[0].Share }},
}

func gauge(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"forecaster"}, nil)
}

// Describe implements prometheus.Collector.
func (*Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, g := range gauges {
		ch <- g.desc
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, row := range m.calibration().Rows {
		for _, g := range gauges {
			ch <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, g.value(&row), row.Forecaster)
		}
	}
}

// calibration returns the calibration, read at most maxAge ago. If reading fails, it is the one
// that was read last.
func (m *Metrics) calibration() api.NodesCalibration {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if now-m.at < maxAge {
		return m.last
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	calibration, err := m.reader.NodesCalibration(ctx, api.NodesCalibrationQuery{Start: now - window})
	if err != nil {
		m.log.Error("read the calibration of forecasts of failures", "error", err)
		return m.last
	}
	m.last, m.at = calibration, now
	return calibration
}
