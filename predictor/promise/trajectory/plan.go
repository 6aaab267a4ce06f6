package trajectory

import (
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/stats"
	"github.com/varq-project/varq/predictor/workload"
)

// Forecaster tells how likely a request starts in time.
type Forecaster interface {
	// Forecast fills est[i] for candidate c[i] of request r, as known at time
	// now (Unix seconds). One call covers a whole trajectory: candidates come in
	// increasing order of Submit, and their limits do not increase.
	Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate)
}

// DefaultHorizon is how long before its deadline a job may become eligible, in
// seconds, unless a Planner says otherwise: a week.
const DefaultHorizon = 7 * 24 * 3600

// DefaultMaxHold is the MaxHold of a varqd that is not told otherwise. On public logs
// it halves what promises hold for their work: what it refuses is for short jobs, which
// hold most and do least.
const DefaultMaxHold = 4

// Planner makes plans. It holds no state of its own: plans may be made at the
// same time as far as the Forecaster and the Cluster allow it.
type Planner struct {
	Forecaster Forecaster
	// Cluster tells what is allowed. Nil allows everything and fills in no
	// defaults.
	Cluster *limits.Cluster
	// Horizon is how long before its deadline a job may become eligible, in
	// seconds, and how far ahead a later deadline is looked for; 0 stands for
	// DefaultHorizon.
	Horizon int64
	// MaxHold is how long a job may hold its nodes before the work, at most, in
	// time limits of the work; an hour it always may. It bounds what is promised,
	// and not what it takes to keep a promise. 0 stands for no bound.
	MaxHold float64
	// Confidence is the level of the Forecaster's probabilities. It tells how
	// many past waits a probability takes; 0 stands for .95.
	Confidence float64
}

// Answer is a plan or a refusal: exactly one of the two is set.
type Answer struct {
	// Job is the work with Slurm's defaults filled in.
	Job     workload.Request
	Plan    *Plan
	Refusal *Refusal
	// Trajectory is what was forecast, in increasing order of Begin. It is empty
	// when the request was refused before any forecast.
	Trajectory []Point
}

// Plan says how to submit a job so that the promise holds.
type Plan struct {
	// Begin is when the job is to become eligible, Unix seconds.
	Begin int64
	// Limit is the enlarged time limit: the work's own and, where the work may
	// not start before, HoldUntil - Begin; seconds, a whole number of minutes.
	Limit int64
	// Estimate is the forecast for this submission; its Prob is at least the one
	// asked for, and its Held the expected seconds out of HoldUntil - Begin that
	// the job holds its nodes before the work.
	Estimate workload.Estimate
	// Work is what the work costs, Worst what the reservation costs on top of it
	// if the job starts at once, and Expected what it costs on average.
	Work, Worst, Expected Cost
}

// Cost of an allocation.
type Cost struct {
	NodeSeconds    float64
	BillingSeconds float64 // billing units x seconds
}

// Point is one step of a probability trajectory: the submission with time limit
// Limit that becomes eligible at Begin. Times are Unix seconds, limits seconds.
type Point struct {
	Begin, Limit int64
	workload.Estimate
}

// Plan computes the probability trajectory and chooses, of the submissions whose
// probability is at least the one asked for, the one that costs least, and of
// those that cost the same the earliest. What a submission costs is the time
// until the work may start, HoldUntil - Begin or nothing: the job may have to
// spend it holding its nodes.
//
// So a strict reservation takes the latest submission that is good enough, as in
// the paper's Figure 3 (corrected: limits are relative, times absolute). A window
// takes the earliest from its opening on, which costs nothing, or else the latest
// before. Best effort always costs nothing and takes the earliest, normally now.
//
// A request that makes no sense is refused like one that cannot be promised.
func (p *Planner) Plan(r Request) Answer {
	a, hopeless := p.decide(&r)
	if a.Refusal != nil && !hopeless {
		a.Refusal.Offers = p.offers(&r, a.Trajectory)
		if len(a.Refusal.Offers) == 0 && a.Refusal.Limit == "" {
			a.Refusal.Reason += ", and nothing like it can be promised now: ask again later, or do without a promise"
		}
	}
	return a
}

// Decide is Plan for who has no use for offers, which cost many times the plan: a
// refusal has none.
func (p *Planner) Decide(r Request) Answer {
	a, _ := p.decide(&r)
	return a
}

// decide plans or refuses; a refusal is hopeless if no request like this one
// makes sense.
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

// try plans on the grid thinned to every n-th step, within the bounds that it
// returns. It fills in the defaults of r's job. Where the forecast finds no
// submission good enough, the answer is neither a plan nor a refusal yet.
func (p *Planner) try(r *Request, n int64) (Answer, bounds) {
	if no := p.admit(r); no != nil {
		return Answer{Job: r.Job, Refusal: no}, bounds{}
	}
	b := p.allowed(r)
	a := Answer{Job: r.Job, Trajectory: p.trajectory(r, b, n)}
	if i := r.choose(a.Trajectory, r.Prob); i >= 0 {
		a.Plan = p.plan(r, a.Trajectory[i])
	}
	return a, b
}

// admit checks the request, fills in the defaults of its job, and refuses what
// no forecast could help. Such a refusal names a limit only for the job's size.
func (p *Planner) admit(r *Request) *Refusal {
	if err := r.check(); err != nil {
		return &Refusal{Reason: err.Error()}
	}
	if p.Cluster != nil {
		job, err := p.Cluster.Complete(r.Job)
		if err != nil {
			return &Refusal{Reason: err.Error()}
		}
		r.Job = job
		if rule := p.Cluster.CheckSize(job); rule != nil {
			return &Refusal{Reason: rule.Says, Limit: rule.Name}
		}
	}
	if r.Job.Limit <= 0 {
		return &Refusal{Reason: "no time limit given"}
	}
	return nil
}

// candidates returns every submission within the bounds, on the grid thinned to
// every n-th step.
func (p *Planner) candidates(r *Request, b bounds, n int64) []workload.Candidate {
	begins := r.starts(p.horizon(), n)
	c := make([]workload.Candidate, 0, len(begins))
	for _, begin := range begins {
		s := Submission{Begin: begin, Limit: r.enlarged(begin)}
		if budget := b.budget(r, s); budget >= 0 && s.Limit <= b.longest {
			c = append(c, workload.Candidate{Submit: s.Begin, Limit: s.Limit, Budget: budget})
		}
	}
	return c
}

// trajectory forecasts the candidates.
func (p *Planner) trajectory(r *Request, b bounds, n int64) []Point {
	c := p.candidates(r, b, n)
	if len(c) == 0 {
		return nil
	}
	est := make([]workload.Estimate, len(c))
	p.Forecaster.Forecast(r.Job, r.Now, c, est)
	points := make([]Point, len(c))
	for i := range c {
		points[i] = Point{Begin: c[i].Submit, Limit: c[i].Limit, Estimate: est[i]}
	}
	return points
}

// choose returns the index of the cheapest point with this probability or more,
// the earliest of equals, or -1 when there is none.
func (r *Request) choose(points []Point, prob float64) int {
	found := -1
	for i, pt := range points {
		if pt.Prob >= prob && (found < 0 || r.held(pt.Begin) < r.held(points[found].Begin)) {
			found = i
		}
	}
	return found
}

// highest returns the highest probability of the points, 0 when there are none.
func highest(points []Point) float64 {
	prob := 0.
	for _, pt := range points {
		prob = max(prob, pt.Prob)
	}
	return prob
}

// down returns why nothing can be promised at all now, or nothing if it can.
func down(points []Point) string {
	if len(points) == 0 {
		return ""
	}
	return points[0].Down
}

// plan turns a point of the trajectory into a plan with its costs.
func (p *Planner) plan(r *Request, pt Point) *Plan {
	// The time held is a matter of when the work may start, not of the deadline.
	pt.Held = p.forecast(r, workload.Candidate{Submit: pt.Begin, Limit: pt.Limit, Budget: r.held(pt.Begin)}).Held
	return &Plan{
		Begin:    pt.Begin,
		Limit:    pt.Limit,
		Estimate: pt.Estimate,
		Work:     p.cost(r, float64(r.Job.Limit)),
		Worst:    p.cost(r, float64(r.held(pt.Begin))),
		Expected: p.cost(r, pt.Held),
	}
}

// cost is what holding the job's resources for so many seconds costs.
func (p *Planner) cost(r *Request, seconds float64) Cost {
	rate := float64(r.Job.CPUs)
	if p.Cluster != nil {
		rate = p.Cluster.BillingRate(r.Job)
	}
	return Cost{NodeSeconds: float64(r.Job.Nodes) * seconds, BillingSeconds: rate * seconds}
}

func (p *Planner) horizon() int64 {
	if p.Horizon > 0 {
		return p.Horizon
	}
	return DefaultHorizon
}

// needed returns how many past waits it takes to promise prob at all.
func (p *Planner) needed(prob float64) int {
	c := p.Confidence
	if c == 0 {
		c = .95
	}
	return stats.SampleSize(prob, c)
}
