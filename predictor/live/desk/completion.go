package desk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/promise/negotiate"
	"github.com/varq-project/varq/predictor/promise/offer"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// planCompletion is plan for a request about the end of a job. The job becomes eligible as soon as
// it is in the way of no promise made before, and is not changed, so that no nodes idle.
func (d *Desk) planCompletion(ctx context.Context, user string, req *api.PlanRequest, promise bool) (api.PlanAnswer, error) {
	if promise { // from here on, so that two promises never use the same room
		granted, err := d.StartGranting(ctx)
		if err != nil {
			return api.PlanAnswer{}, err
		}
		defer granted()
	}
	v, err := d.view(ctx, user, req)
	if err != nil {
		return api.PlanAnswer{}, err
	}
	q := v.question(user, req)
	r := &q.request
	if no := q.terms.admit(max(r.Prob, req.Risk)); no != nil {
		return q.refuse(no)
	}
	switch no, err := q.waitForOthers(); {
	case err != nil:
		return api.PlanAnswer{}, err
	case no != nil:
		return q.refuse(no)
	}
	no := q.admitEnd()
	if err := q.err(); err != nil {
		return api.PlanAnswer{}, err
	}
	if no != nil {
		return q.refuse(apiRefusal(no))
	}
	if missing := q.Cluster.Job(r.Job, r.Needs).Missing(); missing != "" {
		return q.refuse(&api.Refusal{Reason: missing})
	}
	if !req.Advisory {
		r.Now = d.outOfTheWay(r, q.Room, q.now)
	}
	q.from = max(q.from, r.Now)
	plan, refusal := q.agreeOnEnd()
	if refusal == nil && d.Shadow && !req.Advisory {
		refusal = onlyWatching(plan, d.Zone)
	}
	if refusal == nil && !req.Advisory {
		refusal, err = d.checkRules(ctx, q.terms, plan)
	}
	if promise && refusal == nil && err == nil {
		refusal, err = q.promise(plan, &trajectory.Answer{Job: r.Job, Pieces: r.Pieces, TasksNodes: r.TasksNodes})
	}
	switch {
	case err != nil:
		return api.PlanAnswer{}, err
	case refusal != nil:
		return q.refuse(refusal)
	}
	q.answer.Plan, q.answer.MayChange = plan, len(q.Cluster.SubmitPlugins) > 0
	return q.answer, nil
}

// mostDelays is how many times are tried at most at which a job may become eligible. At a time at
// which it is in the way of others it has less room than without them, by inTheWay at least.
const (
	mostDelays = 32
	inTheWay   = .05
)

// outOfTheWay returns the first time from which on the job of a request, or a task of its array,
// may be eligible without taking the room that others have been promised or offered: when it is
// likely to start, be it early or late, it has as much room beside them as without them. It
// returns the present time if none is found within the horizon.
func (d *occupancy) outOfTheWay(r *trajectory.Request, room func(workload.Claim, int64, float64) workload.Room, now int64) int64 {
	free := d.room(d.held(), true)
	claims := []workload.Claim{{Request: r.All(), Pieces: r.Pieces.Times(max(1, r.Tasks))}}
	if r.Tasks > 1 {
		claims = append(claims, workload.Claim{Request: r.Job, Pieces: r.Pieces})
	}
	at := now
	for range mostDelays {
		later := at
		for _, c := range claims {
			for _, likely := range []float64{.5, .95} {
				c.Start = roomySince(c, free, now, at, likely)
				c.From = c.Start
				if beside := room(c, now, 0); beside.Within(c.Start, c.Start) < free(c, now, 0).Prob-inTheWay {
					later = max(later, next(&beside, c.Start))
				}
			}
		}
		if later == at {
			return at
		}
		if at = later; at > now+d.Horizon {
			break
		}
	}
	return now
}

// Sooner returns from when on e's job, which waits for its begin time, may be eligible without
// being in the way of others. The error is a fault of package api.
func (d *occupancy) Sooner(ctx context.Context, e *ledger.Entry, now int64) (int64, error) {
	claims, err := d.claims(ctx, now, e.ID)
	if err != nil {
		return 0, err
	}
	claims, _ = d.withOffers(claims, e.User, d.offered.standing(e.User, nil, now), now)
	claims = slices.DeleteFunc(claims, func(c workload.Claim) bool { return c.Job == e.Job })
	r := trajectory.Request{Job: e.Request(e.WorkLimit), Pieces: e.Pieces, Tasks: cmp.Or(e.AtOnce, e.Tasks), TasksNodes: e.TasksNodes, Now: now}
	return d.outOfTheWay(&r, d.room(claims, true), now), nil
}

// roomySince returns the first time, from one on, at which a job has room with a probability, or
// the last one at which it may have more.
func roomySince(c workload.Claim, room func(workload.Claim, int64, float64) workload.Room, now, from int64, prob float64) int64 {
	for range mostDelays {
		c.Start, c.From = from, from
		there := room(c, now, 0)
		later := next(&there, from)
		if there.Prob >= prob || later == from {
			break
		}
		from = later
	}
	return from
}

// next returns the first time after one from which on there may be more room, or that time itself.
func next(room *workload.Room, after int64) int64 {
	first := after
	for _, at := range room.Next {
		if at > after && (first == after || at < first) {
			first = at
		}
	}
	return first
}

// admitEnd is Admit of the request for as many tasks of its array as can run at once.
func (q *question) admitEnd() *trajectory.Refusal {
	r := &q.request
	fits := func(n int) *trajectory.Refusal {
		some := *r
		some.Tasks = int32(n)
		no := q.Admit(&some)
		if no == nil {
			*r = some
		}
		return no
	}
	no := fits(int(r.Tasks))
	if no == nil || no.Limit == "" || r.Tasks <= 1 {
		return no
	}
	// the limit may be one on what runs at once
	most := sort.Search(int(r.Tasks)-1, func(i int) bool { return fits(i+1) != nil })
	return fits(max(1, most))
}

// agreeOnEnd returns a plan for the end on which the user and the forecast agree, or a refusal. It
// also sets the answer's Offers to other ends.
func (q *question) agreeOnEnd() (*api.Plan, *api.Refusal) {
	d, r, req := q.desk, &q.request, q.asked
	if req.FinishBy == 0 {
		r.Prob = req.Risk
	}
	avoided, safer := d.hazard.avoided(q.Cluster, &r.Job, req, duringWork(0, &r.Job))
	var wait forecast.Answer
	circumstances := completion.Circumstances{Checkpoints: req.CheckpointInterval}
	if req.Array.Tasks > 1 { // one task is as a single job
		circumstances.Tasks, circumstances.Rounds = req.Array.Tasks, rounds(req.Array.Tasks, r.Tasks)
	}
	prospect, blocked, ok := q.prospect(r, circumstances, avoided, q.taken, &wait)
	if !ok {
		return nil, &api.Refusal{Reason: cmp.Or(wait.Down, q.young(int(wait.Sample)), "nothing is known yet of how long such jobs wait; submit the job without --finish-by, and ask again once more jobs have run")}
	}
	latest := r.Now + d.Horizon + int64(max(1, circumstances.Rounds))*r.Job.Limit
	agreed := negotiate.Ask(prospect, negotiate.Request{Now: r.Now, Deadline: req.FinishBy, Prob: r.Prob, Given: r.Given, Risk: req.Risk, Latest: latest})
	var others []api.Offer
	for _, o := range agreed.Others {
		others = append(others, api.Offer{
			Kind: api.OfferEnd, Prob: o.Prob, Estimate: o.Estimate, FinishBy: o.Deadline, Nodes: r.Job.Nodes, CPUs: r.Job.CPUs, Limit: r.Job.Limit,
		})
	}
	if agreed.Promise == nil {
		others = append(others, otherWays(r, req, func(r *trajectory.Request, c completion.Circumstances) (negotiate.Prospect, bool) {
			c.Tasks, c.Rounds = circumstances.Tasks, circumstances.Rounds
			p, _, ok := q.prospect(r, c, avoided, q.taken, new(forecast.Answer))
			return p, ok
		})...)
		_, waking := q.Cluster.Job(r.Job, r.Needs).Waking()
		slot := likelyStart(q.from, &wait)
		for i := range others {
			claim := workload.Claim{Request: r.All(), Pieces: r.Pieces.Times(max(1, r.Tasks)), Start: slot, From: slot}
			claim.Limit = others[i].Limit
			others[i].Claim = claim
		}
		within, kept := float64(cmp.Or(req.FinishBy, latest)-r.Now), ""
		if q.until != 0 {
			free, _, ok := q.prospect(r, circumstances, avoided, q.claims, new(forecast.Answer))
			kept = q.keptUnless(!ok || free.Prob(within) <= prospect.Prob(within))
		}
		careful := trajectory.Careful(prospect.estimate(within))
		reason := cmp.Or(q.young(prospect.sample), agreed.Reason+q.behind()+because(blocked, prospect, &waking, circumstances.Tasks > 0, careful)+kept)
		if d.Outlook.Learning() {
			reason += stillLearning
		}
		return nil, &api.Refusal{Reason: reason, Offers: others}
	}
	q.answer.Offers = others
	plan := q.endPlan(agreed.Promise, prospect, &wait)
	plan.OnMiss = cmp.Or(req.OnMiss, api.OnMissRun)
	plan.Learning, plan.AsOf = d.Outlook.Learning(), d.Outlook.Seen()
	plan.Cluster = stay(q.Cluster)
	q.asOffered(&plan)
	plan.Exclude, plan.Safer, plan.CheckpointInterval = avoided, safer, req.CheckpointInterval
	return &plan, nil
}

// rounds returns how often tasks have to run until all have, if so many run at once.
func rounds(all, atOnce int32) int32 {
	atOnce = max(1, atOnce)
	return (all + atOnce - 1) / atOnce
}

// starting is what is forecast of the start of a job.
type starting struct {
	question forecast.Question
	job      *limits.Job
	windows  []limits.Window // in which it cannot run
	blocked  *api.Blocked    // the first window that keeps it from starting, or nil
	first    int64           // when the first of its rounds may start
	closed   []limits.Window // that its start is kept out of
	room     func(at int64) workload.Room
}

// starts sets wait to the forecast of the rest of the wait of the job of r where there is room, or
// of the tasks that run at once in the first of some rounds. The job has waited for some seconds.
// It reports false if too little is known; wait.Down may then say why.
func (d *occupancy) starts(c *limits.Cluster, r *trajectory.Request, waited int64, rounds int32, room func(c workload.Claim, now int64, least float64) workload.Room, wait *forecast.Answer) (s starting, ok bool) {
	all, pieces, now := r.All(), r.Pieces.Times(max(1, r.Tasks)), min(r.Now, d.Now())
	s.question = forecast.Question{Request: all, Now: now, Submit: r.Now, Job: r.ID}
	if !d.Outlook.Wait(&s.question, waited, wait) {
		return s, false
	}
	s.job = c.Job(all, r.Needs)
	s.windows = s.job.Blocked(pieces)
	s.first, s.closed = r.Now, s.windows
	if rounds <= 1 {
		s.blocked = postpone(wait, s.windows, r.Now, all.Limit)
	} else { // outside of the windows, which pausing counts
		s.first, s.closed = clearOf(s.windows, r.Now, all.Limit), nil
		if len(s.windows) > 0 {
			s.blocked = blockedBy(&s.windows[0])
		}
	}
	s.room = func(at int64) workload.Room {
		return room(workload.Claim{Request: all, Pieces: pieces, Job: r.ID, From: at}, now, 0)
	}
	limitToRoom(&wait.Wait, func(at int64) float64 { return s.room(at + s.first - r.Now).Prob }, r.Now)
	waking, _ := s.job.Waking()
	wake(wait, waking)
	return s, true
}

// prospect forecasts the end of the job of r where there is room, or that of the tasks that run at
// once and of as many rounds of them as the circumstances say. The job has waited for some seconds,
// and is to avoid some nodes. prospect sets wait to the forecast of the rest of the wait, and
// computes the circumstances' FailureRate. It also returns the first window that keeps the job from
// starting, or nil. It reports false if too little is known; wait.Down may then say why. A job
// without an id is to be submitted now, and has the prospect that may be promised.
func (d *Desk) prospect(c *limits.Cluster, r *trajectory.Request, waited int64, circumstances completion.Circumstances, avoided []string, room func(c workload.Claim, now int64, least float64) workload.Room, wait *forecast.Answer) (p ending, blocked *api.Blocked, ok bool) {
	s, ok := d.starts(c, r, waited, circumstances.Rounds, room, wait)
	if !ok {
		return p, nil, false
	}
	circumstances.FailureRate = d.hazard.rate(s.job, &s.job.Request, avoided, r.Job.Limit)
	q := s.question
	q.Request = r.Job // each task runs as a job like it
	end := func(wait *delay.Distribution) (p negotiate.Prospect) {
		p, ok = d.Outlook.Prospect(&q, circumstances, wait)
		if ok && circumstances.Rounds > 1 {
			p = pausing{p, s.windows, r.Now, s.job.Limit}
		}
		return p
	}
	if r.ID != 0 {
		// the work begins when the job has started, but not before
		hold := max(0, r.HoldUntil-r.Now)
		work := afterHold(&wait.Wait, hold)
		q.Limit = max(1, q.Limit-max(0, r.HoldUntil-(r.Now-waited)))
		p.forecast = delayed{end(&work), hold}
		p.Prospect = p.forecast
		return p, s.blocked, ok
	}
	w := d.waits(r, s.first, s.job, s.closed, s.room)
	return ending{end(&w.promised), end(&w.forecast), end(&w.bound), w.sample}, s.blocked, ok
}

// otherWays returns offers of the end that r was refused. One has a shorter time limit, which fits
// into more gaps and which jobs like r's hardly ever reach. Another has checkpoints, if failures
// cost too much.
func otherWays(r *trajectory.Request, req *api.PlanRequest, forecasts func(*trajectory.Request, completion.Circumstances) (negotiate.Prospect, bool)) (offers []api.Offer) {
	if req.FinishBy == 0 {
		return nil
	}
	with := func(limit, checkpoints int64) (enough bool) {
		changed := *r
		changed.Job.Limit = limit
		p, ok := forecasts(&changed, completion.Circumstances{Checkpoints: checkpoints})
		return ok && p.TimeOut() <= api.TimesOutOften && p.Prob(float64(req.FinishBy-r.Now-offer.Patience)) >= offer.Enough(r.Prob)
	}
	same := api.Offer{Prob: r.Prob, FinishBy: req.FinishBy, Nodes: r.Job.Nodes, CPUs: r.Job.CPUs, Limit: r.Job.Limit}
	for _, share := range shorter {
		if limit := slurmtime.Minutes(int64(share*float64(r.Job.Limit))) * 60; limit < r.Job.Limit && with(limit, req.CheckpointInterval) {
			less := same
			less.Kind, less.Limit = api.OfferTime, limit
			offers = append(offers, less)
			break
		}
	}
	for _, interval := range oftener {
		if interval < r.Job.Limit && (req.CheckpointInterval == 0 || interval < req.CheckpointInterval) && with(r.Job.Limit, interval) {
			saves := same
			saves.Kind, saves.CheckpointInterval = api.OfferSaves, interval
			offers = append(offers, saves)
			break
		}
	}
	return offers
}

var (
	// shares of the time limit that are tried, the longest first
	shorter = [...]float64{.75, .5, .25, .125}
	// seconds between checkpoints that are tried, the longest first
	oftener = [...]int64{3600, 600}
)

// because tells what else lowers the probability of an end, as the end of a sentence. waking is the
// rule by which nodes are powered up, or an empty rule. Tasks of an array have ended where their
// time limit stops them.
func because(blocked *api.Blocked, p negotiate.Prospect, waking *limits.Rule, array bool, careful string) string {
	switch {
	case blocked != nil:
		return "; " + blocked.Why
	case waking.Says != "":
		return "; " + waking.Says
	case p.TimeOut() > api.TimesOutOften && !array:
		return fmt.Sprintf("; jobs like it are stopped at their time limit with probability %.2f, before their work is done: ask for a longer one (--time) if that may happen", p.TimeOut())
	case careful != "":
		return "; " + careful
	}
	return ""
}

// behind is the clause of a refusal that says from when on the job may start, if it has to go
// behind what was promised or offered before.
func (q *question) behind() string {
	if q.request.Now == q.now {
		return ""
	}
	return fmt.Sprintf("; the job may start from %s on, when it takes no nodes from what was promised or offered before", slurmtime.Stamp(q.request.Now, q.desk.Zone))
}

// likelyStart returns when a job that is submitted at a time, and is forecast to wait, has started
// as likely as not.
func likelyStart(at int64, wait *forecast.Answer) int64 {
	return at + int64(min(wait.Wait.Quantile(.5), delay.At(delay.Points-1)))
}

// endPlan returns the plan for the end that was agreed on.
func (q *question) endPlan(agreed *negotiate.Offer, p ending, wait *forecast.Answer) api.Plan {
	r, all := &q.request, q.request
	all.Tasks = q.asked.Array.Tasks
	within := float64(agreed.Deadline - r.Now)
	estimate := p.estimate(within)
	return api.Plan{
		Array: q.asked.Array, Tasks: all.Tasks, AtOnce: r.Tasks, Dependency: q.asked.Dependency,
		BeginTime: r.Now, TimeLimit: slurmtime.Minutes(r.Job.Limit) * 60, FinishBy: agreed.Deadline, WorkLimit: r.Job.Limit,
		Slot: likelyStart(q.from, wait),
		Prob: agreed.Prob, Estimate: agreed.Estimate, Forecast: estimate.Forecast, Careful: trajectory.Careful(estimate), TimeOut: p.TimeOut(), Lost: p.Lost(within),
		Work:     api.Cost(q.Work(all)),
		Evidence: api.Evidence{Sample: int(wait.Sample), Class: wait.Class, Beyond: wait.Beyond},
	}
}

// EndOf forecasts the end of e's job j, from the time from on. If lost is true, nodes of the job
// are lost, and the job will be requeued. Of an array of which some tasks run and others wait, the
// others follow when the former have ended. EndOf reports false if too little is known.
func (d *Desk) EndOf(e *ledger.Entry, j *slurm.QueueEntry, lost bool, now int64) (p negotiate.Prospect, from int64, ok bool) {
	r := trajectory.Request{Job: j.Request, Pieces: e.Pieces, ID: e.Job, Now: now}
	r.Job.User, r.Job.Size = e.User, e.Size
	started := lastStart(e, j)
	var rest negotiate.Prospect // of what runs
	if started != 0 && !lost {
		left := max(1, started+j.Limit-now)
		rate := d.hazard.failures(j.On, window{0, left}) / float64(left)
		q := forecast.Question{Request: r.Job, Now: now, Submit: now, Job: e.Job}
		run := completion.Circumstances{FailureRate: rate}
		if e.Tasks > 1 {
			run.Tasks = max(1, e.RunningTasks())
		}
		if rest, ok = d.Outlook.Rest(&q, now-started, run); !ok || j.Start != 0 {
			return rest, now, ok
		}
	}
	cluster := d.Premises.Limits()
	if cluster == nil {
		return p, 0, false
	}
	place, _ := planned(e, j)
	if _, ok := cluster.Partitions[place.Partition]; !ok { // see Again
		return p, 0, false
	}
	r.Job.Partition, r.Job.NodeSet = place.Partition, place.NodeSet
	circumstances := completion.Circumstances{Checkpoints: e.CheckpointInterval}
	if e.Tasks > 1 {
		waiting := max(1, j.Tasks)
		r.Tasks = min(waiting, max(1, e.AtOnce))
		r.TasksNodes = e.NodesOf(r.Tasks)
		circumstances.Tasks, circumstances.Rounds = waiting, rounds(waiting, r.Tasks)
	}
	waited := int64(0)
	if started == 0 { // tasks that follow others have not waited yet
		r.Now = max(now, j.Eligible)
		waited = r.Now - j.Eligible
	}
	var wait forecast.Answer
	p, _, ok = d.prospect(cluster, &r, waited, circumstances, nil, d.room(d.held(), false), &wait)
	if ok && rest != nil {
		p = following{rest, p}
	}
	return p, r.Now, ok
}

// lastStart returns when e's job j has started or, while tasks of its array wait, the last of those
// that run; 0 if none does.
func lastStart(e *ledger.Entry, j *slurm.QueueEntry) (at int64) {
	if j.Start != 0 {
		return j.Start
	}
	for _, t := range e.TaskRuns {
		if t.Gone == 0 {
			at = max(at, t.Start)
		}
	}
	return at
}
