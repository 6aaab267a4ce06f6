package bigsite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/cluster"
)

// Varqd is what varqd tells of itself, by its metrics, of the time of the measurement.
type Varqd struct {
	// Plans are the answers to sbatch, Reads the requests for the whole queue to slurmrestd, and
	// Looks what became of these, with all that was due then for reservations.
	Plans Timing `json:"plans"`
	Reads Timing `json:"queue_reads"`
	Looks Timing `json:"looks"`
	// Unanswered is how many requests for the queue were not answered in time.
	Unanswered int `json:"queue_reads_unanswered"`
	// AgeMean and AgeMax are how old the picture of the queue was, in seconds.
	AgeMean float64 `json:"picture_age_mean_s"`
	AgeMax  float64 `json:"picture_age_max_s"`
	// Load is the share of the time for which slurmrestd was busy with varqd's requests.
	Load float64 `json:"slurmrestd_load"`
	// Moves is how many changes were made to jobs that wait, and Settled how many promises ended,
	// by what became of them.
	Moves   int            `json:"moves"`
	Settled map[string]int `json:"settled"`
	// Errors is how often a loop of varqd failed, by its part.
	Errors map[string]int `json:"errors,omitempty"`
}

// Timing is a histogram's: how many there were, their mean, and bounds of quantiles, which are
// those of the histogram's buckets. Times are seconds; a bound is -1 beyond the last bucket.
type Timing struct {
	Count int     `json:"count"`
	Mean  float64 `json:"mean_s"`
	P50   float64 `json:"p50_at_most_s"`
	P99   float64 `json:"p99_at_most_s"`
}

// metrics are varqd's, by name.
type metrics map[string]*dto.MetricFamily

// labels are names of labels and their values.
type labels map[string]string

// each calls use for the metrics of a name that have these labels.
func (m metrics) each(name string, with labels, use func(*dto.Metric)) {
	for _, one := range m[name].GetMetric() {
		if !slices.ContainsFunc(one.GetLabel(), func(p *dto.LabelPair) bool {
			want, ok := with[p.GetName()]
			return ok && want != p.GetValue()
		}) {
			use(one)
		}
	}
}

// value is the sum of counters or gauges.
func (m metrics) value(name string) (sum float64) {
	m.each(name, nil, func(one *dto.Metric) { sum += one.GetCounter().GetValue() + one.GetGauge().GetValue() })
	return sum
}

// by is the sums of counters, by the values of a label.
func (m metrics) by(name, label string) map[string]float64 {
	sums := map[string]float64{}
	m.each(name, nil, func(one *dto.Metric) {
		for _, p := range one.GetLabel() {
			if p.GetName() == label {
				sums[p.GetValue()] += one.GetCounter().GetValue()
			}
		}
	})
	return sums
}

// histogram is the sum of histograms: how many were in each bucket or below, by its bound, how many
// in all, and their sum.
type histogram struct {
	below map[float64]float64
	count float64
	sum   float64
}

func (m metrics) histogram(name string, with labels) histogram {
	h := histogram{below: map[float64]float64{}}
	m.each(name, with, func(one *dto.Metric) {
		h.count += float64(one.GetHistogram().GetSampleCount())
		h.sum += one.GetHistogram().GetSampleSum()
		for _, b := range one.GetHistogram().GetBucket() {
			h.below[b.GetUpperBound()] += float64(b.GetCumulativeCount())
		}
	})
	return h
}

// since is the timing of what was added since an earlier histogram.
func (h histogram) since(before histogram) Timing {
	t := Timing{Count: int(h.count - before.count)}
	if t.Count == 0 {
		return t
	}
	t.Mean = (h.sum - before.sum) / float64(t.Count)
	quantile := func(q float64) float64 {
		least := math.Inf(1)
		for bound, below := range h.below {
			if below-before.below[bound] >= q*float64(t.Count) {
				least = min(least, bound)
			}
		}
		if math.IsInf(least, 1) {
			return -1
		}
		return least
	}
	t.P50, t.P99 = quantile(.5), quantile(.99)
	return t
}

// since is what varqd did between two readings of its metrics, apart from the picture's age.
func (m metrics) since(before metrics) *Varqd {
	timing := func(name string, with labels) Timing {
		return m.histogram(name, with).since(before.histogram(name, with))
	}
	grown := func(name, label string) map[string]int {
		sums, was := map[string]int{}, before.by(name, label)
		for value, sum := range m.by(name, label) {
			if n := int(sum - was[value]); n > 0 {
				sums[value] = n
			}
		}
		return sums
	}
	return &Varqd{
		Plans:      timing("varq_request_seconds", labels{"path": api.PathPlan}),
		Reads:      timing("varq_slurmrestd_request_seconds", labels{"request": "queue"}),
		Looks:      timing("varq_look_seconds", labels{"read": "queue"}),
		Unanswered: timing("varq_slurmrestd_request_seconds", labels{"request": "queue", "outcome": "unanswered"}).Count,
		Load:       m.value("varq_slurmrestd_load"),
		Moves:      int(m.value("varq_revisions_total") - before.value("varq_revisions_total")),
		Settled:    grown("varq_promises_settled_total", "outcome"),
		Errors:     grown("varq_slurm_errors_total", "what"),
	}
}

// age is how old the picture of the queue is that forecasts rest on, in seconds.
func (m metrics) age(now time.Time) float64 {
	return float64(now.UnixMilli())/1000 - m.value("varq_queue_newest_seconds")
}

// ages collects ages of the picture until the context ends.
func (l *lab) ages(ctx context.Context) (all []float64) {
	for {
		if m, err := l.site.Metrics(ctx); err == nil {
			all = append(all, metrics(m).age(time.Now()))
		}
		select {
		case <-ctx.Done():
			return all
		case <-time.After(2 * time.Second):
		}
	}
}

// untilSeen waits until varqd has taken in a look at the queue that begins from now on.
func (l *lab) untilSeen(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cluster.Patience)
	defer cancel()
	for began := time.Now(); ; {
		m, err := l.site.Metrics(ctx)
		if err == nil && metrics(m).age(began) < 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("varqd does not see the queue: %w", errors.Join(ctx.Err(), err))
		case <-time.After(time.Second):
		}
	}
}
