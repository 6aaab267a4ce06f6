// Package waits exports how long jobs have waited, as histograms for Prometheus.
package waits

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/live/label"
	"github.com/varq-project/varq/predictor/workload"
)

// mostPartitions is how many partitions have time series of their own. All others share those of
// label.Rest.
const mostPartitions = 32

// buckets are the upper bounds of the histograms' buckets, in seconds: from a start at once to
// eight days.
var buckets = []float64{1, 10, 60, 300, 900, 1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 16 * 3600, 86400, 2 * 86400, 4 * 86400, 8 * 86400}

// Metrics are the histograms. Its methods may be called concurrently.
type Metrics struct {
	byPartition, byAccount *prometheus.HistogramVec
	partitions             label.Values
	// by the name in lower case, for which Slurm takes every other
	accounts map[string]string
}

// New makes the histograms and registers them. Everybody may read them, and a cluster may hide
// accounts from most. So accounts are those that have time series of their own, and all others
// share those of label.Rest.
func New(registry prometheus.Registerer, accounts []string) *Metrics {
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
		registry.MustRegister(h)
		return h
	}
	m := &Metrics{
		byPartition: histogram("varq_job_wait_seconds", "How long jobs have waited since they could start, by partition and size.", "partition", "size"),
		byAccount:   histogram("varq_account_job_wait_seconds", "How long jobs have waited since they could start, by account, of those that varq.yaml names.", "account"),
		partitions:  label.Values{Most: mostPartitions},
		accounts:    map[string]string{},
	}
	for _, account := range accounts {
		m.accounts[strings.ToLower(account)] = account
	}
	return m
}

// Started counts the waits of jobs that have started. Whoever calls it sees to it that each start
// is counted once.
func (m *Metrics) Started(jobs []workload.Job) {
	for i := range jobs {
		j := &jobs[i]
		since := j.Since()
		if since == 0 || j.Start < since { // accounting contradicts itself
			continue
		}
		wait := float64(j.Start - since)
		m.byPartition.WithLabelValues(m.partitions.Of(j.Partition), sizeOf(&j.Size)).Observe(wait)
		account, named := m.accounts[strings.ToLower(j.Account)]
		if !named {
			account = label.Rest
		}
		m.byAccount.WithLabelValues(account).Observe(wait)
	}
}

// sizeOf returns the class of a job's size. There are six.
func sizeOf(s *workload.Size) string {
	switch {
	case s.GPUs > 0:
		return "gpus"
	case s.Nodes > 64:
		return "over 64 nodes"
	case s.Nodes > 8:
		return "9-64 nodes"
	case s.Nodes > 1:
		return "2-8 nodes"
	case s.CPUs > 1:
		return "1 node"
	}
	return "1 cpu"
}
