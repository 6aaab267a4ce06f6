package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/flow"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/dependency"
	"github.com/varq-project/varq/predictor/workload"
)

// mostAwaited is the greatest number of jobs of one answer, with those that they wait for, directly
// or not, of which anything is forecast.
const mostAwaited = 500

// flows forecasts jobs that wait for others, with all that these wait for.
type flows struct {
	*waiting
	*flow.Flow
	*index
	known map[int64]*awaited
	holds map[int64]workload.Claim     // of promised jobs whose work begins later than they
	rates map[workload.Request]float64 // of failures, of jobs that wait, by what they ask for
}

// awaited is what is known of a job in a flow.
type awaited struct {
	place    int    // in the flow, if unknown is ""
	unknown  string // why nothing is forecast of it
	root     string // the job that it waits for, by way of others or not, of which nothing is
	evidence forecast.Evidence
	success  float64
	after    []api.Awaited
	series   series // if it waits
}

// flowsOf returns the flows of a queue.
func flowsOf(w *waiting) *flows {
	var learnt *flow.Learnt
	if w.desk.Behind != nil {
		learnt = w.desk.Behind()
	}
	return &flows{waiting: w, index: w.queue.index(), Flow: flow.New(flow.AlikeWaits, learnt, w.now), known: map[int64]*awaited{}, holds: holdsOf(w.claims), rates: map[workload.Request]float64{}}
}

// holdsOf returns the claims of promised jobs whose work begins later than they have their nodes,
// by job.
func holdsOf(claims []workload.Claim) map[int64]workload.Claim {
	holds := map[int64]workload.Claim{}
	for i := range claims {
		if c := &claims[i]; c.Job != 0 && !c.Plain && c.Start < c.From {
			holds[c.Job] = *c
		}
	}
	return holds
}

// flows returns the flows of the queue, for a user. The error is a fault of package api.
func (v *view) flows(user string) (*flows, error) {
	queue := v.desk.queue.Load()
	if queue == nil {
		return nil, api.Fault(api.ErrUnavailable, "varqd has not read the queue yet: try again in a moment")
	}
	return flowsOf(&waiting{view: v, user: user, queue: queue, room: v.desk.room(v.desk.held(), false)}), nil
}

// of returns what is known of a job of the queue, and adds it to the flow.
func (f *flows) of(j *slurm.QueueEntry) *awaited {
	if a := f.known[j.ID]; a != nil {
		return a
	}
	a := &awaited{unknown: "it waits for itself"} // until more is known
	f.known[j.ID] = a
	if len(f.known) > mostAwaited {
		a.unknown = fmt.Sprintf("it is one of more than %d jobs that this answer is about, or that these wait for", mostAwaited)
		return a
	}
	job := flow.Job{ID: j.ID, Array: j.ArrayJob, Program: programOf(j), Earliest: max(f.now, j.Eligible), Success: f.desk.Outlook.Success(&j.Job)}
	a.success = job.Success
	if j.Start != 0 {
		if a.unknown = f.running(j, &job); a.unknown == "" {
			a.place = f.Add(job)
		}
		return a
	}
	a.series = series{Job: job}
	if a.unknown = f.pending(j, &a.series, a); a.unknown == "" {
		a.place = a.series.add(f, int32(j.Count()))
	}
	return a
}

// running sets how much longer a job runs. It says why if that is not known.
func (f *flows) running(j *slurm.QueueEntry, job *flow.Job) (unknown string) {
	if j.Suspended {
		return "it is suspended"
	}
	q := forecast.Question{Request: j.Request, Now: f.now, Submit: f.now, Job: j.ID}
	began := j.Start
	if c, held := f.holds[j.ID]; held {
		began, q.Limit = c.From, c.Limit
	}
	age := max(0, f.now-began)
	job.Started, job.Earliest, job.HoldUntil, job.Limit = j.Start, f.now, began, max(1, q.Limit-age)
	run, ok := f.desk.Outlook.Run(&q, age, completion.Circumstances{})
	if !ok {
		return "too little is known yet of how long such jobs run"
	}
	if job.Run = run; j.Completing {
		job.Run = func(float64) float64 { return 0 }
		return ""
	}
	if asked, err := f.asked(j); err == nil {
		as, left := f.as(j, asked), max(1, j.Start+j.Limit-f.now)
		job.FailureRate = f.desk.hazard.failures(j.On, window{0, left}) / float64(left)
		job.Wait = func(eligible int64) delay.Distribution {
			wait, _ := f.waitFrom(eligible, 0, j, as, 0)
			return wait.Wait
		}
	}
	return ""
}

// programOf returns a number for what a job runs, and for whom, as far as its name tells.
func programOf(j *slurm.QueueEntry) uint64 {
	hash := fnv.New64a()
	hash.Write([]byte(j.User + " " + j.Name))
	return hash.Sum64()
}

// failureRate returns the expected number of failures per second of the nodes of a job that waits.
func (f *flows) failureRate(as *limits.Job) float64 {
	rate, known := f.rates[as.Request]
	if !known {
		rate = f.desk.hazard.rate(as, &as.Request, nil, as.Limit)
		f.rates[as.Request] = rate
	}
	return rate
}

// pending sets what a job that waits waits for, how long it waits after that, and how long it runs.
// It says why if that is not known.
func (f *flows) pending(j *slurm.QueueEntry, s *series, a *awaited) (unknown string) {
	if unknown = f.keeps(j); unknown != "" {
		return unknown
	}
	asked, err := f.asked(j)
	if err != nil {
		return err.Error()
	}
	as := f.as(j, asked)
	if rule := ruleAgainst(as); rule != nil {
		return rule.Says
	}
	if unknown = f.conditions(j, s, a); unknown != "" {
		return unknown
	}
	s.atOnce = max(1, as.MostTogether(tasks(j)))
	if isFull(j) && !s.places(f, j) {
		return "its array has as many tasks running as it lets run at once, and too little is known of when these end"
	}
	all := rounds(int32(j.Count()), s.atOnce)
	// the first forecast says whether anything is known
	from, waited := max(f.now, j.Eligible), int64(0)
	if j.Dependency == "" && !s.full {
		waited = from - j.Eligible
	}
	wait, unknown := f.waitFrom(from, waited, j, as, all)
	if unknown != "" {
		return unknown
	}
	a.evidence = wait.Evidence
	s.Wait = func(eligible int64) delay.Distribution {
		if eligible <= from {
			return wait.Wait
		}
		wait, _ := f.waitFrom(eligible, 0, j, as, all)
		return wait.Wait
	}
	s.FailureRate = float64(min(int32(j.Count()), s.atOnce)) * f.failureRate(as)
	q := forecast.Question{Request: as.Request, Now: f.now, Submit: from, Job: j.ID}
	if c, held := f.holds[j.ID]; held {
		s.HoldUntil, q.Limit = c.From, c.Limit
	}
	s.Limit = q.Limit // of one round
	s.run = func(c completion.Circumstances) func(prob float64) float64 {
		run, _ := f.desk.Outlook.Run(&q, 0, c) // it is known if the wait is
		return run
	}
	return ""
}

// events are what dependencies name. A job whose data are staged out has ended by then.
var events = map[dependency.Kind]flow.Event{
	dependency.Begun: flow.Begun, dependency.Ended: flow.Ended, dependency.Buffered: flow.Ended, dependency.Singleton: flow.Ended,
	dependency.Succeeded: flow.Succeeded, dependency.Corresponding: flow.Succeeded, dependency.Failed: flow.Failed,
}

// conditions sets what a job waits for. It says why if that cannot be forecast.
func (f *flows) conditions(j *slurm.QueueEntry, s *series, a *awaited) (unknown string) {
	d, err := dependency.Parse(j.Dependency)
	if err != nil {
		return "its dependency is not understood: " + err.Error()
	}
	if d.Any {
		s.Needed = 1
	}
	for _, c := range d.Conditions {
		if c.Never {
			continue // another is enough, or keeps would have said so
		}
		on := f.awaitedBy(j, c)
		if len(on) == 0 {
			if d.Any { // it has come true
				s.Conditions = nil
				return ""
			}
			continue
		}
		for _, other := range on {
			first := &awaited{unknown: "it is not yours to see"}
			if f.sees(other) {
				first = f.of(other)
			}
			if first.unknown != "" {
				if d.Any {
					continue
				}
				if a.root = first.root; a.root != "" {
					return "it waits, by way of others, for " + a.root
				}
				a.root = fmt.Sprintf("job %s, of which nothing is forecast: %s", squeueID(other), first.unknown)
				return "it waits for " + a.root
			}
			after := flow.Condition{Event: events[c.Kind], Job: first.place, Delay: c.Delay}
			if c.Kind == dependency.Corresponding && !d.Any && j.ArrayJob != 0 {
				s.correspond(f, j, other, first, after)
			} else {
				s.Conditions = append(s.Conditions, after)
			}
			a.after = append(a.after, f.tellAwaited(other, first, c))
		}
	}
	if d.Any && len(s.Conditions) == 0 {
		return "of none of the jobs that it waits for (" + j.Dependency + ") anything is forecast"
	}
	return ""
}

// sees reports whether the user may see a job of the queue. Of others nothing is told, and nothing
// that follows from them.
func (f *flows) sees(j *slurm.QueueEntry) bool {
	return j.User == f.user || f.desk.Premises.MaySeeJobs(f.user)
}

// tellAwaited tells of one that a job waits for.
func (f *flows) tellAwaited(j *slurm.QueueEntry, is *awaited, c dependency.Condition) api.Awaited {
	courses := f.Courses(is.place)
	times := courses.End
	told := api.Awaited{Job: j.ID, Array: j.ArrayJob, Tasks: j.ArrayTasks, Kind: string(c.Kind), Delay: c.Delay, Prob: 1}
	switch c.Kind {
	case dependency.Begun:
		times = courses.Start
	case dependency.Succeeded, dependency.Corresponding:
		told.Prob = is.success
	case dependency.Failed:
		told.Prob = 1 - is.success
	}
	told.By = forecastOf(flow.TimesOf(times))
	return told
}

// squeueID returns a job's number as squeue shows it.
func squeueID(j *slurm.QueueEntry) string {
	if j.ArrayJob == 0 {
		return strconv.FormatInt(j.ID, 10)
	}
	return fmt.Sprintf("%d_[%s]", j.ArrayJob, j.ArrayTasks)
}

// forecastOf returns the forecast of something that happens at some times.
func forecastOf(t flow.Times) *api.Forecast {
	at := func(q float64) int64 {
		if at := t.Quantile(q); at != flow.Never {
			return at
		}
		return 0
	}
	return &api.Forecast{Median: at(.5), Late: at(late)}
}

// waitForOthers takes in the jobs that the job of a request is to wait for. It returns a refusal if
// what they do cannot be forecast. The error is a fault of package api.
func (q *question) waitForOthers() (*api.Refusal, error) {
	if q.asked.Dependency == "" {
		return nil, nil
	}
	d, err := dependency.Parse(q.asked.Dependency)
	if err != nil {
		return nil, api.Fault(api.ErrInvalid, "dependency: "+err.Error())
	}
	user := q.request.Job.User
	f, err := q.flows(user)
	if err != nil {
		return nil, err
	}
	j := &slurm.QueueEntry{Name: q.asked.Name, Dependency: q.asked.Dependency}
	j.User, j.ID = user, math.MaxInt64 // the newest
	var unseen []int64
	for _, c := range d.Conditions {
		if c.Job != 0 && len(f.awaitedBy(j, c)) == 0 {
			unseen = append(unseen, c.Job)
		}
	}
	if err := f.readNew(q.ctx, unseen, mostNew); err != nil {
		return nil, err
	}
	if why := f.never(q.ctx, &d); why != "" {
		return &api.Refusal{Reason: fmt.Sprintf("this job would never start: %s (--dependency=%s)", why, q.asked.Dependency)}, nil
	}
	for _, c := range d.Conditions {
		for _, other := range f.awaitedBy(j, c) {
			if !f.sees(other) {
				return &api.Refusal{Reason: fmt.Sprintf("job %d is not yours to see, so nothing is promised of one that waits for it", c.Job)}, nil
			}
		}
	}
	after, unknown := f.eligible(j)
	if unknown != "" {
		return &api.Refusal{Reason: "nothing is promised of this job, as " + unknown}, nil
	}
	if q.eligible = after.times; q.eligible != nil {
		q.Forecaster = uncertain{q.Forecaster, q.eligible}
		q.answer.Eligible, q.answer.Lost = after.forecast, after.lost
		q.from = max(q.now, after.forecast.Median)
		room := q.Room
		q.Room = func(c workload.Claim, now int64, least float64) workload.Room {
			later := max(0, q.from-c.From) // its work hardly begins before
			c.Start, c.From = c.Start+later, c.From+later
			return room(c, now, least)
		}
	}
	return nil, nil
}

// mostNew is of how many jobs of a dependency Slurm is asked that the queue does not show.
const mostNew = 50

// readNew adds jobs that were submitted since the last look at the queue, and those for which
// these wait: so many at most. Those that Slurm does not show in the queue either are over. The
// error is a fault of package api.
func (f *flows) readNew(ctx context.Context, jobs []int64, most int) error {
	found, err := f.index.readNew(ctx, f.desk.Job, jobs, most)
	switch {
	case errors.Is(err, errTooManyNew):
		return api.Fault(api.ErrInvalid, fmt.Sprintf("more than %d of these jobs are not in the queue, as far as varqd has read it: ask again in a minute", most))
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		return api.Fault(api.ErrUnavailable, "Slurm does not tell of a job now: try again in a moment")
	}
	f.index = f.with(found)
	return nil
}

// never says which of the jobs that a dependency names has ended as it must not, so that the job
// that waits for them never starts: a clause. It is "" if there is none, as far as Slurm shows.
func (f *flows) never(ctx context.Context, d *dependency.Dependency) (why string) {
	for _, c := range d.Conditions {
		if says := f.endedOtherwise(ctx, c); says != "" {
			why = says
		} else if d.Any {
			return ""
		}
	}
	return why
}

// endedOtherwise says that the job of a condition has ended as it must not, or "".
func (f *flows) endedOtherwise(ctx context.Context, c dependency.Condition) string {
	event := events[c.Kind]
	if f.desk.Ended == nil || event != flow.Succeeded && event != flow.Failed || c.Task >= 0 || len(f.index.of(c.Job)) > 0 {
		return ""
	}
	switch j, err := f.desk.Ended(ctx, c.Job); {
	case err != nil:
	case event == flow.Succeeded && j.State != workload.Completed:
		return fmt.Sprintf("job %d has ended already (%s), and not with exit code 0", c.Job, j.State)
	case event == flow.Failed && j.State == workload.Completed && j.Array == 0:
		return fmt.Sprintf("job %d has ended already, with exit code 0", c.Job)
	}
	return ""
}

// afterOthers is when a job becomes eligible after others.
type afterOthers struct {
	times    sometime // nil if it waits for nothing
	forecast *api.Forecast
	lost     float64 // the probability that it never does
}

// eligible returns when a job becomes eligible, or all tasks of an array. It says why if that is
// not known.
func (f *flows) eligible(j *slurm.QueueEntry) (after afterOthers, unknown string) {
	next, a := series{Job: flow.Job{ID: j.ID, Earliest: f.now}}, awaited{}
	if unknown := f.conditions(j, &next, &a); unknown != "" {
		return after, unknown
	}
	for _, c := range next.corresponding {
		next.Conditions = append(next.Conditions, c.all)
	}
	if len(next.Conditions) == 0 {
		return after, ""
	}
	next.Wait = func(int64) (never delay.Distribution) { return never }
	next.Run = func(float64) float64 { return 0 }
	place := f.Add(next.Job)
	times := flow.TimesOf(f.Courses(place).Eligible)
	return afterOthers{times.Shares(shares), forecastOf(times), f.Lost([]int{place})}, ""
}

// after replaces the Forecaster by one of a job of the queue that waits for others. It reports
// false if nothing is known of these.
func (v *view) after(j *slurm.QueueEntry) bool {
	f, err := v.flows(j.User)
	if err != nil {
		return false
	}
	after, unknown := f.eligible(j)
	if after.times != nil {
		v.Forecaster = uncertain{v.Forecaster, after.times}
	}
	return unknown == ""
}

// prospect is Desk.prospect for a job that may wait for others. wait is then about the time from
// which on it is likely to be eligible.
func (q *question) prospect(r *trajectory.Request, circumstances completion.Circumstances, avoided []string, claims []workload.Claim, wait *forecast.Answer) (p ending, blocked *api.Blocked, ok bool) {
	room := q.desk.room(claims, r.ID == 0)
	prospect := func(r *trajectory.Request, wait *forecast.Answer) (ending, *api.Blocked, bool) {
		p, blocked, ok := q.desk.prospect(q.Cluster, r, 0, circumstances, avoided, room, wait)
		if q.asked.Advisory {
			p.Prospect, p.bound = p.forecast, p.forecast
		}
		return p, blocked, ok
	}
	if q.eligible == nil {
		return prospect(r, wait)
	}
	var endings []ending
	waits := make([]forecast.Answer, len(q.eligible))
	for i, at := range q.eligible {
		if at == flow.Never {
			break
		}
		later := *r
		later.Now = max(r.Now, at)
		each, why, ok := prospect(&later, &waits[i])
		if !ok {
			*wait = waits[i]
			return p, why, false
		}
		endings, blocked = append(endings, each), cmp.Or(blocked, why)
	}
	if len(endings) == 0 {
		wait.Down = "the jobs that it waits for hardly ever do what it needs"
		return p, nil, false
	}
	middle := len(endings) / 2
	*wait = waits[middle]
	return q.eligible.mix(r.Now, endings), blocked, true
}

// graph returns the flows of the queue.
func (w *waiting) graph() *flows {
	if w.flows == nil {
		w.flows = flowsOf(w)
	}
	return w.flows
}

// follow sets what is forecast of a part that waits for others, or says why nothing is.
func (w *waiting) follow(told *api.Waiting, p part) (unknown string) {
	j := w.jobs[p.job]
	a := w.graph().of(j)
	if a.unknown != "" {
		return a.unknown
	}
	courses := w.flows.Courses(a.place)
	start, end := courses.Start, courses.End
	switch all := int32(j.Count()); {
	case p.through == p.before+1 && all > 1:
		start, end = a.series.after(w.flows, p.before)
	case p.before > 0:
		start, _ = a.series.after(w.flows, p.before)
		fallthrough
	case p.through < all:
		end = w.flows.Courses(a.series.add(w.flows, p.through)).End
	}
	if a.series.full {
		told.Why = append(told.Why, fmt.Sprintf("its array lets no more tasks run at once than run now (%d)", a.series.atOnce))
	}
	told.After, told.AfterAny = a.after, strings.Contains(j.Dependency, "?")
	starts := flow.TimesOf(start)
	told.Eligible, told.Start, told.End = forecastOf(flow.TimesOf(courses.Eligible)), forecastOf(starts), forecastOf(flow.TimesOf(end))
	told.Evidence, told.Lost = apiEvidence(&a.evidence), w.flows.Lost([]int{a.place})
	for _, at := range times(w.now, w.desk.Zone) {
		told.By = append(told.By, api.StartBy{At: at, Prob: starts.Prob(at)})
	}
	return ""
}
