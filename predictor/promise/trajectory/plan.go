package trajectory

import (
	"cmp"
	"iter"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/promise/offer"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// Forecaster estimates the probability that a job starts in time.
type Forecaster interface {
	// Forecast fills est[i] with the estimate for candidate c[i] of request r, as of the time now
	// (Unix seconds). One call covers a whole trajectory. Candidates are in increasing order of
	// Submit, and their limits do not increase. Where there are several, Forecast may interpolate.
	//
	// A candidate with a Job and a Submit before now has waited since, and the estimate is of
	// the rest of its wait.
	Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate)
}

// DefaultHorizon is the Horizon of a Planner that sets none: a week, in seconds.
const DefaultHorizon = 7 * 24 * 3600

// DefaultMaxHold is varqd's default for MaxHold. On public logs it halves the node time
// that reservations leave idle. It refuses short jobs, whose nodes would idle longest in
// proportion to their work.
const DefaultMaxHold = 4

// Planner makes plans. It has no state of its own, and its methods may be called
// concurrently if those of the Forecaster may.
type Planner struct {
	Forecaster Forecaster
	// Cluster has Slurm's limits and defaults. With nil there are no limits and no
	// defaults.
	Cluster *limits.Cluster
	// Jobs yields the jobs that wait or run; nil if they are not known.
	Jobs iter.Seq[*workload.Job]
	// Room bounds the probability that the work of c runs from c.From on, as of now in Unix
	// seconds, beside what runs already or is promised. If it is below least it need not be exact.
	// With nil there is no bound.
	Room func(c workload.Claim, now int64, least float64) workload.Room
	// Horizon is in seconds; 0 stands for DefaultHorizon. A job becomes eligible at
	// most Horizon before its deadline, or at max(now, HoldUntil). An offered deadline
	// is at most Horizon after now or after the end of a blocked window.
	Horizon int64
	// MaxHold bounds how long a job's nodes may idle before its work, as a multiple of
	// the work's time limit. An hour is always allowed. 0 stands for no bound. Replan
	// ignores this bound, so that it can keep a promise.
	MaxHold float64
	// Confidence is the confidence level of the Forecaster's probabilities. It
	// determines how many past waits a promise needs. 0 stands for .95.
	Confidence float64
}

// Answer is a plan or a refusal: exactly one of the two is set.
type Answer struct {
	// Job is the work with Slurm's defaults filled in. Pieces, Tasks and TasksNodes are as in the
	// Request.
	Job               workload.Request
	Pieces            workload.Pieces
	Tasks, TasksNodes int32
	Plan              *Plan
	Refusal           *Refusal
	// Trajectory has the forecasts, in increasing order of Begin. It is empty if the
	// request was refused before any forecast.
	Trajectory []Point
}

// Plan says how to submit a job so that the promise holds.
type Plan struct {
	// Begin is when the job is to become eligible, in Unix seconds.
	Begin int64
	// Limit is the enlarged time limit in seconds, a whole number of minutes. It is the
	// work's time limit plus max(0, HoldUntil - Begin), the longest time for which the
	// nodes may idle before the work.
	Limit int64
	// Slot is when the work is to begin, as there is room for it then, Start when the job is
	// expected to have its nodes, and Last by when it has them with the probability of the
	// Estimate, in Unix seconds.
	Start, Last, Slot int64
	// Estimate is the forecast for this submission. Invariant: Estimate.Prob is at least
	// the probability asked for, or the offer that was Given holds with it. Estimate.Held is
	// the expected time, in seconds, for which the nodes idle before the work.
	Estimate workload.Estimate
	// Careful says why no more can be promised than Estimate.Prob; see Careful.
	Careful string
	// Work is the cost of the work itself. Worst and Expected are the costs of the idle
	// nodes before the work: at most, if the job starts as soon as it is eligible, and
	// on average.
	Work, Worst, Expected Cost
}

// Cost is the cost of an allocation.
type Cost struct {
	NodeSeconds    float64
	BillingSeconds float64 // billing units x seconds
}

// Point is one point of a probability trajectory: a submission (Begin in Unix seconds,
// Limit in seconds) and the forecast for it.
type Point struct {
	Begin, Limit int64
	workload.Estimate
	until       int64 // by when the job must have its nodes, so that it is of use
	start, slot int64 // as in Plan
	late        bool  // it is others who have nodes before the job that bound Prob
	alone       bool  // it was forecast by itself, and not along a trajectory
	// free is the estimate whatever the room is
	free workload.Estimate
	// otherwise is the highest Forecast of its other ways to have the nodes in time
	otherwise float64
}

// NoOffer ends the sentence of a refusal without offers, unless it names a limit that no forecast
// matters to, or says that history is what is missing.
const NoOffer = ", and nothing like it is certain enough to be offered instead: try a lower --prob, a much later deadline or a smaller job, ask again later, or do without a promise"

// Plan computes the probability trajectory. It chooses the cheapest point that has at least
// the probability asked for, and the earliest of equally cheap points. The cost of a point
// is max(0, HoldUntil - Begin), the longest time for which the nodes may idle before the
// work.
//
// So for a strict request Plan chooses the latest point with that probability, as in the
// paper's Figure 3 (corrected: limits are relative, times absolute). For a request with a
// window, points from HoldUntil on cost nothing. Plan chooses the earliest of these that
// has the probability, or else the latest point before HoldUntil that has it. For a
// best-effort request every point costs nothing, and Plan chooses the earliest, normally
// now.
//
// An invalid request is refused.
func (p *Planner) Plan(r Request) Answer {
	a, hopeless := p.decide(&r)
	if a.Refusal != nil && !hopeless {
		a.Refusal.Offers = p.offers(r)
		if len(a.Refusal.Offers) == 0 && !a.Refusal.Young && (a.Refusal.Limit == "" || len(a.Trajectory) > 0) {
			a.Refusal.Reason += NoOffer
		}
	}
	return a
}

// Decide is Plan without the search for offers, which takes many times as long as the plan.
// Its refusals have no offers.
func (p *Planner) Decide(r Request) Answer {
	a, _ := p.decide(&r)
	return a
}

// decide plans or refuses. A refusal is hopeless if no similar request could be promised
// either.
func (p *Planner) decide(r *Request) (a Answer, hopeless bool) {
	a, b := p.try(r, 1)
	switch {
	case down(a.Trajectory) != "":
		a.Plan, a.Refusal = nil, &Refusal{Reason: down(a.Trajectory)}
		hopeless = true
	case a.Plan == nil && a.Refusal == nil:
		a.Refusal = p.refuse(r, b, a.Trajectory)
	case a.Refusal != nil:
		hopeless = a.Refusal.Limit == ""
	}
	return a, hopeless
}

// try plans r on a grid of which most is the greatest n, within the bounds that it returns. It
// fills in the defaults of r's job. If no point has the probability asked for, and r is not an
// offer that holds, the answer has neither a plan nor a refusal.
func (p *Planner) try(r *Request, most int64) (Answer, bounds) {
	if no := p.admit(r); no != nil {
		return Answer{Job: r.Job, Refusal: no}, bounds{}
	}
	b := p.allowed(r)
	n := r.thin(b, p.horizon(), most)
	a := Answer{Job: r.Job, Pieces: r.Pieces, Tasks: r.Tasks, TasksNodes: r.TasksNodes, Trajectory: p.trajectory(r, b, n)}
	switch {
	case len(a.Trajectory) == 0:
	case r.atOnce():
		p.anyTime(r, b, a.Trajectory)
	case highest(a.Trajectory) < r.Prob && roomBounds(a.Trajectory):
		p.reopen(r, b, n, a.Trajectory)
	}
	points := a.Trajectory
	if r.Given {
		dearer := func(pt Point) bool { return r.idle(pt.Begin) > r.GivenIdle }
		points = slices.DeleteFunc(slices.Clone(points), dearer)
	}
	i := p.settle(r, points, r.enough())
	for i < 0 && r.Given && offer.Holds(r.Prob, highest(points)) {
		i = p.settle(r, points, highest(points))
	}
	if i >= 0 {
		a.Plan = p.plan(r, points[i])
	}
	return a, b
}

// admit checks the request and fills in the defaults of its job. It returns a refusal if
// the request cannot be promised whatever the forecast is. The refusal names a limit if the
// size of the job is the reason.
func (p *Planner) admit(r *Request) *Refusal {
	if err := p.complete(r); err != nil {
		return &Refusal{Reason: err.Error()}
	}
	if p.Cluster != nil {
		job := p.Cluster.Job(r.Job, r.Needs)
		for _, each := range append(r.bindingOthers(p.Cluster), job) {
			if rule := each.CheckSize(); rule != nil {
				return &Refusal{Reason: rule.Says, Limit: rule.Name}
			}
		}
		if rule := job.CheckNeeds(); rule != nil {
			return &Refusal{Reason: rule.Says}
		}
		if rule := job.CheckTogether(r.tasks()); rule != nil {
			return &Refusal{Reason: rule.Says, Limit: rule.Name}
		}
		if p.Jobs != nil {
			if rule := r.checkShares(p.Cluster, p.Jobs); rule != nil {
				return &Refusal{Reason: rule.Says, Limit: rule.Name}
			}
		}
	}
	if r.Job.Limit <= 0 {
		return &Refusal{Reason: "no time limit given"}
	}
	return nil
}

// Admit fills in the defaults of the request's job, and its Pieces. It returns a refusal without
// offers if a job like it does not run, whatever the forecast is.
func (p *Planner) Admit(r *Request) *Refusal {
	if no := p.admit(r); no != nil {
		return no
	}
	b := p.allowed(r)
	return b.tooLong(r)
}

// complete checks the request by itself, and fills in the defaults of its job, and its Pieces.
func (p *Planner) complete(r *Request) error {
	if err := r.check(); err != nil || p.Cluster == nil {
		return err
	}
	job, err := p.Cluster.CompleteWith(r.Job, r.Needs)
	if err != nil {
		return err
	}
	if r.Job.Limit == 0 && r.HoldUntil != 0 {
		job.Limit = leaveHold(p.Cluster, job)
	}
	if r.tasks() > 1 { // no two tasks share a core
		job.CPUs = p.Cluster.Takes().CPUs(job)
	}
	view := p.Cluster.Job(job, r.Needs)
	r.Job, r.Pieces = job, view.Pieces()
	if r.tasks() > 1 {
		r.TasksNodes = view.Together(r.Tasks).Nodes
	}
	return nil
}

// candidates returns the submissions within the bounds, on every n-th step of the grid.
func (p *Planner) candidates(r *Request, b bounds, n int64) []workload.Candidate {
	begins := r.begins(p.horizon(), n)
	c := make([]workload.Candidate, 0, len(begins))
	for _, begin := range begins {
		s := Submission{Begin: begin, Limit: r.enlarged(begin)}
		if budget := b.budget(r, s); budget >= 0 && s.Limit <= b.longest {
			c = append(c, workload.Candidate{Submit: s.Begin, Limit: s.Limit, Budget: budget, Job: r.ID})
		}
	}
	return c
}

// trajectory forecasts the candidates, and bounds the forecasts by the room that there is. A job
// for which there is too little room after a time, because others have nodes from then on, is
// forecast to start before.
func (p *Planner) trajectory(r *Request, b bounds, n int64) []Point {
	points := p.forecasts(r, b, n)
	var slot, until int64
	var room workload.Room // by until
	var early []Point      // the first of the points, if their jobs start by b.last
	enough := highest(points)
	for i := range points {
		pt := &points[i]
		if i == 0 || pt.until != until {
			until = pt.until
			slot, room = p.slot(r, until, enough)
			if last, ok := room.Last(r.Prob); !ok {
				early = nil
			} else if early == nil || last != b.last {
				b.last = last
				early = p.forecasts(r, b, n)
			}
		}
		pt.bound(r, slot, &room)
		if i < len(early) {
			before := early[i]
			before.bound(r, slot, &room)
			pt.orElse(before)
		}
	}
	return points
}

// bound bounds the forecast of a point by the room that there is for the work at slot.
func (pt *Point) bound(r *Request, slot int64, room *workload.Room) {
	pt.slot, pt.start = slot, r.start(pt.Begin, pt.until, pt.Held, slot)
	left := room.Within(pt.start, pt.until)
	pt.free = pt.Estimate
	pt.Prob, pt.Forecast, pt.Taken = min(pt.Prob, left), min(pt.Forecast, left), 1-left
	pt.late = slices.ContainsFunc(room.Late, func(h workload.Hold) bool { return h.At <= pt.until && h.Prob == left })
}

// orElse takes in another way in which the job of a point may have its nodes in time. The point is
// the way that can be promised with the higher probability. Its Forecast is that of the likelier
// one.
func (pt *Point) orElse(other Point) {
	if other.Prob > pt.Prob {
		*pt, other = other, *pt
	}
	pt.otherwise = max(pt.otherwise, other.otherwise, other.Forecast)
	pt.Forecast = max(pt.Forecast, pt.otherwise)
}

// forecasts forecasts the candidates.
func (p *Planner) forecasts(r *Request, b bounds, n int64) []Point {
	c := p.candidates(r, b, n)
	if len(c) == 0 {
		return nil
	}
	est := make([]workload.Estimate, len(c))
	p.Forecaster.Forecast(r.All(), r.Now, c, est)
	points := make([]Point, len(c))
	for i := range c {
		points[i] = Point{Begin: c[i].Submit, Limit: c[i].Limit, Estimate: est[i], until: c[i].Submit + c[i].Budget}
	}
	return points
}

// roomBounds reports whether a point would be more probable with more room.
func roomBounds(points []Point) bool {
	return slices.ContainsFunc(points, func(pt Point) bool { return pt.free.Prob > pt.Prob })
}

// choose returns the index of the cheapest point with at least the probability prob, the
// earliest of equally cheap points. It returns -1 if no point has that probability.
func (r *Request) choose(points []Point, prob float64) int {
	found := -1
	for i, pt := range points {
		if pt.Prob >= prob && (found < 0 || r.idle(pt.Begin) < r.idle(points[found].Begin)) {
			found = i
		}
	}
	return found
}

// best returns the first of the points with the highest probability, the zero value without points.
func best(points []Point) (best Point) {
	for _, pt := range points {
		if pt.Prob > best.Prob {
			best = pt
		}
	}
	return best
}

// Highest returns the highest probability of the trajectory, 0 without one.
func (a *Answer) Highest() float64 { return highest(a.Trajectory) }

// highest returns the highest probability of the points, 0 without points.
func highest(points []Point) float64 { return best(points).Prob }

// down returns the reason why nothing can be promised now, as during an outage, or "".
func down(points []Point) string {
	if len(points) == 0 {
		return ""
	}
	return points[0].Down
}

// plan turns a point of the trajectory into a plan with its costs.
func (p *Planner) plan(r *Request, pt Point) *Plan {
	// How long the nodes idle depends on HoldUntil, and not on the deadline.
	pt.Held = p.forecast(r, workload.Candidate{Submit: pt.Begin, Limit: pt.Limit, Budget: r.idle(pt.Begin), Job: r.ID}).Held
	rate := p.rate(r)
	return &Plan{
		Begin:    pt.Begin,
		Limit:    pt.Limit,
		Start:    pt.start,
		Last:     pt.until,
		Slot:     pt.slot,
		Estimate: pt.Estimate,
		Careful:  pt.careful(),
		Work:     rate.during(float64(r.Job.Limit)),
		Worst:    rate.during(float64(r.idle(pt.Begin)) * r.share()),
		Expected: rate.during(pt.Held * r.share()),
	}
}

// Work returns the cost of the work of r, whose job is complete.
func (p *Planner) Work(r Request) Cost { return p.rate(&r).during(float64(r.Job.Limit)) }

// rate returns what the job, or all tasks, cost in a second at most, when they are as large as they
// may be.
func (p *Planner) rate(r *Request) Cost {
	if p.Cluster == nil {
		all := r.All()
		return Cost{NodeSeconds: float64(all.Nodes), BillingSeconds: float64(all.CPUs)}
	}
	var most Cost
	tasks := float64(r.tasks())
	for _, job := range append(r.others(p.Cluster), p.Cluster.Job(r.Job, r.Needs)) {
		most.NodeSeconds = max(most.NodeSeconds, tasks*float64(job.Largest().Nodes))
		most.BillingSeconds = max(most.BillingSeconds, tasks*job.MostBilling())
	}
	return most
}

// during returns the cost of some seconds, if c is that of one.
func (c Cost) during(seconds float64) Cost {
	return Cost{NodeSeconds: c.NodeSeconds * seconds, BillingSeconds: c.BillingSeconds * seconds}
}

// MostNodes returns the number of nodes that may idle before the work of r, which is the most that
// Slurm may give to the job, or to the tasks of its array.
func (p *Planner) MostNodes(r Request) int32 {
	if p.Cluster == nil || p.complete(&r) != nil {
		return max(1, r.All().Nodes)
	}
	return r.holding() * p.Cluster.Job(r.Job, r.Needs).Largest().Nodes
}

func (p *Planner) horizon() int64 {
	if p.Horizon > 0 {
		return p.Horizon
	}
	return DefaultHorizon
}

// needed returns the least number of past waits that can support a promise of prob.
func (p *Planner) needed(prob float64) int {
	return stats.SampleSize(prob, p.confidence())
}

func (p *Planner) confidence() float64 { return cmp.Or(p.Confidence, .95) }
