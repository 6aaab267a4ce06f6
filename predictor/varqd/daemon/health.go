package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/keeper"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/selfscore"
)

// problems are what does not work at present, by the part that it ails.
type problems struct {
	mu     sync.Mutex
	byPart map[string]string
}

func newProblems() *problems { return &problems{byPart: map[string]string{}} }

// set notes a problem and reports whether it is news.
func (p *problems) set(part string, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	old, known := p.byPart[part]
	p.byPart[part] = err.Error()
	return !known || old != err.Error()
}

// clear forgets the part's problem and reports whether there was one.
func (p *problems) clear(part string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known := p.byPart[part]
	delete(p.byPart, part)
	return known
}

func (p *problems) list() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []string
	for part, text := range p.byPart {
		list = append(list, fmt.Sprintf("%s: %s", part, text))
	}
	slices.Sort(list)
	return list
}

// service is what the server serves: reservations, the calibration of forecasts, and
// the health of the whole daemon.
type service struct {
	*keeper.Keeper
	selfscore.Reader
	daemon *Daemon
}

// Health tells how varqd is. It is well while it can make promises and
// looks at the queue.
func (s service) Health(context.Context) api.Health {
	d := s.daemon
	h := api.Health{Problems: d.problems.list(), Notes: d.own.notes(), Version: api.Version}
	if err := d.keeper.Ready(); err != nil {
		h.Problems = append(h.Problems, err.Error())
	}
	if err := d.looks.overdue(); err != nil {
		h.Problems = append(h.Problems, err.Error())
	}
	h.History, h.Newest = d.outlook.Learnt()
	h.OK = len(h.Problems) == 0
	return h
}

// outcomes counts the ledger's reservations by state.
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
