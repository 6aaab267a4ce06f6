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
	"github.com/varq-project/varq/predictor/live/desk"
	"github.com/varq-project/varq/predictor/live/faultscore"
	"github.com/varq-project/varq/predictor/live/flows"
	"github.com/varq-project/varq/predictor/live/groups"
	"github.com/varq-project/varq/predictor/live/keeper"
	"github.com/varq-project/varq/predictor/live/records"
	"github.com/varq-project/varq/predictor/live/selfscore"
	"github.com/varq-project/varq/predictor/live/shadow"
)

// problems holds the present problem of each part of varqd that has one.
type problems struct {
	log    *slog.Logger
	mu     sync.Mutex
	byPart map[string]error
}

func newProblems(log *slog.Logger) *problems {
	return &problems{log: log, byPart: map[string]error{}}
}

// set notes the problem of a part, and logs it if the part had none or another one.
func (p *problems) set(part string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old, known := p.byPart[part]
	p.byPart[part] = err
	if !known || old.Error() != err.Error() {
		p.log.Error("trouble", "part", part, "error", err)
	}
}

// clear forgets the problem of a part, and reports whether the part had one.
func (p *problems) clear(part string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known := p.byPart[part]
	delete(p.byPart, part)
	return known
}

// get returns the problem of a part, or nil.
func (p *problems) get(part string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byPart[part]
}

// list returns the problems, each with its part, in the order of the parts.
func (p *problems) list() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []string
	for part, err := range p.byPart {
		list = append(list, fmt.Sprintf("%s: %v", part, err))
	}
	slices.Sort(list)
	return list
}

var problemDesc = prometheus.NewDesc("varq_problem", "1 for each part of varqd that has a problem.", []string{"part"}, nil)

// Describe implements prometheus.Collector.
func (p *problems) Describe(ch chan<- *prometheus.Desc) { ch <- problemDesc }

// Collect implements prometheus.Collector. A part without a problem is 0.
func (p *problems) Collect(ch chan<- prometheus.Metric) {
	for _, part := range []string{partHistory, partLimits, partQueue, partForecasts, partRights, partLedger, partDisk, partNodes} {
		present := 0.
		if p.get(part) != nil {
			present = 1
		}
		ch <- prometheus.MustNewConstMetric(problemDesc, prometheus.GaugeValue, present, part)
	}
}

// shadows and foretold give readers names of their own in service.
type (
	shadows  = shadow.Reader
	foretold = faultscore.Reader
)

// service is what the server serves: reservations, the calibration of forecasts, and
// the health of the whole daemon.
type service struct {
	*desk.Desk
	*keeper.Keeper
	flowKeeper
	*records.Records
	*groups.Groups
	selfscore.Reader
	foretold
	shadows
	daemon *Daemon
}

// flowKeeper has a name of its own beside keeper.Keeper.
type flowKeeper = *flows.Keeper

// Size implements server.Service.
func (s service) Size(ctx context.Context, user string, req *api.SizeRequest) (api.SizeAnswer, error) {
	return s.daemon.resizer.Size(ctx, user, req)
}

// Health returns the state of varqd. It is OK if no part has a problem, the keeper is ready,
// and the queue is being read.
func (s service) Health(context.Context) api.Health {
	d := s.daemon
	h := api.Health{Problems: d.problems.list(), Notes: slices.Concat(d.sites.notes(), d.clock.notes()), Version: api.Version}
	if d.identity != nil {
		state := d.identity.State()
		h.CertificateExpires = state.Expires.Unix()
		h.Certificate = state.Notes(d.config.OwnSite(), time.Now())
	}
	if d.shadow != nil {
		h.Notes = append(h.Notes, api.OnlyWatches+" (plan.mode: shadow); varq report --shadow tells what it would have promised")
	}
	if err := d.cache.Unstored(); err != nil {
		h.Notes = append(h.Notes, fmt.Sprintf("the history is in memory, and is read again when varqd starts next: %v", err))
	}
	if note := d.unread.Load(); note != nil {
		h.Notes = append(h.Notes, *note)
	}
	for _, u := range d.desk.UnknownNames() {
		h.Policy = append(h.Policy, u.String())
	}
	if err := d.premises.Ready(); err != nil {
		h.Problems = append(h.Problems, err.Error())
	}
	if err := d.reads.overdue(); err != nil {
		h.Problems = append(h.Problems, err.Error())
	}
	if d.ingest.Learning() {
		h.Notes = append(h.Notes, "varqd answers by the newest jobs of the past, and still learns from older ones; until it has, it does not move the jobs of promises")
	}
	h.History, h.Newest = d.outlook.StartsObserved()
	h.OK = len(h.Problems) == 0
	return h
}
