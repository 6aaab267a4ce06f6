package trajectory

import (
	"math"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// from returns a Planner.Room that tells of room with a probability before a time, and for sure
// from then on.
func from(at int64, prob float64) func(workload.Claim, int64, float64) workload.Room {
	return func(c workload.Claim, _ int64, _ float64) workload.Room {
		if c.From < at {
			return workload.Room{Prob: prob}
		}
		return workload.Room{Prob: 1}
	}
}

// A promise is bounded by the room at its deadline. The refusal says so, and offers a deadline at
// which there is room.
func TestRoomBoundsPromises(t *testing.T) {
	p := Planner{Forecaster: curve{mean: 300, sample: 1000}, Room: from(noon+3*hour, .5)}
	a := p.Plan(request(1, hour, .9))
	if a.Refusal == nil || !strings.Contains(a.Refusal.Reason, "leave too little room at the deadline: a start by 2023-11-14T13:00:00Z, in 01:00:00 and its nodes held until then, can be promised with probability 0.50 at best, not 0.9") {
		t.Fatalf("%+v", a)
	}
	if o := offerOf(t, a, OfferLater); o == nil || o.Request.Deadline < noon+3*hour {
		t.Errorf("offers a later deadline: %+v", o)
	}
	if o := offerOf(t, a, OfferProb); o == nil || o.Request.Prob != .48 {
		t.Errorf("offers a probability: %+v", o)
	}
	if a := p.Plan(request(1, 3*hour, .9)); a.Plan == nil {
		t.Errorf("refused where there is room: %+v", a.Refusal)
	}
}

// Work that may begin early needs room at some time before the deadline.
// The room is looked for once, and not anew for each submission.
func TestRoomOfEarlyWork(t *testing.T) {
	asked := 0
	p := Planner{Forecaster: curve{mean: 300, sample: 1000}, Room: func(c workload.Claim, _ int64, _ float64) workload.Room {
		asked++
		if c.From < noon+hour {
			return workload.Room{Prob: 1}
		}
		return workload.Room{}
	}}
	r := request(1, 2*hour, .9)
	if a := p.Plan(r); a.Plan != nil {
		t.Errorf("strict: %+v", a.Plan)
	}
	r.HoldUntil = 0
	asked = 0
	if a := p.Plan(r); a.Plan == nil || a.Plan.Slot != noon || asked > 200 {
		t.Errorf("best effort: %+v, %+v, after %d questions", a.Plan, a.Refusal, asked)
	}
	r.HoldUntil = noon + hour - 60
	if a := p.Plan(r); a.Plan == nil || a.Plan.Slot != r.HoldUntil {
		t.Errorf("a window: %+v, %+v", a.Plan, a.Refusal)
	}
}

// morning forecasts a start for sure if a job is eligible by a time, and none otherwise.
type morning int64

func (m morning) Forecast(_ workload.Request, _ int64, c []workload.Candidate, est []workload.Estimate) {
	for i := range c {
		if est[i] = (workload.Estimate{Sample: 1000}); c[i].Submit <= int64(m) {
			est[i].Prob = 1
		}
	}
}

// A job that must have its nodes before its work begins, because its time limit may not reach into
// a reservation of Slurm's, needs room from then on until its work ends.
func TestRoomBeforeReservation(t *testing.T) {
	r := request(1, 6*hour, .9)
	end := r.Deadline + r.Job.Limit
	cluster := site(nil)
	cluster.Reservations = []limits.Reservation{{Name: "maint", Start: end + 600, End: end + hour, Nodes: cluster.Partitions["main"].Nodes}}
	taken := int64(math.MaxInt64) // from when on others have all nodes
	p := Planner{Forecaster: morning(noon + 5*hour), Cluster: cluster, Room: func(c workload.Claim, _ int64, _ float64) workload.Room {
		if ends := c.From + c.Limit; c.From < r.Deadline && ends != end {
			t.Errorf("of work that ends by %d, asked about %d s from %d on", end, c.Limit, c.From)
		}
		if c.From+c.Limit > taken {
			return workload.Room{}
		}
		return workload.Room{Prob: 1}
	}}
	a := p.Decide(r)
	if a.Plan == nil || a.Plan.Last >= r.Deadline || a.Plan.Slot != r.Deadline {
		t.Fatalf("%+v, %+v", a.Plan, a.Refusal)
	}
	if c := a.Claim(); c.From != a.Plan.Last || c.From+c.Limit != end {
		t.Errorf("claims %d s from %d on, where it has nodes by %d, and works until %d", c.Limit, c.From, a.Plan.Last, end)
	}
	if taken = end; p.Decide(r).Plan == nil {
		t.Error("refused though others only take nodes when it has ended")
	}
	if taken = end - 1; p.Decide(r).Plan != nil {
		t.Error("promised though others take nodes while it works")
	}
}

// Work that may begin early begins in a gap, though it is short beside the time that there is for
// it. Gaps that turn out to be none do not hide that there is room in the end.
func TestRoomInGaps(t *testing.T) {
	asked := 0
	gap := func(open, close int64, next func(by int64) []int64) *Planner {
		return &Planner{Forecaster: curve{mean: 30, sample: 1000}, Room: func(c workload.Claim, _ int64, _ float64) workload.Room {
			asked++
			if by := c.From; by >= open && by <= close {
				return workload.Room{Prob: 1}
			}
			return workload.Room{Next: next(c.From)}
		}}
	}
	r := request(1, 24*hour, .9)
	r.HoldUntil = 0
	open := int64(noon + 5*hour + 17*60 + 3)
	p := gap(open, open+60, func(by int64) []int64 {
		if by < open {
			return []int64{open}
		}
		return nil
	})
	if a := p.Plan(r); a.Plan == nil || a.Plan.Slot != open {
		t.Errorf("%+v, %+v", a.Plan, a.Refusal)
	}
	p = gap(r.Deadline, r.Deadline, func(by int64) []int64 { return []int64{by - 1, by, by + 1, by + 2, by + hour} })
	asked = 0
	if at, room := p.slot(&r, r.Deadline, 1); at != r.Deadline || room.Prob != 1 || asked > 200 {
		t.Errorf("at %d, %+v, after %d questions", at, room, asked)
	}
}

// A job that would hold its nodes when others are to get them is promised only with a submission
// by which it hardly does.
func TestRoomWhileHolding(t *testing.T) {
	p := Planner{Forecaster: curve{mean: 300, sample: 1000}, Room: func(workload.Claim, int64, float64) workload.Room {
		return workload.Room{Prob: 1, Holding: []workload.Hold{{At: noon + hour, Prob: .2}, {At: noon + 90*60, Prob: 0}}}
	}}
	r := request(1, 2*hour, .5)
	if a := p.Plan(r); a.Plan == nil || a.Plan.Start <= noon+90*60 || a.Plan.Slot != r.Deadline {
		t.Errorf("%+v, %+v", a.Plan, a.Refusal)
	}
	r.Deadline = noon + 90*60 + 30
	r.HoldUntil = r.Deadline
	if a := p.Plan(r); a.Plan != nil {
		t.Errorf("it would hold them: %+v", a.Plan)
	}
}

// Work that may begin early, but for which there is room only after others, does not begin before
// them.
func TestRoomAfterOthers(t *testing.T) {
	const others = noon + 20*60
	p := Planner{Forecaster: curve{mean: 60, sample: 1000}, Room: func(c workload.Claim, _ int64, _ float64) workload.Room {
		if c.From <= others {
			return workload.Room{}
		}
		return workload.Room{Prob: 1, Holding: []workload.Hold{{At: others}}}
	}}
	r := request(1, 2*hour, .9)
	for _, r.HoldUntil = range []int64{0, noon + 10*60} {
		if a := p.Plan(r); a.Plan == nil || a.Plan.Begin <= others {
			t.Errorf("%+v, %+v", a.Plan, a.Refusal)
		}
	}
}

// The room bounds what is forecast for a promise, and changes nothing about its job.
func TestRoomWhenReplanned(t *testing.T) {
	p := Planner{Forecaster: curve{mean: 300, sample: 1000}}
	r := request(1, 2*hour, .9)
	a := p.Plan(r)
	now := Submission{Begin: a.Plan.Begin, Limit: a.Plan.Limit}
	before := p.Replan(r, now)
	p.Room = from(noon+3*hour, .3)
	after := p.Replan(r, now)
	if after.Submission != before.Submission || after.Prob != .3 || after.Stay != .3 {
		t.Errorf("%+v, and with little room %+v", before, after)
	}
	if probs := p.Within(r, []int64{hour, 4 * hour}); probs[0] != .3 || probs[1] < .9 {
		t.Errorf("within an hour and within four: %v", probs)
	}
}

// Nodes that idle for longer keep a promise where the queue has become slower, but not where there
// is no room.
func TestRoomAndRescue(t *testing.T) {
	p := Planner{Forecaster: curve{mean: 300, sample: 1000}}
	r := request(1, 2*hour, .9)
	a := p.Plan(r)
	now := Submission{Begin: a.Plan.Begin, Limit: a.Plan.Limit}
	r.Earliest = now.Begin
	p.Forecaster = curve{mean: 600, sample: 1000}
	to, ok := p.Rescue(r, p.Replan(r, now))
	if !ok || to.Begin >= now.Begin || to.Prob < .9 {
		t.Errorf("with room: %+v, %v", to, ok)
	}
	p.Room = from(noon+3*hour, .3)
	if to, ok := p.Rescue(r, p.Replan(r, now)); ok {
		t.Errorf("without room: %+v", to)
	}
}

// plainAt returns a Planner.Room for plain jobs that leave no room once they are eligible.
func plainAt(at int64) func(workload.Claim, int64, float64) workload.Room {
	return func(c workload.Claim, _ int64, _ float64) workload.Room {
		room := workload.Room{Prob: 1}
		if c.From >= at {
			room.Late = []workload.Hold{{At: at}}
		}
		return room
	}
}

// A job that plain jobs would leave no room has to have its nodes before them, with the probability
// asked for. If that costs too much, the refusal says what is in the way.
func TestRoomBesidePlainJobs(t *testing.T) {
	const eligible = noon + hour
	p := Planner{Forecaster: curve{mean: 300, sample: 1000}}
	r := request(1, 2*hour, .9)
	free := p.Plan(r).Plan
	p.Room = plainAt(eligible)
	a := p.Plan(r)
	if a.Plan == nil || a.Plan.Start >= eligible || a.Plan.Estimate.Prob < .9 {
		t.Fatalf("%+v, %+v", a.Plan, a.Refusal)
	}
	before := r
	before.Deadline, before.HoldUntil = eligible-1, eligible-1
	if want := p.Plan(before).Plan.Begin; a.Plan.Begin > want+fineStep {
		t.Errorf("eligible %d s later than for a start before the plain jobs", a.Plan.Begin-want)
	}
	r.Earliest = free.Begin
	a = p.Plan(r)
	if a.Refusal == nil || a.Refusal.Limit != "--max-cost" || offerOf(t, a, OfferCost) == nil {
		t.Errorf("with a ceiling: %+v, %+v", a.Plan, a.Refusal)
	}
	p.Room = plainAt(noon + 60)
	r.Earliest = 0
	a = p.Plan(r)
	if a.Refusal == nil || !strings.Contains(a.Refusal.Reason, "jobs that wait for their begin time leave too little room") {
		t.Errorf("%+v, %+v", a.Plan, a.Refusal)
	}
	p.Room = plainAt(noon + 3*hour)
	if a = p.Plan(r); a.Plan == nil || a.Plan.Begin != free.Begin {
		t.Errorf("with plain jobs after the deadline: %+v, %+v", a.Plan, a.Refusal)
	}
}

// Work that may begin at any time until the deadline has to begin before what leaves it too little
// room.
func TestRoomThatEnds(t *testing.T) {
	for name, room := range map[string]func(workload.Claim, int64, float64) workload.Room{
		"plain jobs": plainAt(noon + 20*60),
		"promises": func(c workload.Claim, _ int64, _ float64) workload.Room {
			if c.From < noon+20*60 {
				return workload.Room{Prob: 1}
			}
			return workload.Room{}
		},
	} {
		p := Planner{Forecaster: curve{mean: 3600, sample: 1000}, Room: room}
		r := request(1, 5*hour, .9)
		r.HoldUntil = 0
		if a := p.Plan(r); a.Plan != nil {
			t.Errorf("%s: promised with %.2f, though 20 minutes are too short", name, a.Plan.Estimate.Prob)
		}
		r.Prob = .25
		if a := p.Plan(r); a.Plan == nil || a.Plan.Last < noon+19*60 || a.Plan.Last >= noon+20*60 || a.Plan.Estimate.Prob > .3 {
			t.Errorf("%s: %+v, %+v", name, a.Plan, a.Refusal)
		}
	}
}

// Work that may begin at any time until the deadline may begin in the opening in which it is most
// probable, which need not be the one with the most room. A later deadline leaves no less.
func TestOpenings(t *testing.T) {
	free := func(c workload.Claim, _ int64, _ float64) workload.Room {
		switch after := c.From - noon; {
		case after < 600:
			return workload.Room{Prob: 1}
		case 2*hour <= after && after < 4*hour:
			return workload.Room{Prob: .8}
		}
		return workload.Room{}
	}
	p := Planner{Forecaster: curve{mean: 1800, sample: 1000}, Room: free}
	last := 0.
	for deadline := int64(hour); deadline <= 10*hour; deadline += hour / 2 {
		r := request(1, deadline, .9)
		r.HoldUntil = 0
		a := p.Decide(r)
		if a.Highest() < last-.01 {
			t.Errorf("by %d h less can be promised than before: %.2f, and not %.2f", deadline/hour, a.Highest(), last)
		}
		last = max(last, a.Highest())
	}
	if last < .75 {
		t.Errorf("at best %.2f", last)
	}
	r := request(1, 5*hour, .7)
	r.HoldUntil = 0
	a := p.Plan(r)
	if a.Plan == nil || a.Plan.Slot < noon+2*hour || a.Plan.Last < noon+2*hour || a.Plan.Last >= noon+4*hour {
		t.Fatalf("%+v, %+v", a.Plan, a.Refusal)
	}
	if got := p.Replan(r, Submission{a.Plan.Begin, a.Plan.Limit}); got.Prob < .7 || got.Begin != a.Plan.Begin {
		t.Errorf("planned again: %+v", got)
	}
}

// Plain jobs submitted after the promise: the job is moved before them as far as its ceiling
// allows, or the promise is endangered until its user accepts more.
func TestReplanBesidePlainJobs(t *testing.T) {
	p := Planner{Forecaster: curve{mean: 300, sample: 1000}}
	r := request(1, 2*hour, .9)
	a := p.Plan(r)
	now := Submission{Begin: a.Plan.Begin, Limit: a.Plan.Limit}
	p.Room = plainAt(noon + hour)
	if got := p.Replan(r, now); got.Prob < .9 || got.Begin >= noon+hour || got.Stay != 0 || !got.Late {
		t.Errorf("without a ceiling: %+v", got)
	}
	r.Earliest = now.Begin
	got := p.Replan(r, now)
	if got.Prob != 0 || got.Stay != 0 || got.Submission != now {
		t.Errorf("with one: %+v", got)
	}
	to, ok := p.Rescue(r, got)
	if !ok || to.Begin >= noon+hour || to.Prob < .9 {
		t.Fatalf("to be accepted: %+v, %v", to, ok)
	}
	r.Earliest, r.Now = to.Begin, to.Begin+60
	if got := p.Replan(r, Submission{Begin: to.Begin, Limit: to.Limit}); got.Prob < .85 {
		t.Errorf("eligible before them: %+v", got)
	}
}

// Where the room gets less more than once, each time counts, also where Room need not be exact.
func TestRoomGetsLess(t *testing.T) {
	room := func(c workload.Claim, _ int64, least float64) workload.Room {
		prob := .1
		switch after := c.From - noon; {
		case after < 600:
			prob = .5
		case after < hour:
			prob = 1
		case after < 2*hour:
			prob = .7
		}
		if prob < least {
			prob = (prob + least) / 2
		}
		return workload.Room{Prob: prob}
	}
	p, r := Planner{Room: room}, request(1, 3*hour, .5)
	r.HoldUntil = noon + 60
	at, got := p.slot(&r, r.Deadline, 1)
	for last, want := range map[int64]float64{hour / 2: 1, hour - 1: 1, hour: .7, 2*hour - 1: .7, 2 * hour: .1, 3 * hour: .1} {
		if prob := got.Within(at, noon+last); at < noon+600 || at >= noon+1800 || prob != want {
			t.Errorf("at %d s, within %d s: %v, want %v", at-noon, last, prob, want)
		}
	}
}
