package trajectory

import (
	"slices"

	"github.com/varq-project/varq/predictor/promise/offer"
	"github.com/varq-project/varq/predictor/workload"
)

// Kind says how an offer differs from the request.
type Kind string

// The kinds of offer.
const (
	OfferProb Kind = "probability" // the best probability for this deadline
	// the same request, with work that starts when the job does; and if need be, a lower
	// probability or, where nothing else can be promised, a later deadline
	OfferFree  Kind = "best-effort"
	OfferLater Kind = "deadline" // the earliest deadline for this probability
	OfferNodes Kind = "nodes"    // the same request with fewer nodes, or fewer CPUs on one node
	OfferTasks Kind = "tasks"    // the same array, with fewer of its tasks at the same time
	OfferTime  Kind = "time"     // the same request with a shorter time limit of the work
	// the same request with a higher ceiling on the cost of idle nodes
	OfferCost Kind = "cost"
)

// Offer is a request that can be promised, the plan it would get, and what its job would claim.
type Offer struct {
	Kind    Kind
	Request Request
	Plan    *Plan
	Claim   workload.Claim
	// Idle is for how many seconds the nodes may idle at most, and Worst what that costs. It is
	// longer than by Plan, since less is left until the deadline when the offer is taken: the job may
	// have to be eligible sooner before it.
	Idle  int64
	Worst Cost
}

// offer returns an offer of a request whose answer is a plan.
func (s *search) offer(kind Kind, r *Request, a *Answer) Offer {
	idle := r.idle(max(r.Now, r.Earliest, a.Plan.Begin-offer.Patience))
	worst := s.rate(r).during(float64(idle) * r.share())
	return Offer{kind, *r, a.Plan, a.Claim(), idle, worst}
}

// thinned is the greatest n of the thinned grid, every n-th step of the whole grid, on which
// smaller and shorter search. Their result is then planned on the whole grid. As the whole grid
// contains the thinned one, there is such a plan.
const thinned = 10

// sparse is that of the grid on which later searches, which tries many deadlines.
const sparse = 4 * thinned

// fewest is how many begin times a thinned grid has at least, if the whole one has as many: where
// the nodes may idle for a short time only, or the deadline is near, a plan may need one of few.
const fewest = 12

// thin returns the n of the grid for r within the bounds b, at most so many.
func (r *Request) thin(b bounds, horizon, most int64) int64 {
	span := r.Deadline - max(r.Now, r.Earliest, r.Deadline-horizon)
	if window := r.Deadline - r.HoldUntil; r.HoldUntil != 0 && b.longest-r.Job.Limit < span-window {
		span = window + b.longest - r.Job.Limit
	}
	return min(most, max(1, span/(fewest*fineStep)))
}

// search is the search for requests similar to one that is refused.
type search struct {
	*Planner
	points []Point // of the trajectory of the request that is refused
}

// offers searches for requests similar to r that can be promised, now and for a while.
func (p *Planner) offers(r Request) []Offer {
	r.offered, r.Given, r.GivenIdle = true, false, 0
	own, _ := p.try(&r, 1)
	s := search{p, own.Trajectory}
	var found []Offer
	// find changes the request to the one to offer; its answer has no plan if there is none
	add := func(kind Kind, find func(*Request) Answer) {
		changed := r
		if a := find(&changed); a.Plan != nil {
			changed.offered = false
			found = append(found, s.offer(kind, &changed, &a))
		}
	}
	add(OfferCost, s.planned(noCeiling))
	add(OfferProb, func(r *Request) Answer { return s.surest(r, s.points) })
	add(OfferFree, s.freely)
	add(OfferLater, s.planned(s.later))
	add(OfferTasks, s.planned(s.fewer))
	add(OfferNodes, s.planned(s.smaller))
	add(OfferTime, s.planned(s.shorter))
	if len(found) == 0 {
		add(OfferFree, s.planned(s.freelyLater))
	}
	return found
}

// planned returns a function that changes a request, and then plans it on the whole grid. Its
// answer has no plan if change returns false.
func (s *search) planned(change func(*Request) bool) func(*Request) Answer {
	return func(r *Request) (a Answer) {
		if change(r) {
			a, _ = s.try(r, 1)
		}
		return a
	}
}

// noCeiling removes the ceiling on the cost of idle nodes. It returns false if there is none.
func noCeiling(r *Request) bool {
	had := r.Earliest != 0
	r.Earliest = 0
	return had
}

// leastShare is the least probability offered, as a share of the one asked for. Whoever plans for a
// start has no use for one that comes less than half as often: another deadline or a smaller job
// serves better.
const leastShare = .5

// lessProb lowers the probability to the highest one of the trajectory that can be offered, in
// whole percents. It returns false if that is too little to be of use.
func lessProb(r *Request, points []Point) bool {
	asked := r.Prob
	r.Prob = offer.Most(highest(points))
	return r.Prob >= leastShare*asked && r.Prob > 0
}

// mostLess is how often surest lowers a probability.
const mostLess = 16

// surest plans the request with the highest probability that can be offered, of whose trajectory
// points are. A forecast of a submission by itself may be less than along a trajectory; see settle.
// The answer has no plan if that is too little to be of use.
func (s *search) surest(r *Request, points []Point) Answer {
	for range mostLess {
		less := *r
		if !lessProb(&less, points) {
			break
		}
		a, _ := s.try(&less, 1)
		if a.Plan != nil {
			*r = less
			return a
		}
		points = a.Trajectory
	}
	return Answer{}
}

// bestEffort makes a strict request a best-effort one, for which no nodes idle. It returns
// false if the request is not strict.
func bestEffort(r *Request) bool {
	strict := r.HoldUntil == r.Deadline
	r.HoldUntil = 0
	return strict
}

// freely plans a strict request as a best-effort one, with a lower probability if it has to be
// lower, and is higher than that of a strict one. The answer has no plan if the request is not
// strict, or if that is too little to be of use.
func (s *search) freely(r *Request) (a Answer) {
	if !bestEffort(r) {
		return a
	}
	if a, _ = s.try(r, 1); a.Plan != nil {
		return a
	}
	if a = s.surest(r, a.Trajectory); r.Prob <= offer.Most(highest(s.points)) {
		return Answer{}
	}
	return a
}

// freelyLater makes a strict request a best-effort one, by the earliest deadline for which it finds
// a plan.
func (s *search) freelyLater(r *Request) bool { return bestEffort(r) && s.later(r) }

// The search for a later deadline starts from now and from the end of each of the first maxBases
// blocked windows. From each start it tries at most maxLeads leads. Before what it finds, it tries
// at most maxSoon deadlines, and halves the time between the first of them that has a plan and the
// one before.
const (
	maxBases = 8
	maxLeads = 6
	maxSoon  = 48
)

// later moves the deadline to the earliest whole minute for which it finds a plan.
func (s *search) later(r *Request) bool {
	asked, latest := *r, s.leadLater(r)
	last := asked.Now + s.horizon()
	if latest != nil {
		last = latest.Deadline - 1
	}
	planned := func(deadline int64) bool {
		moved := asked.delayed(deadline - asked.Deadline)
		a, _ := s.try(&moved, sparse)
		if a.Plan != nil {
			*r = moved
		}
		return a.Plan != nil
	}
	before := minutes(asked.Deadline)
	for _, deadline := range s.soon(&asked, last) {
		if planned(deadline) {
			nearest(deadline/60, before/60, func(minute int64) bool { return planned(minute * 60) })
			return true
		}
		before = deadline
	}
	if latest != nil {
		*r = *latest
	}
	return latest != nil
}

// soon returns deadlines, ascending, whole minutes after that of r and until last: the first times
// from which on there is room, and some of which each is half as far away again as the one before.
// The forecast for the near future knows what runs and what is promised, and may be better than
// that for a deadline far away.
func (s *search) soon(r *Request, last int64) []int64 {
	var deadlines []int64
	add := func(at int64) {
		if at = minutes(at); at > r.Deadline && at <= last {
			deadlines = append(deadlines, at)
		}
	}
	if s.Room != nil {
		for _, at := range s.Room(r.claim(r.Deadline), r.Now, 0).Next {
			add(at)
		}
	}
	for lead := max(r.Deadline-r.Now, 60); lead < last-r.Now; lead += max(60, lead/2) {
		add(r.Now + lead)
	}
	slices.Sort(deadlines)
	deadlines = slices.Compact(deadlines)
	return deadlines[:min(maxSoon, len(deadlines))]
}

// leadLater returns the request with the earliest deadline, a whole minute, for which it finds a
// plan by a lead, or nil.
//
// A forecast depends mostly on the lead, which is the time from the begin time to the
// deadline, and little on the deadline itself. So one trajectory before a deadline far away
// shows roughly which lead is long enough. If that lead turns out too short, leadLater tries
// longer ones. Blocked windows depend on the time and not on the lead. So the search starts
// anew from the end of each.
func (s *search) leadLater(r *Request) *Request {
	b := s.allowed(r)
	bases := []int64{r.comesBy()}
	for _, w := range b.blocked {
		if w.End > r.Now && w.End < r.Now+s.horizon() && len(bases) <= maxBases {
			bases = append(bases, w.End)
		}
	}
	b.blocked = nil
	slices.Sort(bases)
	for i, base := range bases {
		far := r.delayed(base + s.horizon() - r.Deadline)
		points := s.trajectory(&far, b, 1)
		lead := r.Deadline - base // the deadline must be later than the one refused
		for try := range maxLeads {
			lead = far.shortestLead(points, lead)
			if lead == 0 || try > 0 && i+1 < len(bases) && base+lead > bases[i+1] {
				break
			}
			moved := r.delayed(minutes(base+lead) - r.Deadline)
			if a, _ := s.try(&moved, 1); a.Plan != nil {
				return &moved
			}
			lead += lead / 4
		}
	}
	return nil
}

// shortestLead returns the shortest lead, in seconds, that is longer than least and whose
// point has the probability asked for. It returns 0 if there is none.
func (r *Request) shortestLead(points []Point, least int64) int64 {
	for _, pt := range slices.Backward(points) {
		if lead := r.Deadline - pt.Begin; lead > least && pt.Prob >= r.enough() {
			return lead
		}
	}
	return 0
}

// delayed returns the request with its deadline, its window and its ceiling later by seconds.
func (r *Request) delayed(seconds int64) Request {
	d := *r
	d.Deadline += seconds
	if d.HoldUntil != 0 {
		d.HoldUntil += seconds
	}
	if d.Earliest != 0 {
		d.Earliest += seconds
	}
	return d
}

// fewer reduces the number of tasks until the request can be promised. It returns false if there is
// one only.
func (s *search) fewer(r *Request) bool {
	promised := func(n int64) bool {
		r.Tasks = int32(n)
		a, _ := s.try(r, thinned)
		return a.Plan != nil
	}
	most := int64(r.tasks())
	if s.Cluster != nil {
		// as many as there are nodes for; of more of them the forecast need not be lower
		if fit := int64(s.Cluster.Job(r.Job, r.Needs).MostTogether(r.tasks())); fit < most {
			if fit > 0 && promised(fit) {
				return true
			}
			most = fit
		}
	}
	n := largest(most, promised)
	r.Tasks = int32(n)
	return n > 0
}

// smaller reduces the number of nodes, or of CPUs if there is one node, until the request
// can be promised. It reduces all other resources in proportion, but on one node only the
// memory of CPUs. If there are Needs, the request
// must be what the options of their Scale come to with other counts.
func (s *search) smaller(r *Request) bool {
	if r.tasks() > 1 { // fewer offers what its user would rather have
		return false
	}
	whole, size := *r, int64(r.Job.Nodes)
	one := size == 1
	if one {
		size = int64(r.Job.CPUs)
	}
	var needs, asked workload.Needs
	scaled := r.Needs != nil
	if scaled {
		needs, asked = *r.Needs, *r.Needs
		r.Needs = &needs
		size = parts(asked.Scale, int64(r.Job.Nodes))
		needs.Scale, needs.Gres = slices.Clone(asked.Scale), slices.Clone(asked.Gres)
	}
	scale := func(n int64) {
		part := func(x int64) int64 { return x/size*n + (x%size*n+size-1)/size }
		r.Job.Nodes = int32(part(int64(whole.Job.Nodes)))
		r.Job.CPUs = int32(part(int64(whole.Job.CPUs)))
		if !scaled || !one {
			r.Job.GPUs = int32(part(int64(whole.Job.GPUs)))
		}
		if !scaled || !one || asked.NodeMemory.Option == "--mem-per-cpu" {
			r.Job.Memory = part(whole.Job.Memory)
		}
		needs.MostNodes = int32(part(int64(asked.MostNodes)))
		for i := range needs.Scale {
			needs.Scale[i].Count = part(asked.Scale[i].Count)
		}
		for i := range needs.Gres {
			if !one && !needs.Gres[i].PerNode {
				needs.Gres[i].Count = part(asked.Gres[i].Count)
			}
		}
	}
	n := largest(size, func(n int64) bool {
		scale(n)
		a, _ := s.try(r, thinned)
		return a.Plan != nil
	})
	scale(n)
	return n > 0
}

// parts returns into how many equal parts the counts of the options, and the nodes if there are
// several, can be divided; 1 without options.
func parts(options []workload.Counted, nodes int64) int64 {
	if len(options) == 0 {
		return 1
	}
	gcd := int64(0)
	if nodes > 1 {
		gcd = nodes
	}
	for _, o := range options {
		for n := o.Count; n > 0; {
			gcd, n = n, gcd%n
		}
	}
	return max(1, gcd)
}

// shorter reduces the time limit of the work to a whole number of minutes for which the
// request can be promised.
func (s *search) shorter(r *Request) bool {
	n := largest(minutes(r.Job.Limit)/60, func(n int64) bool {
		r.Job.Limit = n * 60
		a, _ := s.try(r, thinned)
		return a.Plan != nil
	})
	r.Job.Limit = n * 60
	return n > 0
}

// largest returns a large number from 1 to n-1 that is good, or 0 if it finds none. It
// halves n until the number is good, and then bisects between this number and the
// one tried before. If all numbers below a good one are good, the result is the largest
// good number.
func largest(n int64, good func(int64) bool) int64 {
	bad := n
	for ; bad > 1; bad /= 2 {
		if good(bad / 2) {
			break
		}
	}
	if bad <= 1 {
		return 0
	}
	return nearest(bad/2, bad, good)
}

// nearest bisects between a number that is good and one that is bad. It returns a good number that
// is next to a bad one.
func nearest(found, bad int64, good func(int64) bool) int64 {
	for found-bad > 1 || bad-found > 1 {
		if middle := found + (bad-found)/2; good(middle) {
			found = middle
		} else {
			bad = middle
		}
	}
	return found
}
