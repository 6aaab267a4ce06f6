// Package desk answers users' questions, and makes promises about jobs.
//
// A plan says how a job has to be submitted so that, with the probability asked for, it starts by
// the time BeginBy or ends by the time FinishBy. A plan becomes a promise when it is written into
// the ledger. Package keeper keeps the promise. A refusal is an answer, and offers what can be
// promised instead.
//
// Times are Unix seconds, durations are seconds.
package desk

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/premises"
	"github.com/varq-project/varq/predictor/promise/negotiate"
	"github.com/varq-project/varq/predictor/promise/policy"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// Outlook forecasts waits. It learns from the jobs of the past.
type Outlook interface {
	trajectory.Forecaster
	// Predict forecasts the wait of a job like r that is submitted now. job, if not 0, is the id of
	// a job that waits already: it is not ahead of itself. Predict reports false if it knows
	// nothing. If an outage is the reason, the answer's Down says so.
	Predict(r workload.Request, job int64) (forecast.Answer, bool)
	// Downey is Predict by Downey's predictors, without lower bounds.
	Downey(r workload.Request) (forecast.Answer, bool)
	// Room returns a function that bounds the probability that the work of a claim on a place runs
	// from its From on, beside the jobs that run now and other claims. If the bound is below
	// least, the function may tell only that. job, if not 0, is the id of a job that is not in its
	// own way. Only one goroutine may use the function.
	Room(place workload.Place, job, now int64, others []workload.Claim) func(c workload.Claim, least float64) workload.Room
	// Licences is Room for the licences of a name that the job needs, of total in all.
	Licences(name string, total int32, job, now int64, others []workload.Claim) func(c workload.Claim, least float64) workload.Room
	// Wait forecasts the rest of the wait of a job that has waited for some seconds, or would wait
	// if it were submitted now. It reports false if too little is known; a.Down may then say why.
	Wait(q *forecast.Question, waited int64, a *forecast.Answer) bool
	// Gather tells that many jobs which wait are asked about by Wait at a time, which then costs
	// little more than to ask about one of them.
	Gather(now int64)
	// Prospect forecasts the end of a job from the forecast of its wait. It reports false if
	// nothing is known yet.
	Prospect(q *forecast.Question, c completion.Circumstances, wait *delay.Distribution) (negotiate.Prospect, bool)
	// Rest forecasts the end of a job that has run for age seconds. It reports false if nothing is
	// known yet.
	Rest(q *forecast.Question, age int64, c completion.Circumstances) (negotiate.Prospect, bool)
	// Run returns the quantiles, in seconds, of how much longer a job runs, however it ends, that
	// has run for age seconds. It reports false if nothing is known yet.
	Run(q *forecast.Question, age int64, c completion.Circumstances) (func(prob float64) float64, bool)
	// Success returns the probability that a job ends with exit code 0, once it has started.
	Success(j *workload.Job) float64
	// Queue returns how many jobs wait and how many run.
	Queue() (waiting, running int)
	// Jobs yields these jobs, and the jobs that become eligible later. The Start of a waiting job
	// is 0. The jobs must not be changed or kept.
	Jobs(yield func(*workload.Job) bool)
	// Seen returns a time: Jobs yields the jobs that were submitted before it.
	Seen() int64
	// Learning reports whether the answers rest only on the newest part of the past, because the
	// rest is still being learnt.
	Learning() bool
}

// Health forecasts failures of nodes.
type Health interface {
	// FailureProb returns the probability that at least one of the nodes fails between two times,
	// in seconds from now on.
	FailureProb(nodes []string, from, to int64) float64
}

// Homes knows which homes of groups exist. An empty name stands for this site.
type Homes interface {
	// Knows reports whether there is a home with this name.
	Knows(home string) bool
}

// Options configure a Desk.
type Options struct {
	Premises *premises.Premises
	Ledger   *ledger.Ledger
	Outlook  Outlook
	// Health forecasts failures of nodes. It may be nil.
	Health Health
	// Site has the properties by which users compare the cluster with others.
	Site Site
	// Idle knows how many nodes were idle. It may be nil.
	Idle Idle
	// Job reads a job that was submitted after the last look at the queue, or returns
	// slurm.ErrNotFound. It may be nil.
	Job func(ctx context.Context, id int64) (slurm.QueueEntry, error)
	// Ended reads a job that Slurm still shows after its end, or returns slurm.ErrNotFound. It may be
	// nil.
	Ended func(ctx context.Context, id int64) (workload.Job, error)
	// Homes knows the homes of groups. It is nil if there are none.
	Homes Homes
	// Behind returns what has been learnt of how often forecasts of jobs that wait for others came
	// true. It may be nil.
	Behind func() *flow.Learnt
	// RiskyNodes is the default for requests: api.RiskyAvoid or api.RiskyAllow.
	RiskyNodes string
	// Now is the clock, in Unix seconds.
	Now func() int64
	// Zone is the site's time zone. Answers name times in this zone.
	Zone *time.Location
	// Prob is the default probability of requests.
	Prob float64
	// Confidence is the confidence level of Outlook's lower bounds on probabilities.
	Confidence float64
	// Shadow is true if nothing is promised.
	Shadow bool
	// Policy has the site's rules, until SetPolicy.
	Policy policy.Rules
	// Horizon is how long before BeginBy a job may become eligible.
	Horizon int64
	// MaxHold bounds how long a job's nodes may idle before its work, as a multiple of the work's
	// time limit. An hour is always allowed. 0 means no bound.
	MaxHold float64
	Log     *slog.Logger
	Metrics Metrics
}

// Desk answers questions and makes promises. Its methods may be called concurrently.
type Desk struct {
	*occupancy
	// queue is the whole queue, as of the last ObserveQueue, or nil.
	queue atomic.Pointer[queue]
	// newer are the rules of SetPolicy, or nil.
	newer atomic.Pointer[policy.Rules]
	// looked is the time of the last look at the queue after which the jobs of all promises in it
	// were bound.
	looked atomic.Int64
	// granting is a mutex for everything that adds to the open reservations: see StartGranting. It
	// is locked while it contains a value.
	granting chan struct{}
	hazard   hazard
}

// New returns a Desk. It promises nothing before its premises are ready.
func New(o Options) *Desk {
	o.Site, o.Outlook = o.Site.withDefaults(), reserved{o.Outlook, o.Premises}
	return &Desk{occupancy: &occupancy{Options: o}, granting: make(chan struct{}, 1), hazard: hazard{o.Health, o.RiskyNodes}}
}

// occupancy knows what is taken or will be: running jobs, promises, offers, and plain jobs that
// become eligible later or wait for their nodes to be up.
type occupancy struct {
	Options
	offered offered
	// plain has the claims of these plain jobs, as of the last ObservePlain.
	plain atomic.Pointer[[]workload.Claim]
	// flows has the claims of jobs of promised flows that wait, as of the last ObserveFlows.
	flows atomic.Pointer[[]workload.Claim]
	// running has the claims of promised jobs that run, as of the last ObserveRunning.
	running atomic.Pointer[[]workload.Claim]
}

// Counter counts something for the site's monitoring.
type Counter interface{ Inc() }

// Metrics are the desk's counts: the reservations that were promised, and those that were refused.
type Metrics struct{ Promises, Refusals Counter }

// count counts one more, unless nobody wants to know.
func count(c Counter) {
	if c != nil {
		c.Inc()
	}
}

// JobsBound takes in that the queue was read at a time, and that the jobs of all promises in it
// have been bound since.
func (d *Desk) JobsBound(at int64) { d.looked.Store(at) }

// planner returns a planner with the cluster's state. In it other promises claim no room. It
// returns an api.ErrUnavailable while the premises are not ready.
func (d *Desk) planner() (*trajectory.Planner, error) {
	if err := d.Premises.Ready(); err != nil {
		return nil, api.Fault(api.ErrUnavailable, err.Error())
	}
	return &trajectory.Planner{
		Forecaster: d.Outlook, Cluster: d.Premises.Limits(), Jobs: d.Outlook.Jobs, Horizon: d.Horizon, MaxHold: d.MaxHold, Confidence: d.Confidence,
		Room: d.room(nil, false),
	}, nil
}

// checkHome returns a fault if this site does not know the home of a request's group.
func (d *Desk) checkHome(req *api.PlanRequest) error {
	if req.Group != "" && (d.Homes == nil || !d.Homes.Knows(req.Home)) {
		return api.Fault(api.ErrInvalid, fmt.Sprintf("this site knows no site %q that could keep the group: varq.yaml names it under sites", req.Home))
	}
	return nil
}
