package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/live/extern"
	"github.com/varq-project/varq/predictor/live/ingest"
	"github.com/varq-project/varq/predictor/live/scores"
	"github.com/varq-project/varq/predictor/live/selfscore"
	"github.com/varq-project/varq/predictor/varqd/config"
)

// mostScored is the most jobs that begin to wait between two snapshots of the queue and
// have their forecasts scored.
const mostScored = 20

// ask returns the answer of every forecaster to a question. Of a job that waits for nodes that are
// down or drained there is none: no user is told one either, and what forecasters say then, years,
// would be all that is left of their mean losses.
func (d *Daemon) ask(_ context.Context, q *forecast.Question) []selfscore.NamedAnswer {
	if d.premises.Missing(q.Request) != "" {
		return nil
	}
	names, said := d.outlook.Ask(q)
	answers := make([]selfscore.NamedAnswer, len(said))
	for i, a := range said {
		answers[i] = selfscore.NamedAnswer{Forecaster: names[i], Answer: a}
	}
	return answers
}

// askPending returns the answer about a job that waits already; see ask.
func (d *Daemon) askPending(_ context.Context, q *forecast.Question) (a forecast.Answer, ok bool) {
	if d.premises.Missing(q.Request) != "" {
		return a, false
	}
	ok = d.outlook.Wait(q, q.Now-q.Since, &a)
	return a, ok
}

// behind returns what has been learnt of forecasts of jobs that wait for others, as long as it can
// be read.
func behind(s *scores.Store, log *slog.Logger) func() *flow.Learnt {
	return func() *flow.Learnt {
		learnt, err := s.Courses(context.Background())
		if err != nil {
			log.Warn("forecasts of jobs that wait for others are told as they are drawn", "error", err)
		}
		return learnt
	}
}

// replay replays the past to an observer.
func (d *Daemon) replay(ctx context.Context, o forecast.Observer) error {
	return d.ingest.Replay(ctx, o)
}

// newModel makes a Model of the outlook, which ingest keeps up to date.
func (d *Daemon) newModel(pools twin.Pools) ingest.Model {
	return d.outlook.NewModel(pools)
}

// forecasters are the site's own forecasters. As a prometheus.Collector they export their
// health.
type forecasters struct {
	waits  []*extern.Forecaster
	faults []*extern.Faults
}

// newForecasters makes the forecasters that a configuration describes. past and pastOfNodes replay
// the past.
func newForecasters(list []config.Forecaster, past func(context.Context, forecast.Observer) error, pastOfNodes func(context.Context, func(fault.Event)) error, log *slog.Logger) forecasters {
	var made forecasters
	for _, f := range list {
		if f.Forecasts == config.ForecastsFailures {
			made.faults = append(made.faults, extern.NewFaults(extern.Options[func(fault.Event)]{
				Name: f.Name, Command: f.Command, Timeout: time.Duration(f.Timeout), Past: pastOfNodes, Log: log,
			}))
			continue
		}
		made.waits = append(made.waits, extern.New(extern.Options[forecast.Observer]{
			Name: f.Name, Command: f.Command, Timeout: time.Duration(f.Timeout), Past: past, Log: log,
		}))
	}
	return made
}

// members returns the forecasters of waits as members of a blend.
func (all *forecasters) members() []forecast.Forecaster {
	var list []forecast.Forecaster
	for _, f := range all.waits {
		list = append(list, f)
	}
	return list
}

// run runs the programs until ctx is done: those of waits once pastLoaded is set, and those of
// failures once nodesSeen is.
func (all *forecasters) run(ctx context.Context, pastLoaded, nodesSeen *latch) {
	var running sync.WaitGroup
	start := func(known *latch, run func(context.Context)) {
		running.Go(func() {
			if known.wait(ctx) {
				run(ctx)
			}
		})
	}
	for _, f := range all.waits {
		start(pastLoaded, f.Run)
	}
	for _, f := range all.faults {
		start(nodesSeen, f.Run)
	}
	running.Wait()
}

// happened tells the forecasters of failures what happened to nodes.
func (all *forecasters) happened(events []fault.Event) {
	for _, f := range all.faults {
		for _, e := range events {
			f.Observe(e)
		}
	}
}

// health returns how well each forecaster works.
func (all *forecasters) health() (list []extern.Health) {
	for _, f := range all.waits {
		list = append(list, f.Health())
	}
	for _, f := range all.faults {
		list = append(list, f.Health())
	}
	return list
}

// notes returns a sentence for each forecaster that is left out, with the reason.
func (all *forecasters) notes() []string {
	var notes []string
	for _, h := range all.health() {
		if h.Problem != "" {
			notes = append(notes, fmt.Sprintf("forecaster %s is left out: %s", h.Name, h.Problem))
		}
	}
	return notes
}

var (
	forecasterUp = prometheus.NewDesc("varq_forecaster_up",
		"Whether a forecaster of the site's own is asked.", []string{"forecaster"}, nil)
	forecasterStarts = prometheus.NewDesc("varq_forecaster_starts_total",
		"How often a forecaster's program came to be asked.", []string{"forecaster"}, nil)
	forecasterAnswers = prometheus.NewDesc("varq_forecaster_answers_total",
		"Questions that a forecaster has answered.", []string{"forecaster"}, nil)
	forecasterFailures = prometheus.NewDesc("varq_forecaster_failures_total",
		"Questions that a forecaster has failed to answer, by why.", []string{"forecaster", "reason"}, nil)
)

// Describe implements prometheus.Collector.
func (*forecasters) Describe(ch chan<- *prometheus.Desc) {
	ch <- forecasterUp
	ch <- forecasterStarts
	ch <- forecasterAnswers
	ch <- forecasterFailures
}

// Collect implements prometheus.Collector.
func (all *forecasters) Collect(ch chan<- prometheus.Metric) {
	for _, h := range all.health() {
		up := 0.
		if h.Problem == "" {
			up = 1
		}
		ch <- prometheus.MustNewConstMetric(forecasterUp, prometheus.GaugeValue, up, h.Name)
		ch <- prometheus.MustNewConstMetric(forecasterStarts, prometheus.CounterValue, float64(h.Starts), h.Name)
		ch <- prometheus.MustNewConstMetric(forecasterAnswers, prometheus.CounterValue, float64(h.Answers), h.Name)
		for _, reason := range []extern.Failure{extern.Late, extern.Nonsense, extern.Failed, extern.Busy} {
			ch <- prometheus.MustNewConstMetric(forecasterFailures, prometheus.CounterValue, float64(h.Failures[reason]), h.Name, string(reason))
		}
	}
}
