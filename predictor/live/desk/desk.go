// Package desk answers what users ask, and makes promises about jobs.
//
// A plan says how a job has to be submitted so that it starts by the time BeginBy with the
// probability asked for, or ends by FinishBy. A plan becomes a promise when it is written into the
// ledger. Package keeper keeps it. A refusal is an answer, and offers what can be promised instead.
//
// Times are Unix seconds and durations seconds.
package desk

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/premises"
	"github.com/varq-project/varq/predictor/promise/negotiate"
	"github.com/varq-project/varq/predictor/promise/policy"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/workload"
)

// Outlook forecasts waits. It learns from the jobs of the past.
type Outlook interface {
	trajectory.Forecaster
	// Predict forecasts the wait of a job like r that is submitted now. If job is not 0, that is a
	// job that waits already, and is not ahead of itself. It reports false if it knows nothing. If
	// an outage is the reason, the answer's Down says so.
	Predict(r workload.Request, job int64) (forecast.Answer, bool)
	// Downey is Predict by Downey's predictors, without lower bounds.
	Downey(r workload.Request) (forecast.Answer, bool)
	// Room returns a function that bounds the probability that the work of a claim on a partition
	// runs from its From on, beside the jobs that run now and other claims, or tells that it is
	// below least. The job of an id, if it is not 0, is not in its own way. One goroutine may use
	// the function.
	Room(partition string, job, now int64, others []workload.Claim) func(c workload.Claim, least float64) workload.Room
	// Wait forecasts what is left of the wait of a job that has waited for some seconds, or would
	// wait if it were submitted now. It reports false if too little is known; a.Down may then say
	// why.
	Wait(q *forecast.Question, waited int64, a *forecast.Answer) bool
	// Prospect forecasts the end of a job from the forecast of its wait. It reports false if
	// nothing is known yet.
	Prospect(q *forecast.Question, c completion.Circumstances, wait *delay.Distribution) (negotiate.Prospect, bool)
	// Rest forecasts the end of a job that has run for age seconds. It reports false if nothing is
	// known yet.
	Rest(q *forecast.Question, age int64, c completion.Circumstances) (negotiate.Prospect, bool)
	// Queue returns how many jobs wait and how many run.
	Queue() (waiting, running int)
	// Jobs yields these jobs, and those that become eligible later. The Start of one that waits is
	// 0. They must not be changed, nor kept.
	Jobs(yield func(*workload.Job) bool)
	// Seen returns a time: Jobs yields the jobs that were submitted before it.
	Seen() int64
	// Learning reports whether the answers rest on the newest part of the past only, because the
	// rest is still being learnt.
	Learning() bool
}

// Health tells of nodes that fail.
type Health interface {
	// FailureProb returns the probability that at least one of the nodes fails between two times,
	// in seconds from now on.
	FailureProb(nodes []string, from, to int64) float64
}

// Homes tells which homes of groups there are. An empty name is that of this site.
type Homes interface {
	// Knows reports whether there is a home of that name.
	Knows(home string) bool
}

// Options configure a Desk.
type Options struct {
	Premises *premises.Premises
	Ledger   *ledger.Ledger
	Outlook  Outlook
	// Health tells of nodes that fail; nil if nothing does.
	Health Health
	// Site is how the cluster compares with others.
	Site Site
	// Idle tells how many nodes were idle; nil if nothing does.
	Idle Idle
	// Homes are those of groups of promises; nil if there are none.
	Homes Homes
	// RiskyNodes is api.RiskyAvoid or api.RiskyAllow, for requests that do not say.
	RiskyNodes string
	// Now is the clock, in Unix seconds.
	Now func() int64
	// Zone is the site's time zone, in which answers name times.
	Zone *time.Location
	// Prob is the default probability, when the request names none.
	Prob float64
	// Confidence is the confidence level of Outlook's lower bounds on probabilities.
	Confidence float64
	// Shadow is true if nothing is promised.
	Shadow bool
	// Policy has the site's rules.
	Policy policy.Rules
	// Horizon is how long before BeginBy a job may become eligible.
	Horizon int64
	// MaxHold bounds how long a job's nodes may idle before its work, as a multiple of the work's
	// time limit. An hour is always allowed. 0 means no bound.
	MaxHold float64
	Log     *slog.Logger
	Metrics *Metrics
}

// Desk answers questions and makes promises. Its methods may be called concurrently.
type Desk struct {
	*occupancy
	// looked is when the queue was read of which the jobs of all promises were bound.
	looked atomic.Int64
	// granting is a mutex for what adds to the open reservations: see StartGranting. It is locked
	// while it contains a value.
	granting chan struct{}
}

// New returns a Desk. It promises nothing before its premises are ready.
func New(o Options) *Desk {
	o.Site = o.Site.withDefaults()
	return &Desk{occupancy: &occupancy{Options: o}, granting: make(chan struct{}, 1)}
}

// occupancy knows what others have: running jobs, promises, and plain jobs that are eligible later.
type occupancy struct {
	Options
	// plain are the claims of the plain jobs that are eligible later, as of the last ObservePlain.
	plain atomic.Pointer[[]workload.Claim]
}

// Metrics are the desk's counts for Prometheus.
type Metrics struct{ promises, refusals prometheus.Counter }

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		registry.MustRegister(c)
		return c
	}
	return &Metrics{
		promises: counter("varq_promises_total", "Reservations promised."),
		refusals: counter("varq_refusals_total", "Reservations refused."),
	}
}

// Bound takes in that the jobs of all promises in a queue have been bound that was read at a time.
func (d *Desk) Bound(at int64) { d.looked.Store(at) }

// planner returns a planner with the cluster's state, for which other promises claim no room. It
// returns an api.ErrUnavailable while Ready returns an error.
func (d *Desk) planner() (*trajectory.Planner, error) {
	if err := d.Premises.Ready(); err != nil {
		return nil, api.Fault(api.ErrUnavailable, err.Error())
	}
	return &trajectory.Planner{
		Forecaster: d.Outlook, Cluster: d.Premises.Limits(), Jobs: d.Outlook.Jobs, Horizon: d.Horizon, MaxHold: d.MaxHold, Confidence: d.Confidence,
		Room: d.room(nil),
	}, nil
}

// checkHome returns a fault if the group of a request cannot be that of a promise.
func (d *Desk) checkHome(req *api.PlanRequest) error {
	if req.Group != "" && (d.Homes == nil || !d.Homes.Knows(req.Home)) {
		return api.Fault(api.ErrInvalid, fmt.Sprintf("this site knows no site %q that could keep the group: varq.yaml names it under sites", req.Home))
	}
	return nil
}
