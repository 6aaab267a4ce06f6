package trajectory

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// curve is a forecaster with one class of jobs. The probability of a start within the budget
// is 1 - exp(-budget/mean), whatever the limit. Jobs on more than two nodes wait ten times
// as long.
type curve struct {
	mean   float64
	sample int
}

func (f curve) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	mean := f.mean
	if r.Nodes > 2 {
		mean *= 10
	}
	for i := range c {
		est[i] = workload.Estimate{Sample: f.sample, Class: "all"}
		if b := float64(c[i].Budget - max(0, now-c[i].Submit)); f.sample > 0 && b > 0 {
			est[i].Prob = 1 - math.Exp(-b/mean)
			est[i].Forecast, est[i].Bound = est[i].Prob, est[i].Prob
			est[i].Held = b - mean*est[i].Prob
		}
	}
}

const (
	hour = 3600
	noon = 1_700_000_000/86400*86400 + 12*hour
)

// site has eight nodes and the partition "main", which edit may change.
func site(edit func(*limits.Partition)) *limits.Cluster {
	p := limits.Partition{
		Name: "main", Default: true, Up: true, MaxTime: limits.None, DefaultTime: limits.None, MaxNodes: limits.None,
		Nodes: strings.Fields("n1 n2 n3 n4 n5 n6 n7 n8"), TotalCPUs: 64,
	}
	if edit != nil {
		edit(&p)
	}
	return &limits.Cluster{Partitions: map[string]limits.Partition{"main": p}}
}

// request asks for one hour on nodes at noon + lead.
func request(nodes int32, lead int64, prob float64) Request {
	return Request{
		Job: workload.Request{Size: workload.Size{Nodes: nodes, CPUs: 8 * nodes}, Limit: hour},
		Now: noon, Deadline: noon + lead, HoldUntil: noon + lead, Prob: prob,
	}
}

func offerOf(t *testing.T, a Answer, kind Kind) *Offer {
	t.Helper()
	if a.Refusal == nil {
		t.Fatalf("planned: %+v", a.Plan)
	}
	for i := range a.Refusal.Offers {
		if o := &a.Refusal.Offers[i]; o.Kind == kind {
			return o
		}
	}
	return nil
}

func TestOffers(t *testing.T) {
	// Within half an hour less a minute: 1-exp(-.483) = .383 on 1 or 2 nodes, less the slack.
	p := &Planner{Forecaster: curve{mean: hour / 10, sample: 1000}, Cluster: site(nil)}
	for asked, want := range map[float64]bool{.72: true, .73: false} {
		if o := offerOf(t, p.Plan(request(4, hour/2, asked)), OfferProb); (o != nil) != want || want && o.Request.Prob != .36 {
			t.Errorf("best probability for %v: %+v", asked, o)
		}
	}
	a := p.Plan(request(4, hour/2, .9))
	// 1-exp(-x) >= .92 takes x = 2.526 h: 9093 s, and a minute, at whole minutes 9180 s.
	if o := offerOf(t, a, OfferLater); o == nil || o.Request.Deadline != noon+9180 || o.Plan.Begin != noon+60 {
		t.Errorf("later deadline: %+v", o)
	}
	if o := offerOf(t, a, OfferNodes); o == nil || o.Request.Job.Nodes != 2 || o.Request.Job.CPUs != 16 {
		t.Errorf("fewer nodes: %+v", o)
	}
	if o := offerOf(t, a, OfferTime); o != nil {
		t.Errorf("less time, which does not help: %+v", o)
	}
}

func TestRefusedWithoutHistory(t *testing.T) {
	const nothing = ", and nothing like it is certain enough to be offered instead: try a lower --prob, a much later deadline or a smaller job, ask again later, or do without a promise"
	for _, c := range []struct {
		sample int
		mean   float64
		want   string
	}{
		{0, 10 * hour, "not enough history for a probability of 0.9: 0 waits known, at least 29 needed; ask again once 29 more such jobs have started"},
		{28, 10 * hour, "not enough history for a probability of 0.9: 28 waits known, at least 29 needed; ask again once 1 more such job has started"},
		{29, 10 * hour, "a start by 2023-11-14T12:30:00Z, in 00:30:00 and its nodes held until then, can be promised with probability 0.04 at best, not 0.9" + nothing},
		{29, 1e9, "not even a probability of 0.01 can be promised for a start by 2023-11-14T12:30:00Z with its nodes held until then" + nothing},
	} {
		p := &Planner{Forecaster: curve{mean: c.mean, sample: c.sample}, Horizon: hour}
		a := p.Plan(request(1, hour/2, .9))
		if a.Refusal == nil || a.Refusal.Reason != c.want || a.Refusal.Limit != "" {
			t.Errorf("%+v, want %q", a.Refusal, c.want)
		}
		if c.sample == 0 && len(a.Refusal.Offers) != 0 {
			t.Errorf("offers out of nothing: %+v", a.Refusal.Offers)
		}
	}
}

// A probability for which many more waits were needed is none that one can wait for: the highest
// that can be promised is told.
func TestRefusedOutOfReach(t *testing.T) {
	p := &Planner{Forecaster: curve{mean: 1e9, sample: 949}, Horizon: hour, Cluster: site(nil)}
	const want = "not enough history for a probability of 0.9999999: 949 waits known, at least 29957322 needed; the highest probability that can be promised here is 0.99"
	if a := p.Plan(request(1, hour/2, .9999999)); a.Refusal == nil || a.Refusal.Reason != want || !a.Refusal.Young {
		t.Errorf("%+v, want %q", a.Refusal, want)
	}
	p.Forecaster = curve{mean: 1e9, sample: 25}
	const soon = "at least 29 needed; ask again once 4 more such jobs have started in partition main"
	if a := p.Plan(request(1, hour/2, .9)); a.Refusal == nil || !strings.HasSuffix(a.Refusal.Reason, soon) {
		t.Errorf("%+v, want %q", a.Refusal, soon)
	}
}

// No wait tells of a job inside of a reservation of Slurm's, and so waits are not what is missing.
// They are for a job that may start outside of it, too.
func TestRefusedWithoutHistoryOfReservation(t *testing.T) {
	for _, flex := range []bool{true, false} {
		c := site(nil)
		c.Reservations = []limits.Reservation{{Name: "course", Start: noon, End: noon + 10*hour, Nodes: c.Partitions["main"].Nodes[:4], Users: []string{"alice"}, Flex: flex}}
		p := &Planner{Forecaster: curve{mean: 10 * hour, sample: 0}, Horizon: hour, Cluster: c}
		r := request(1, hour/2, .9)
		r.Job.User, r.Needs = "alice", &workload.Needs{Reservation: "course"}
		if a := p.Plan(r); a.Refusal == nil || strings.HasPrefix(a.Refusal.Reason, "not enough history") != flex {
			t.Errorf("flex %v: %+v", flex, a.Refusal)
		}
	}
}

// The work fits and the reservation does not: the refusal names the rule that is the
// reason.
func TestRefusalNamesTheLimit(t *testing.T) {
	maintenance := func(start, end int64) *limits.Cluster {
		c := site(nil)
		c.Reservations = []limits.Reservation{{Name: "maint", Start: noon + start, End: noon + end, Nodes: c.Partitions["main"].Nodes}}
		return c
	}
	for _, c := range []struct {
		name    string
		cluster *limits.Cluster
		prob    float64
		limit   string
		reason  string
	}{
		{
			"MaxTime below the work", site(func(p *limits.Partition) { p.MaxTime = hour / 2 }), .9,
			"partition main MaxTime", "--time=01:00:00: partition main allows 00:30:00 (MaxTime)",
		},
		{
			"MaxTime below work and hold", site(func(p *limits.Partition) { p.MaxTime = 2 * hour }), .9,
			"partition main MaxTime", "partition main allows 02:00:00 (MaxTime), too little for the work and the time to hold it",
		},
		{
			"MaxTime of the work", site(func(p *limits.Partition) { p.MaxTime = hour }), .9,
			"partition main MaxTime", "partition main allows 01:00:00 (MaxTime), too little for the work and the time to hold it",
		},
		{
			"not MaxTime", site(func(p *limits.Partition) { p.MaxTime = 2 * hour }), .9999,
			"", "a start by 2023-11-14T16:00:00Z, in 04:00:00 and its nodes held until then, can be promised with probability 0.63 at best, not 0.9999",
		},
		{
			"size", site(func(p *limits.Partition) { p.Nodes = p.Nodes[:1] }), .9,
			"partition main size", "partition main has 1 node",
		},
		{
			"maintenance before", maintenance(hour, 3*hour), .9,
			"reservation maint", "reservation maint leaves partition main 0 of 8 nodes until too short a time before the deadline",
		},
		{
			"maintenance over the deadline", maintenance(3*hour, 5*hour), .9,
			"reservation maint", "reservation maint leaves partition main 0 of 8 nodes when the work is to run",
		},
		{
			"maintenance during the work", maintenance(4*hour+hour/2, 5*hour), .9,
			"reservation maint", "reservation maint leaves partition main 0 of 8 nodes when the work is to run",
		},
		{
			"maintenance right after", maintenance(5*hour+60, 6*hour), .9,
			"reservation maint", "reservation maint leaves partition main 0 of 8 nodes too soon after the work",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			// .9 takes 2.3 h of budget, 4 h give .98.
			p := &Planner{Forecaster: curve{mean: hour, sample: 100_000}, Cluster: c.cluster}
			a := p.Plan(request(2, 4*hour, c.prob))
			if a.Refusal == nil {
				t.Fatalf("planned %+v", a.Plan)
			}
			if a.Refusal.Limit != c.limit || a.Refusal.Reason != c.reason {
				t.Errorf("limit %q, reason %q; want %q, %q", a.Refusal.Limit, a.Refusal.Reason, c.limit, c.reason)
			}
			for _, o := range a.Refusal.Offers {
				checkOffer(t, p, request(2, 4*hour, c.prob), o)
			}
		})
	}
}

// TestRefusalTellsEnd: where the zone is known, a refusal tells from when to when a reservation is
// in the way, also one that has begun.
func TestRefusalTellsEnd(t *testing.T) {
	c := site(nil)
	c.Zone = time.UTC
	c.Reservations = []limits.Reservation{{Name: "maint", Start: noon - hour, End: noon + 5*hour, Nodes: c.Partitions["main"].Nodes}}
	p := &Planner{Forecaster: curve{mean: hour, sample: 100_000}, Cluster: c}
	want := fmt.Sprintf("reservation maint leaves partition main 0 of 8 nodes when the work is to run (from %s until %s)",
		slurmtime.Stamp(noon-hour, time.UTC), slurmtime.Stamp(noon+5*hour, time.UTC))
	if a := p.Plan(request(2, 4*hour, .9)); a.Refusal == nil || a.Refusal.Reason != want || len(a.Refusal.Offers) == 0 {
		t.Errorf("%+v, want %q", a.Refusal, want)
	}
	if a := p.Plan(request(2, 9*hour, .9)); a.Plan == nil || a.Plan.Begin < noon+5*hour {
		t.Errorf("after its end: %+v, %+v", a.Plan, a.Refusal)
	}
}

// The refusal names the rule that is the reason, also if other rules come first, or if the
// forecast would not be good enough either.
func TestRefusalNamesWhatBinds(t *testing.T) {
	c := site(func(p *limits.Partition) { p.MaxTime = 48 * hour })
	c.Reservations = []limits.Reservation{
		{Name: "soon", Start: noon + 600, End: noon + 1200, Nodes: c.Partitions["main"].Nodes},
		{Name: "over", Start: noon + 3*hour, End: noon + 5*hour, Nodes: c.Partitions["main"].Nodes},
	}
	for _, sample := range []int{0, 1000} {
		p := &Planner{Forecaster: curve{mean: hour, sample: sample}, Cluster: c}
		if a := p.Plan(request(2, 4*hour, .9)); a.Refusal == nil || a.Refusal.Limit != "reservation over" || len(a.Trajectory) != 0 {
			t.Errorf("%d waits known: %+v", sample, a.Refusal)
		}
	}
}

// A best-effort request fits before a maintenance, or below a MaxTime, that a strict request
// does not fit.
func TestUnheldWorkFits(t *testing.T) {
	c := site(func(p *limits.Partition) { p.MaxTime = hour + 300 })
	c.Reservations = []limits.Reservation{{Name: "maint", Start: noon + 4*hour, End: noon + 9*hour, Nodes: c.Partitions["main"].Nodes}}
	p := &Planner{Forecaster: curve{mean: hour, sample: 1000}, Cluster: c}
	for _, mode := range []struct {
		name        string
		hold, begin int64
		prob        float64 // 0 when refused
	}{
		// The job must start an hour before the maintenance.
		{"best effort", 0, noon, 1 - math.Exp(-3)},
		{"window", noon + hour, noon + hour, 1 - math.Exp(-2)},
		{"window too late", noon + 2*hour, 0, 0},
		{"strict", noon + 6*hour, 0, 0},
	} {
		t.Run(mode.name, func(t *testing.T) {
			r := request(1, 6*hour, .8)
			r.HoldUntil = mode.hold
			a := p.Plan(r)
			switch got := a.Plan; {
			case mode.prob == 0:
				if got != nil || a.Refusal.Limit == "" {
					t.Errorf("%+v %+v", got, a.Refusal)
				}
			case got == nil:
				t.Error(a.Refusal.Reason)
			case got.Begin != mode.begin || got.Limit != hour || math.Abs(got.Estimate.Prob-mode.prob) > 1e-9:
				t.Errorf("%+v, want %+v", got, mode)
			}
		})
	}
}

// A maintenance that leaves enough nodes, is over, or comes later is no reason to refuse.
func TestHarmlessMaintenance(t *testing.T) {
	for _, v := range []limits.Reservation{
		{Name: "some", Start: noon, End: noon + 9*hour, Nodes: []string{"n1", "n2", "n3", "n4", "n5", "n6"}},
		{Name: "other", Start: noon, End: noon + 9*hour, Nodes: []string{"x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"}},
		{Name: "past", Start: noon - 9*hour, End: noon, Nodes: strings.Fields("n1 n2 n3 n4 n5 n6 n7 n8")},
		{Name: "future", Start: noon + 9*hour, End: noon + 10*hour, Nodes: strings.Fields("n1 n2 n3 n4 n5 n6 n7 n8")},
	} {
		c := site(nil)
		c.Reservations = []limits.Reservation{v}
		p := &Planner{Forecaster: curve{mean: hour, sample: 1000}, Cluster: c}
		if a := p.Plan(request(2, 4*hour, .9)); a.Plan == nil || a.Plan.Begin != noon+4*hour-8310 {
			t.Errorf("%s: %+v %+v", v.Name, a.Plan, a.Refusal)
		}
	}
}

// After a maintenance, the search for a later deadline begins anew.
func TestLaterThanMaintenance(t *testing.T) {
	c := site(nil)
	c.Reservations = []limits.Reservation{{Name: "maint", Start: noon + hour, End: noon + 3*hour, Nodes: c.Partitions["main"].Nodes}}
	p := &Planner{Forecaster: curve{mean: hour, sample: 1000}, Cluster: c}
	o := offerOf(t, p.Plan(request(2, hour/2, .9)), OfferLater)
	if o == nil || o.Request.Deadline != noon+3*hour+9120 || o.Plan.Begin < noon+3*hour {
		t.Errorf("%+v", o)
	}
}

func TestSenselessRequests(t *testing.T) {
	for _, c := range []struct {
		edit func(*Request)
		want string
	}{
		{func(r *Request) { r.Prob = 0 }, "the probability 0 is not between 0 and 1"},
		{func(r *Request) { r.Prob = 1 }, "the probability 1 is not between 0 and 1"},
		{func(r *Request) { r.Prob = math.NaN() }, "the probability NaN is not between 0 and 1"},
		{func(r *Request) { r.Deadline = r.Now }, "the deadline has passed"},
		{func(r *Request) { r.Deadline = math.MaxInt64 }, "the deadline is more than a year away"},
		{func(r *Request) { r.HoldUntil = r.Deadline + 1 }, "the work may not start until after the deadline"},
		{func(r *Request) { r.Job.Limit = -1 }, "the time limit -1 s is not between 0 and a year"},
		{func(r *Request) { r.Job.Limit = math.MaxInt64 }, "the time limit 9223372036854775807 s is not between 0 and a year"},
		{func(r *Request) { r.Job.Nodes = -1 }, "a job cannot ask for less than nothing"},
		{func(r *Request) { r.Job.Limit = 0 }, "no time limit given, and partition main has none: say with --time how long the work takes at most"},
		{func(r *Request) { r.Job.Partition = "nowhere" }, `no partition "nowhere" (there is main)`},
	} {
		p := &Planner{Forecaster: curve{mean: hour, sample: 1000}, Cluster: site(nil)}
		r := request(2, hour, .5)
		c.edit(&r)
		a := p.Plan(r)
		if a.Plan != nil || a.Refusal == nil || a.Refusal.Reason != c.want || a.Refusal.Offers != nil {
			t.Errorf("%+v, want %q", a.Refusal, c.want)
		}
	}
}

// A job without a time limit has that of its partition, of which its work leaves some for holding
// nodes: an eighth, twelve hours at most, and what the default leaves anyway.
func TestNoTimeLimit(t *testing.T) {
	for _, c := range []struct{ longest, byDefault, want, free int64 }{
		{8 * hour, limits.None, 7 * hour, 8 * hour},
		{8 * hour, 8 * hour, 7 * hour, 8 * hour},
		{8 * hour, 2 * hour, 2 * hour, 2 * hour},
		{10 * 24 * hour, limits.None, 228 * hour, 240 * hour},
		{limits.None, 2 * hour, 2 * hour, 2 * hour},
	} {
		p := &Planner{Forecaster: curve{mean: 60, sample: 1000}, Cluster: site(func(p *limits.Partition) { p.MaxTime, p.DefaultTime = c.longest, c.byDefault })}
		r := request(2, 2*hour, .9)
		r.Job.Limit = 0
		a := p.Plan(r)
		if a.Plan == nil || a.Job.Limit != c.want || c.longest != limits.None && a.Plan.Limit > c.longest {
			t.Errorf("%+v: the work has %d s: %+v, %+v", c, a.Job.Limit, a.Plan, a.Refusal)
		}
		r.HoldUntil = 0
		if got := p.Plan(r).Job.Limit; got != c.free {
			t.Errorf("%+v: work that starts as soon as it can has %d s", c, got)
		}
	}
}

func TestLargest(t *testing.T) {
	for n := range int64(40) {
		for most := range n + 1 {
			asked := 0
			got := largest(n, func(x int64) bool { asked++; return x <= most })
			want := min(most, max(n-1, 0))
			if got != want {
				t.Errorf("largest of 1..%d up to %d: %d, want %d", n-1, most, got, want)
			}
			if asked > 12 {
				t.Errorf("%d questions for %d", asked, n)
			}
		}
	}
}

// outage is a forecaster that reports an outage, beside high probabilities.
type outage struct{}

func (outage) Forecast(_ workload.Request, _ int64, c []workload.Candidate, est []workload.Estimate) {
	for i := range c {
		est[i] = workload.Estimate{Prob: 1, Sample: 1000, Down: "no job has started for 6 hours"}
	}
}

// TestRefusedWhileDown: while the cluster is down nothing is promised or offered, whatever
// the probability. The refusal says why.
func TestRefusedWhileDown(t *testing.T) {
	p := Planner{Forecaster: outage{}}
	a := p.Plan(request(1, 6*hour, .9))
	if a.Plan != nil || a.Refusal == nil || a.Refusal.Reason != "no job has started for 6 hours" || len(a.Refusal.Offers) > 0 {
		t.Errorf("%+v, %+v", a.Plan, a.Refusal)
	}
}

// distant is a forecaster whose probabilities rise with the time until the submission.
type distant struct{ curve }

func (f distant) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	f.curve.Forecast(r, now, c, est)
	for i := range c {
		if c[i].Submit < now+hour {
			est[i].Prob *= .8
		}
	}
}

// TestLaterThanForecast: a later deadline is offered, although the forecast for a deadline
// far away is too high for it.
func TestLaterThanForecast(t *testing.T) {
	p := &Planner{Forecaster: distant{curve{mean: hour, sample: 1000}}, Cluster: site(nil)}
	o := offerOf(t, p.Plan(request(2, hour/2, .9)), OfferLater)
	if o == nil || o.Plan.Begin < noon+hour || o.Request.Deadline > noon+5*hour {
		t.Errorf("%+v", o)
	}
}

// sharp is a forecaster that knows when jobs of the near future start, and little of those after.
type sharp struct{ curve }

func (f sharp) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	f.curve.Forecast(r, now, c, est)
	for i := range c {
		if c[i].Submit < now+hour && c[i].Budget > 0 {
			est[i].Prob = .99
		}
	}
}

// TestLaterSoon: the deadline offered is the first at which there is room, although forecasts for
// deadlines far away ask for a longer lead.
func TestLaterSoon(t *testing.T) {
	opens := int64(noon + 700)
	room := from(opens, .1)
	p := &Planner{Forecaster: sharp{curve{mean: 2 * hour, sample: 1000}}, Cluster: site(nil), Room: func(c workload.Claim, now int64, least float64) workload.Room {
		r := room(c, now, least)
		if c.From < opens {
			r.Next = []int64{opens}
		}
		return r
	}}
	a := p.Plan(request(1, 300, .9))
	if o := offerOf(t, a, OfferLater); o == nil || o.Request.Deadline != noon+720 {
		t.Errorf("where room opens: %+v, %+v", a.Refusal, o)
	}
	p.Room = room // which does not tell when
	a = p.Plan(request(1, 300, .9))
	if o := offerOf(t, a, OfferLater); o == nil || o.Request.Deadline != noon+720 {
		t.Errorf("by halving: %+v, %+v", a.Refusal, o)
	}
}

// TestLaterBesideOthers: where others have all nodes until a time, and the nodes may idle for a
// short time only, a later deadline is found though only begin times of few minutes serve.
func TestLaterBesideOthers(t *testing.T) {
	opens := int64(noon + 2100) // their work is over
	p := &Planner{Forecaster: curve{mean: 30, sample: 1000}, Cluster: site(nil), MaxHold: 5, Room: func(c workload.Claim, _ int64, _ float64) workload.Room {
		if c.From < opens {
			return workload.Room{Prob: .01}
		}
		return workload.Room{Prob: 1, Holding: []workload.Hold{{At: opens - 1, Prob: .01}}}
	}}
	r := request(1, 1800, .9)
	r.Job.Limit = 300
	a := p.Plan(r)
	if o := offerOf(t, a, OfferLater); o == nil || o.Request.Deadline < opens || o.Request.Deadline > opens+300 {
		t.Errorf("%+v, %+v", a.Refusal, o)
	}
}

// TestMaxCostIsNotAll: a ceiling without which the probability would be greater, but not as great
// as asked for, is told of.
func TestMaxCostIsNotAll(t *testing.T) {
	for earliest, want := range map[int64]string{
		0:           "a start by 2023-11-14T13:00:00Z, in 01:00:00 and its nodes held until then, can be promised with probability 0.63 at best, not 0.9",
		noon + 1800: "a start by 2023-11-14T13:00:00Z, in 01:00:00 and its nodes held until then, can be promised with probability 0.39 at best, not 0.9; with a higher --max-cost 0.63 could be promised",
		noon + 3570: "not even a probability of 0.01 can be promised for a start by 2023-11-14T13:00:00Z with its nodes held until then; with a higher --max-cost 0.63 could be promised",
	} {
		p := &Planner{Forecaster: curve{mean: hour, sample: 1000}, Cluster: site(nil)}
		r := request(1, hour, .9)
		r.Earliest = earliest
		if a := p.Plan(r); a.Refusal == nil || !strings.HasPrefix(a.Refusal.Reason, want) || earliest == 0 && strings.Contains(a.Refusal.Reason, "--max-cost") {
			t.Errorf("not before %d: %+v, want %q", earliest, a, want)
		}
	}
}

// TestFreely: where there is room before the deadline only, work that starts when the job does is
// offered, with the probability that it has.
func TestFreely(t *testing.T) {
	p := &Planner{Forecaster: curve{mean: hour / 6, sample: 1000}, Cluster: site(nil), Room: func(c workload.Claim, _ int64, _ float64) workload.Room {
		if c.From < noon+3*hour {
			return workload.Room{Prob: .8}
		}
		return workload.Room{Prob: .1}
	}}
	a := p.Plan(request(1, 4*hour, .9))
	if o := offerOf(t, a, OfferFree); o == nil || o.Request.Prob != .78 || o.Request.Deadline != noon+4*hour {
		t.Errorf("%+v, %+v", a.Refusal, o)
	}
}

// A request for which nodes would idle longer than MaxHold is refused. The offers are a
// best-effort request and a lower probability. An hour is always allowed, and Replan ignores
// MaxHold.
func TestMaxHold(t *testing.T) {
	short := request(1, 6*hour, .9) // takes 2.3 h
	short.Job.Limit = hour / 6
	p := &Planner{Forecaster: curve{mean: hour, sample: 1000}, MaxHold: 4}
	a := p.Plan(short)
	const reason = "the nodes of a job of 00:10:00 may idle for at most 01:00:00 before the work (the site's max_hold): too short a time to start by the deadline with a probability of 0.9"
	if a.Refusal == nil || a.Refusal.Limit != "varq max_hold" || a.Refusal.Reason != reason {
		t.Fatalf("%+v", a)
	}
	if o := offerOf(t, a, OfferFree); o == nil || o.Request.HoldUntil != 0 || o.Plan.Worst.NodeSeconds != 0 {
		t.Errorf("best effort: %+v", o)
	}
	if o := offerOf(t, a, OfferProb); o == nil || o.Request.Prob != .61 || o.Plan.Begin < o.Request.Deadline-hour {
		t.Errorf("best probability: %+v", o)
	}
	if o := offerOf(t, a, OfferLater); o != nil {
		t.Errorf("a later deadline, which does not help: %+v", o)
	}
	// Where jobs that wait for their begin time take the room two hours before the deadline, they
	// are told of, too: without them the job would be promised.
	p.Room = func(workload.Claim, int64, float64) workload.Room {
		return workload.Room{Prob: 1, Late: []workload.Hold{{At: short.Deadline - 2*hour, Prob: .1}}}
	}
	b := p.Plan(short)
	if b.Refusal == nil || b.Refusal.Limit != "varq max_hold" || !strings.HasPrefix(b.Refusal.Reason, reason+"; besides, running jobs, other promises, or jobs that wait for their begin time leave too little room") {
		t.Errorf("behind jobs that wait for their begin time: %+v", b.Refusal)
	}
	p.Room = nil
	for _, c := range []struct {
		name    string
		maxHold float64
		limit   int64
	}{
		{"no bound", 0, hour / 6},
		{"as good as none", 1e300, hour / 6},
		{"14 limits", 14, hour / 6},
		{"a longer job", 4, hour},
	} {
		r := short
		r.Job.Limit = c.limit
		p.MaxHold = c.maxHold
		if a := p.Plan(r); a.Plan == nil {
			t.Errorf("%s: %+v", c.name, a.Refusal)
		}
	}
	p.MaxHold = 4
	pending := Submission{Begin: short.Deadline - hour, Limit: hour/6 + hour}
	if got := p.Replan(short, pending); got.Begin != short.Deadline-8310 {
		t.Errorf("a promise that no longer holds stays: %+v", got)
	}
}

// TestRefusedBeyond: where more work is ahead than was ever learnt from, a refusal says so.
func TestRefusedBeyond(t *testing.T) {
	beyond := func(est []workload.Estimate) {
		for i := range est {
			est[i].Beyond = .7
		}
	}
	for mean, want := range map[float64]string{
		4 * hour:   "more work is ahead than was ever learnt from, and by simulations of the queue a start by 2023-11-14T18:00:00Z, in 06:00:00 and its nodes held until then, can be promised with probability 0.77 at best, not 0.9",
		10_000_000: "more work is ahead than was ever learnt from, and by simulations of the queue not even a probability of 0.01 can be promised for a start by 2023-11-14T18:00:00Z with its nodes held until then",
	} {
		p := Planner{Forecaster: adjusted{curve{mean, 1000}, beyond}, Cluster: site(nil)}
		if a := p.Decide(request(1, 6*hour, .9)); a.Refusal == nil || a.Refusal.Reason != want {
			t.Errorf("a mean wait of %v s: %+v", mean, a.Refusal)
		}
	}
}

// A refusal says by how much a promise is more careful than the forecast.
func TestRefusalIsCareful(t *testing.T) {
	for _, c := range []struct {
		times, prob, mean float64
		want              string
	}{
		{1, .9, 4 * hour, "can be promised with probability 0.77 at best, not 0.9"},
		{2, .9, 4 * hour, "can be promised with probability 0.55 at best, not 0.9; the forecast is 0.77, and a promise counts the risk of being late 2.0 times, until more promises have been kept"},
		{10, .7, 2.5 * hour, "can be promised with probability 0.09 at best, not 0.7; the forecast is 0.90, and a promise counts the risk of being late 10.0 times, until more promises have been kept"},
	} {
		p := Planner{Cluster: site(nil), Forecaster: adjusted{curve{c.mean, 1000}, func(est []workload.Estimate) {
			for i := range est {
				est[i].Prob = max(0, 1-c.times*(1-est[i].Prob))
			}
		}}}
		a := p.Decide(request(1, 6*hour, c.prob))
		if a.Refusal == nil {
			t.Errorf("%+v: promised", c)
			continue
		}
		if !strings.HasSuffix(a.Refusal.Reason, c.want) {
			t.Errorf("%+v: %s", c, a.Refusal.Reason)
		}
	}
}

// amongMany is a Forecaster that interpolates: among few candidates it is less certain.
type amongMany struct{ few int }

func (f amongMany) Forecast(_ workload.Request, _ int64, c []workload.Candidate, est []workload.Estimate) {
	for i := range est {
		est[i] = workload.Estimate{Prob: .5, Sample: 1000}
		if len(c) == 1 || len(c) > f.few {
			est[i].Prob = .95
		}
	}
}

// No window is blamed for a refusal if a start after all windows would do but for how forecasts
// among fewer candidates differ.
func TestRefusalAfterWindow(t *testing.T) {
	cluster := site(nil)
	cluster.Reservations = []limits.Reservation{{Name: "maint", Start: noon, End: noon + hour, Nodes: cluster.Partitions["main"].Nodes}}
	r := request(1, 4*hour, .9)
	r.Job.Partition = "main"
	p := Planner{Cluster: cluster}
	p.Forecaster = amongMany{few: len(p.candidates(&r, p.allowed(&r), 1))}
	if a := p.Decide(r); a.Refusal == nil || a.Refusal.Limit != "" {
		t.Errorf("%+v", a.Refusal)
	}
}

// worse is a forecaster that has become less confident by so much.
type worse struct {
	Forecaster
	by float64
}

func (f worse) Forecast(r workload.Request, now int64, c []workload.Candidate, est []workload.Estimate) {
	f.Forecaster.Forecast(r, now, c, est)
	for i := range est {
		est[i].Prob = max(0, est[i].Prob-f.by)
	}
}

// An offer holds for a minute, in which the forecast may fall a little, and costs no more then.
func TestOffersHold(t *testing.T) {
	tried := 0
	for mean := range 30 {
		mean, sample := hour/10*float64(1+mean), 100_000
		for _, asked := range []float64{.5, .9, .97} {
			for _, free := range []bool{false, true} {
				r := request(4, 2*hour, asked)
				if free {
					r.HoldUntil = 0
				}
				p := &Planner{Forecaster: curve{mean: mean, sample: sample}, Cluster: site(nil)}
				a := p.Plan(r)
				if a.Refusal == nil {
					continue
				}
				for _, o := range a.Refusal.Offers {
					for _, after := range []int64{0, 3, 20, 60} {
						later := o.Request
						later.Now += after
						tried++
						fallen := &Planner{Forecaster: worse{p.Forecaster, .99 * min(.02, (1-o.Request.Prob)/4)}, Cluster: p.Cluster}
						if b := fallen.Plan(later); b.Plan == nil || b.Plan.Worst.NodeSeconds > o.Worst.NodeSeconds {
							t.Fatalf("%s by %d with %v, after %d s: %+v, %+v", o.Kind, o.Request.Deadline-noon, o.Request.Prob, after, b.Plan, b.Refusal)
						}
					}
				}
			}
		}
	}
	if tried < 200 {
		t.Errorf("%d offers were tried", tried)
	}
}

// A request that was offered a moment ago is promised, as surely as it can be at the cost that was
// said, whatever the forecast is, unless it has fallen to less than half.
func TestGiven(t *testing.T) {
	for _, c := range []struct {
		fallen, room float64
		idle         int64
		want         float64 // the forecast of the plan, or 0 for none
	}{
		{.02, 1, 8310, .88}, {.3, 1, 8310, .60}, {.3, .5, 8310, .5}, {.46, 1, 8310, 0}, {0, .4, 8310, 0},
		{0, 1, 8310, .9}, {0, 1, 2 * hour, .865}, {0, 1, hour, .632},
	} {
		p := &Planner{Forecaster: worse{curve{mean: hour, sample: 1000}, c.fallen}, Cluster: site(nil), Room: from(noon+24*hour, c.room)}
		r := request(1, 8310, .9) // .9006 if it is submitted now
		r.Given, r.GivenIdle = true, c.idle
		got := 0.
		if a := p.Decide(r); a.Plan != nil {
			got = a.Plan.Estimate.Prob
			if idle := r.HoldUntil - a.Plan.Begin; idle > c.idle {
				t.Errorf("%+v: %d s idle", c, idle)
			}
		}
		if math.Abs(got-c.want) > .002 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Where nodes may not idle for as long as a start is uncertain, work that may begin at any time is
// offered by a later deadline, if nothing else is.
func TestOffersFreelyLater(t *testing.T) {
	p := &Planner{Forecaster: curve{mean: 10 * hour, sample: 100_000}, Cluster: site(nil), MaxHold: 1}
	a := p.Plan(request(1, hour, .9))
	if a.Refusal == nil || len(a.Refusal.Offers) != 1 {
		t.Fatalf("%+v", a.Refusal)
	}
	o := a.Refusal.Offers[0]
	if lead := o.Request.Deadline - noon; o.Kind != OfferFree || o.Request.Prob != .9 || o.Idle != 0 || lead < 23*hour || lead > 27*hour {
		t.Errorf("%+v", o)
	}
}

// needing forecasts starts of jobs that have so many seconds.
type needing int64

func (n needing) Forecast(_ workload.Request, _ int64, c []workload.Candidate, est []workload.Estimate) {
	for i := range est {
		prob := .2
		if c[i].Budget >= int64(n) {
			prob = .9
		}
		est[i] = workload.Estimate{Prob: prob, Forecast: prob, Bound: prob, Sample: 100_000}
	}
}

// An offer counts in that nodes may have to idle for longer when it is taken, as less is left until
// the deadline.
func TestOfferedIdle(t *testing.T) {
	r := request(2, 120, .95)
	p := &Planner{Forecaster: needing(60)}
	o := offerOf(t, p.Plan(r), OfferProb)
	if o == nil || o.Plan.Begin != noon+60 || o.Idle != 120 || o.Worst.NodeSeconds != 240 || o.Plan.Worst.NodeSeconds != 120 {
		t.Fatalf("%+v", o)
	}
	later := o.Request
	later.Now, later.Given, later.GivenIdle = noon+50, true, o.Idle
	p.Forecaster = needing(70)
	if a := p.Decide(later); a.Plan == nil || a.Plan.Begin != later.Now || a.Plan.Worst.NodeSeconds > o.Worst.NodeSeconds {
		t.Errorf("%+v, %+v", a.Plan, a.Refusal)
	}
}

// That something else was offered before does not count for new offers.
func TestOffersAfterGiven(t *testing.T) {
	p := &Planner{Forecaster: curve{mean: hour, sample: 1000}, Cluster: site(nil)}
	r := request(1, hour/2, .9) // .39 if it is submitted now
	plain := p.Plan(r)
	r.Given, r.GivenIdle = true, hour
	given := p.Plan(r)
	if plain.Refusal == nil || given.Refusal == nil || len(plain.Refusal.Offers) == 0 || !reflect.DeepEqual(plain.Refusal.Offers, given.Refusal.Offers) {
		t.Errorf("%+v, %+v", plain.Refusal, given.Refusal)
	}
}

// hopeful forecasts more along a trajectory than of one submission by itself.
type hopeful struct{ along, alone float64 }

func (h hopeful) Forecast(_ workload.Request, _ int64, c []workload.Candidate, est []workload.Estimate) {
	for i := range est {
		est[i] = workload.Estimate{Prob: h.along, Forecast: h.along, Bound: h.along, Sample: 1_000_000}
		if len(c) == 1 {
			est[i].Prob = h.alone
		}
	}
}

// Less is offered than a trajectory promises, if that is what a submission by itself has.
func TestOfferOfLess(t *testing.T) {
	p := &Planner{Forecaster: hopeful{.94, .9}, Cluster: site(nil)}
	a := p.Plan(request(1, hour, .985))
	if a.Refusal == nil || len(a.Refusal.Offers) == 0 || a.Refusal.Offers[0].Kind != OfferProb || a.Refusal.Offers[0].Request.Prob != .88 {
		t.Errorf("%+v", a.Refusal)
	}
}
