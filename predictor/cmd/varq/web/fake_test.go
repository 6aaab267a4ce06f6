package web

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/workload"
)

// now is the clock of the tests: 2026-11-21T13:00:00 UTC.
const now = 1795266000

// fakeVarqd gives fixed answers, as varqd does to alice, or to an operator.
type fakeVarqd struct {
	user     string
	operator bool
	err      error // of every answer, if not nil
	unscored bool  // no forecast was scored yet
	private  bool  // Slurm shows nobody the jobs of others (PrivateData)
	waiting  []api.Waiting
	more     int   // jobs that wait and are not told of
	shadow   bool  // it only watches
	young    bool  // few forecasts were scored yet
	older    bool  // it tells of no partitions
	learning bool  // it knows only the newest part of the past
	age      int64 // of the queue

	mu    sync.Mutex
	asked []string
}

func (f *fakeVarqd) note(format string, args ...any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, fmt.Sprintf(format, args...))
	return f.err
}

func (f *fakeVarqd) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// Quote forecasts the less the larger the job is and the later it becomes eligible, with a jump
// where it is short enough to be backfilled. It promises what is asked, .9 by default.
func (f *fakeVarqd) Quote(_ context.Context, r api.PlanRequest) (a api.PlanAnswer, err error) {
	if err := f.note("quote %d %d", r.Job.Nodes, r.Job.Limit); err != nil {
		return a, err
	}
	if r.Job.Nodes > 64 {
		return a, api.Fault(api.ErrInvalid, "partition main has no more than 64 nodes")
	}
	asked := r.Prob
	if asked == 0 {
		asked = .9
	}
	a.AsOf = now - f.age
	if r.Finishes() {
		return endOf(&r, asked), nil
	}
	size := math.Log2(float64(r.Job.Nodes))*.05 + float64(r.Job.Limit)/36000
	best := 0.
	for i := range 40 {
		left := float64(40-i) / 40
		begin := r.BeginBy - int64(float64(r.BeginBy-now)*left)
		p := (.985 - .6*size) * (1 - .8*(1-left)*(1-left)*(1-left))
		if left < .3 {
			p += .08
		}
		a.Trajectory = append(a.Trajectory, api.Point{BeginTime: begin, TimeLimit: r.Job.Limit + r.BeginBy - begin, Prob: p, Class: "main"})
		best = max(best, p)
	}
	if f.shadow {
		a.Refusal = &api.Refusal{Rule: "plan.mode", Reason: "varqd only watches on this cluster; it would have promised a start"}
		return a, nil
	}
	if r.BestEffort && a.Trajectory[0].Prob >= asked {
		a.Plan = &api.Plan{
			BeginTime: now, TimeLimit: r.Job.Limit, BeginBy: r.BeginBy, WorkLimit: r.Job.Limit, Prob: asked, Estimate: a.Trajectory[0].Prob, OnMiss: api.OnMissRun,
			Work: cost(r.Job.Nodes, r.Job.Limit), Evidence: api.Evidence{Sample: 412, Class: "partition=main"},
		}
		return a, nil
	}
	for _, p := range slices.Backward(a.Trajectory) {
		if p.Prob < asked || r.BestEffort {
			continue
		}
		held := r.BeginBy - p.BeginTime
		a.Plan = &api.Plan{
			BeginTime: p.BeginTime, TimeLimit: p.TimeLimit, BeginBy: r.BeginBy, HoldUntil: r.BeginBy, WorkLimit: r.Job.Limit, Prob: asked, Estimate: p.Prob, OnMiss: api.OnMissRun,
			Work: cost(r.Job.Nodes, r.Job.Limit), Worst: cost(r.Job.Nodes, held), Expected: cost(r.Job.Nodes, held/2), Evidence: api.Evidence{Sample: 412, Class: "partition=main"},
		}
		return a, nil
	}
	a.Refusal = &api.Refusal{
		KeptUntil: now + 60,
		Reason:    fmt.Sprintf("the job starts by the deadline with a probability of %.2f at best, and %.2f was asked for", best, asked),
		Offers: []api.Offer{
			{Kind: api.OfferProb, Prob: math.Floor(best*100) / 100, BeginBy: r.BeginBy, HoldUntil: r.BeginBy, Nodes: r.Job.Nodes, Limit: r.Job.Limit, Worst: cost(r.Job.Nodes, 7200)},
			{Kind: api.OfferLater, Prob: asked, BeginBy: r.BeginBy + 5400, HoldUntil: r.BeginBy + 5400, Nodes: r.Job.Nodes, Limit: r.Job.Limit, Worst: cost(r.Job.Nodes, 3600)},
			{Kind: api.OfferFree, Prob: asked, BeginBy: r.BeginBy, Nodes: r.Job.Nodes, Limit: r.Job.Limit},
		},
	}
	if r.BestEffort {
		for i := range a.Refusal.Offers {
			a.Refusal.Offers[i].HoldUntil, a.Refusal.Offers[i].Worst = 0, api.Cost{}
		}
		a.Refusal.Offers = a.Refusal.Offers[:2]
	}
	return a, nil
}

// endOf forecasts the end the less the larger and longer the job is, and the later the more.
func endOf(r *api.PlanRequest, asked float64) (a api.PlanAnswer) {
	chance := func(deadline int64) float64 {
		return max(0, 1-3600*float64(r.Job.Nodes)/float64(max(1, deadline-now-r.Job.Limit)))
	}
	estimate := chance(r.FinishBy)
	later := api.Offer{Kind: api.OfferEnd, Prob: .95, FinishBy: now + r.Job.Limit + 20*3600*int64(r.Job.Nodes), Nodes: r.Job.Nodes, Limit: r.Job.Limit}
	if estimate >= asked {
		a.Plan = &api.Plan{
			BeginTime: now, TimeLimit: r.Job.Limit, WorkLimit: r.Job.Limit, FinishBy: r.FinishBy, Slot: now + 1200, Prob: asked, Estimate: estimate, OnMiss: api.OnMissRun,
			Work: cost(r.Job.Nodes, r.Job.Limit), Evidence: api.Evidence{Sample: 412, Class: "partition=main"},
		}
		a.Offers = []api.Offer{later}
		return a
	}
	a.Refusal = &api.Refusal{
		KeptUntil: now + 60,
		Reason:    fmt.Sprintf("an end by the deadline can be promised with probability %.2f at best, not %v", estimate, asked),
		Offers:    []api.Offer{later, {Kind: api.OfferTime, Prob: asked, FinishBy: r.FinishBy, Nodes: r.Job.Nodes, Limit: r.Job.Limit / 2}},
	}
	return a
}

func cost(nodes int32, seconds int64) api.Cost {
	return api.Cost{NodeSeconds: float64(nodes) * float64(seconds), BillingSeconds: 16 * float64(nodes) * float64(seconds)}
}

func (f *fakeVarqd) Size(_ context.Context, r api.SizeRequest) (a api.SizeAnswer, err error) {
	for i, s := range r.Sizes {
		if i > 0 && s.Nodes == r.Sizes[i-1].Nodes {
			return a, api.Fault(api.ErrInvalid, fmt.Sprintf("sizes[%d]: there are two of %d nodes", i, s.Nodes))
		}
		forecast := api.SizeForecast{Nodes: s.Nodes, Limit: s.Limit}
		if s.Nodes <= 64 {
			forecast.Wait = new(60*float64(s.Nodes) + float64(s.Limit)/10)
		}
		a.Sizes = append(a.Sizes, forecast)
	}
	return a, f.note("size of %d", len(r.Sizes))
}

// queue has jobs that wait of which different things are told: alice's, and one of bob's.
func queue() []api.Waiting {
	job := func(id int64, name, reason string, ahead int) api.Waiting {
		return api.Waiting{
			Job: id, Name: name, User: "alice", Account: "physics", Partition: "main", Nodes: 4, CPUs: 64, Limit: 7200, Since: now - 5*3600,
			Reason: reason, Ahead: ahead, AheadNodes: int64(ahead) * 4 * 7200, Evidence: api.Evidence{Sample: 800, Class: "partition=main"},
		}
	}
	by := func(hour, tonight, morning float64) []api.StartBy {
		return []api.StartBy{{At: now + 3600, Prob: hour}, {At: now + 11*3600, Prob: tonight}, {At: now + 19*3600, Prob: morning}}
	}
	next, promised, sweep, held, long := job(4709, "post", "Resources", 0), job(4711, "train", "Priority", 3), job(4720, "sweep", "Priority", 4),
		job(4730, "<b>last</b>", "Dependency", 0), job(4741, "large", "Priority", 9)
	next.Start, next.End, next.By = &api.Forecast{Median: now + 600, Late: now + 2400}, &api.Forecast{Median: now + 4200, Late: now + 8400}, by(.96, 1, 1)
	promised.Start, promised.End, promised.By = &api.Forecast{Median: now + 1800, Late: now + 7200}, &api.Forecast{Median: now + 5400, Late: now + 14400}, by(.61, .97, .99)
	promised.Expected, promised.Plan, promised.Prob, promised.BeginBy = now+2400, "abcdefgh4711", .9, now+4500
	promised.Help = []api.Help{{Limit: 3600, Start: api.Forecast{Median: now + 600, Late: now + 1200}}}
	sweep.Tasks, sweep.Start, sweep.End, sweep.By = "0-30%4", &api.Forecast{Median: now + 3000}, new(api.Forecast), by(.55, .8, .85)
	long.Start, long.End, long.By, long.Expected = &api.Forecast{Median: now + 9*3600, Late: now + 60*3600}, &api.Forecast{Median: now + 11*3600, Late: now + 62*3600}, by(0, .58, .7), now+7*3600
	held.Unknown = "it waits for other jobs (afterok:4711), and starts some time after these have ended as it needs"
	other := job(4800, "sim", "Priority", 2)
	other.User, other.Partition = "bob", "gpu"
	other.Start, other.End, other.By = &api.Forecast{Median: now + 5400, Late: now + 9000}, &api.Forecast{Median: now + 9000, Late: now + 16200}, by(.4, .99, 1)
	other.Plan, other.Prob, other.BeginBy = "abcdefgh4800", .9, now+9000
	return []api.Waiting{next, promised, sweep, other, long, held}
}

func (f *fakeVarqd) When(_ context.Context, q api.WhenQuery) (a api.When, err error) {
	a.AsOf, a.More, a.Learning = now-f.age, f.more, f.learning
	for _, w := range f.waiting {
		switch {
		case len(q.Jobs) > 0 && !slices.Contains(q.Jobs, w.Job), len(q.Partitions) > 0 && !slices.Contains(q.Partitions, w.Partition):
		case len(q.Jobs) == 0 && q.User != api.Everybody && w.User != cmp.Or(q.User, f.user), w.User != f.user && f.private:
		default:
			if w.User != f.user && !f.operator {
				w.Plan, w.Prob, w.BeginBy = "", 0, 0
			}
			a.Jobs = append(a.Jobs, w)
		}
	}
	return a, f.note("when %q %d %q", q.User, q.Jobs, q.Partitions)
}

func (f *fakeVarqd) Limits(context.Context) (api.Limits, error) {
	if f.older {
		return api.Limits{User: f.user}, f.note("limits")
	}
	return api.Limits{User: f.user, Partitions: []string{"gpu", "main"}, DefaultPartition: "main"}, f.note("limits")
}

// reservation is alice's, of 4 nodes for an hour.
func reservation(job int64, state string, begin, deadline int64) api.Reservation {
	r := api.Reservation{
		Plan: api.Plan{
			ID: fmt.Sprintf("abcdefgh%d", job), BeginTime: begin, TimeLimit: 3600 + deadline - begin, BeginBy: deadline, HoldUntil: deadline, WorkLimit: 3600,
			Prob: .9, Estimate: .934, OnMiss: api.OnMissRun, Earliest: begin, Work: cost(4, 3600),
		},
		Job: job, Name: "train", User: "alice", Account: "physics", Partition: "main", Size: workload.Size{Nodes: 4, CPUs: 64}, State: state, Promised: begin - 7200,
	}
	r.Set, r.Ceiling = api.Setting{BeginTime: begin, TimeLimit: r.TimeLimit}, r.Idle(begin)
	return r
}

// book has a reservation in each state that is shown differently, and one of bob's.
func book() []api.Reservation {
	pending := reservation(4711, api.StatePending, now+1800, now+4500)
	pending.Now = new(.957)
	holding := reservation(4712, api.StateHolding, now-2400, now+600)
	holding.Now, holding.Eligible, holding.Start = new(1.), now-2400, now-900
	endangered := reservation(4713, api.StatePending, now+1800, now+4500)
	endangered.Now, endangered.Set = new(.41), api.Setting{BeginTime: now + 2400, TimeLimit: 5700}
	endangered.Rescue = &api.Rescue{Prob: .912, Worst: endangered.Idle(now + 600)}
	promised := reservation(0, api.StatePromised, now+1800, now+9000)
	promised.ID = "aaaaaaaaaaaa"
	missed := reservation(4655, api.StateMissed, now-10800, now-8100)
	missed.Eligible, missed.Start, missed.WorkStart = now-10800, now-7500, now-7500
	missed.Note = "the queue was slower than forecast: 3 larger jobs came before"
	missed.Events = []api.Event{
		{At: now - 17000, Kind: "bound", Text: "job 4655"},
		{At: now - 12000, Kind: "moved", Text: "begin time moved from 2026-11-21T10:30:00Z to 2026-11-21T10:00:00Z: the forecast is 0.91"},
		{At: now - 7400, Kind: "settled", Text: "missed: started 00:10:00 after the deadline"},
	}
	kept := reservation(4601, api.StateKept, now-90000, now-87300)
	kept.Eligible, kept.Start, kept.WorkStart, kept.End = now-90000, now-88500, now-87300, now-84000
	other := reservation(4800, api.StatePending, now+1800, now+4500)
	other.User, other.Now = "bob", new(.93)
	back, never := promised, reservation(0, api.StateCancelled, now-10800, now-8100)
	back.ID, back.TakenBack, never.ID = "unusedunused", true, "neverneverne"
	running := reservation(4714, api.StateRunning, now-7200, now-1800)
	running.Eligible, running.Start, running.WorkStart = now-7200, now-3600, now-1800
	return []api.Reservation{pending, holding, endangered, promised, missed, kept, other, back, never, running}
}

func (f *fakeVarqd) Reservations(_ context.Context, q api.ReservationsQuery) ([]api.Reservation, error) {
	if err := f.note("reservations %q %d", q.User, q.Job); err != nil {
		return nil, err
	}
	if q.User != "" && !f.operator {
		return nil, api.Fault(api.ErrForbidden, "only operators see the reservations of others")
	}
	return slices.DeleteFunc(book(), func(r api.Reservation) bool {
		switch {
		case q.Job != 0:
			return r.Job != q.Job || r.User != f.user && !f.operator
		case q.User == "":
			return r.User != f.user || !q.All && r.State == api.StateKept
		}
		return !q.All && r.State == api.StateKept
	}), nil
}

// Flows has one of alice's, of which one job waits for another.
func (f *fakeVarqd) Flows(_ context.Context, q api.FlowsQuery) (api.Flows, error) {
	until := func(at int64) *api.Forecast { return &api.Forecast{Median: at, Late: at + 3600} }
	first := api.FlowJob{Job: 4711, Name: "<i>prepare</i>", User: "alice", Runs: true, End: until(now + 600), Critical: 1}
	second := api.FlowJob{Job: 4730, Name: "train", User: "alice", End: until(now + 7200), After: []api.Awaited{{Job: 4711, Kind: "afterok", By: until(now + 600)}}, Critical: 1}
	open := api.FlowPromise{
		ID: "flowflowflow", User: "alice", Name: "nightly", Jobs: []int64{4711, 4730}, FinishBy: now + 36000, Prob: .9, State: api.StatePending, Now: new(.93),
		Flow: &api.Flow{Jobs: []api.FlowJob{first, second}, End: until(now + 7200)},
	}
	all := []api.FlowPromise{open}
	if q.Old {
		all = append([]api.FlowPromise{{ID: "settledbefore", User: "alice", Jobs: []int64{17}, FinishBy: now - 86400, Prob: .9, State: api.StateKept}}, all...)
	}
	return api.Flows{Flows: all, AsOf: now}, f.note("flows %v", q.Old)
}

func (f *fakeVarqd) Cancel(_ context.Context, c api.Cancellation) error {
	return f.note("cancel plan %s", c.Plan)
}

func (f *fakeVarqd) Accept(_ context.Context, a api.Acceptance) (api.Accepted, error) {
	done := api.Accepted{Reservation: reservation(a.Job, api.StatePending, now+600, now+4500), Moved: true}
	done.Now, done.Ceiling = new(.912), a.Worst
	return done, f.note("accept %d %.0f", a.Job, a.Worst.NodeSeconds)
}

func (f *fakeVarqd) Report(_ context.Context, q api.ReportQuery) (r api.Report, err error) {
	if q.User != "" && !f.operator {
		return r, api.Fault(api.ErrForbidden, "only operators see the reservations of others")
	}
	r.By = q.By
	for i, group := range map[string][]string{"": {""}, "month": {"2026-10", "2026-11"}, "partition": {"main", "gpu"}}[q.By] {
		r.Rows = append(r.Rows, api.ReportRow{
			Group: group, Promises: 65 - 20*i, Kept: 56 - 18*i, Missed: 4, Cancelled: 3, Open: 2, Promised: .9, Estimated: .921,
			Delivered: float64(56-18*i) / float64(60-18*i), Low: .82, High: .98, Required: 1_234_567, Used: 1_543_210, Ratio: 1.25,
		})
	}
	return r, f.note("report %q %q", q.User, q.By)
}

func (f *fakeVarqd) Calibration(_ context.Context, q api.CalibrationQuery) (c api.Calibration, err error) {
	if f.unscored {
		return c, f.note("calibration %q", q.By)
	}
	groups := []string{""}
	if c.By = q.By; q.By == "month" {
		groups = []string{"2026-08", "2026-09", "2026-10", "2026-11"}
	}
	for i, group := range groups {
		row := api.CalibrationRow{Forecaster: "blend", Of: api.OfWait, Group: group, Forecasts: 40_000 + 1000*i, Weeks: 13, CalibrationError: .0123, Brier: .0871}
		for _, p := range []float64{.5, .75, .9, .95} {
			covered := p - .004*float64(i) + .002
			row.Quantiles = append(row.Quantiles, api.QuantileCoverage{Quantile: p, Covered: covered, Low: covered - .012, High: covered + .011, Pinball: 1800 * (1 - p)})
		}
		for bin := range 20 {
			p := (float64(bin) + .5) / 20
			count := 2000 + 500*max(0, bin-12)
			if f.young {
				count = 1 + bin/10
			}
			row.Reliability = append(row.Reliability, api.ReliabilityBin{Count: count, Mean: p, True: p + .03*math.Sin(4*p)})
		}
		c.Rows = append(c.Rows, row)
	}
	if q.By == "" {
		c.Worst = []api.GroupCoverage{{
			Forecaster: "blend", Of: api.OfWait, By: "hour", Value: "03", Jobs: 1712, Off: .21,
			Quantiles: []api.HeldQuantile{{Quantile: .5, Covered: .41, Low: .37, High: .45}, {Quantile: .95, Covered: .9, Low: .88, High: .92}},
		}}
	}
	return c, f.note("calibration %q", q.By)
}

func (f *fakeVarqd) Nodes(context.Context) (api.Nodes, error) {
	list := api.Nodes{At: now, Since: now - 30*86400, Failures: 12, Nodes: []api.Node{
		{Name: "node7", Risk: .3125, Why: "it failed of late", State: "draining", Reason: "ECC errors", By: "root", Since: now - 3600},
	}}
	for i := range 30 {
		list.Nodes = append(list.Nodes, api.Node{Name: fmt.Sprint("rack", i), Risk: .01, Why: "nodes fail", State: "up"})
	}
	return list, f.note("nodes")
}

func (f *fakeVarqd) Shadow(context.Context, api.ShadowQuery) (api.Shadow, error) {
	s := api.Shadow{Watching: true, Jobs: 1400, From: now - 14*86400, To: now - 60}
	for i, p := range []float64{.5, .75, .9, .95} {
		kept := 700 + 50*i
		s.Rows = append(s.Rows, api.ShadowRow{
			Prob: p, Jobs: 1400, Refused: 100 * (i + 1), Kept: kept, Missed: 900 - kept, Unknown: 400 - 100*i,
			Delivered: float64(kept) / 900, Low: float64(kept)/900 - .02, High: float64(kept)/900 + .02, Held: 3600 * float64(100*i), Ratio: .1 * float64(i),
		})
	}
	return s, f.note("shadow")
}

func (f *fakeVarqd) Health(context.Context) (api.Health, error) {
	return api.Health{OK: true, Version: "0.1.0", History: 4012}, f.note("health")
}

// newFake returns the pages for alice, and the varqd that they ask.
func newFake() (*site, *fakeVarqd) {
	varqd := &fakeVarqd{user: "alice", waiting: queue()}
	return &site{
		env:    &cli.Env{Now: func() int64 { return now }, Zone: time.UTC, Getenv: func(string) string { return "" }, Stdout: new(strings.Builder)},
		varqd:  varqd,
		groups: func(context.Context, []api.Reservation) map[string]api.GroupState { return nil },
		cancel: func(_ context.Context, job int64) error { return varqd.note("scancel %d", job) },
	}, varqd
}
