package trajectory

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/workload"
)

// steps is a forecaster made of a random table. The probability depends on the class of the
// limit and on the budget, and is not monotonic in either.
type steps struct {
	seed  uint64
	width int64 // of a cell, seconds
}

func (f steps) Forecast(r workload.Request, _ int64, c []workload.Candidate, est []workload.Estimate) {
	for i := range c {
		cell := rand.New(rand.NewPCG(f.seed^uint64(r.Nodes), uint64(c[i].Limit/f.width)<<32|uint64(c[i].Budget/f.width)))
		est[i] = workload.Estimate{Prob: cell.Float64(), Sample: 500, Class: "cell"}
		est[i].Held = est[i].Prob * float64(c[i].Budget)
	}
}

// figure3 is the paper's Figure 3, with its two errors corrected. It walks back from the
// deadline in steps of 30 s, and asks one question for each submission. It plans strict
// reservations only, and has no limits.
func figure3(f Forecaster, r Request) (begin, limit int64, ok bool) {
	for k := int64(1); ; k++ {
		s := max(r.Now, r.Deadline-30*k)
		w := r.Job.Limit + (r.Deadline - s)
		for w%60 != 0 {
			w++
		}
		var e [1]workload.Estimate
		f.Forecast(r.Job, r.Now, []workload.Candidate{{Submit: s, Limit: w, Budget: r.Deadline - s}}, e[:])
		if e[0].Prob >= r.Prob {
			return s, w, true
		}
		if s == r.Now {
			return 0, 0, false
		}
	}
}

func randomRequest(r *rand.Rand) Request {
	now := 1_700_000_000 + r.Int64N(1000)
	deadline := now + 1 + r.Int64N(fineSpan)
	q := Request{
		Job: workload.Request{Size: workload.Size{Nodes: 1 + r.Int32N(8), CPUs: 8}, Limit: 1 + r.Int64N(7200)},
		Now: now, Deadline: deadline, HoldUntil: deadline, Prob: .5 + .5*r.Float64(),
	}
	switch r.IntN(3) {
	case 0:
		q.HoldUntil = 0
	case 1:
		q.HoldUntil -= r.Int64N(deadline - now)
	}
	return q
}

func TestStrictPlanAgainstFigure3(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	planned, refused := 0, 0
	for i := range 400 {
		f := steps{seed: uint64(i), width: 60 + r.Int64N(20000)}
		q := randomRequest(r)
		q.HoldUntil = q.Deadline
		a := (&Planner{Forecaster: f}).Plan(q)
		begin, limit, ok := figure3(f, q)
		switch {
		case ok != (a.Plan != nil) || ok == (a.Refusal != nil):
			t.Fatalf("request %+v: figure 3 says %v, Plan says %+v", q, ok, a)
		case !ok:
			refused++
		case a.Plan.Begin != begin || a.Plan.Limit != limit:
			t.Fatalf("request %+v: begin %d limit %d, figure 3 has %d and %d", q, a.Plan.Begin, a.Plan.Limit, begin, limit)
		default:
			planned++
		}
	}
	if planned < 50 || refused < 50 {
		t.Errorf("%d planned and %d refused: the test is lopsided", planned, refused)
	}
}

// slow does what the documentation of Plan says, one question at a time. It sorts all
// submissions by cost and then by time, and takes the first one that has the probability
// asked for.
func slow(f Forecaster, c *limits.Cluster, r Request) (begin, limit int64, ok bool) {
	seconds := []int64{r.Now}
	for s := r.Deadline - 30; s > r.Now; s -= 30 {
		seconds = append(seconds, s)
	}
	cost := func(s int64) int64 { return max(0, r.HoldUntil-s) }
	slices.SortFunc(seconds, func(a, b int64) int { return cmp.Or(cmp.Compare(cost(a), cost(b)), cmp.Compare(a, b)) })
	tried := false // may be submitted
	for _, s := range seconds {
		w := r.Job.Limit + cost(s)
		for w%60 != 0 {
			w++
		}
		if most := c.Partitions["main"].MaxTime; most > 0 && w > most {
			continue
		}
		// The job may start at any second up to this one without meeting a maintenance.
		last := r.Deadline
		for _, v := range c.Job(r.Job, r.Needs).Blocked(r.Pieces) {
			if v.End > s {
				last = min(last, v.Start-w)
			}
		}
		if last < s {
			continue
		}
		var e [1]workload.Estimate
		f.Forecast(r.Job, r.Now, []workload.Candidate{{Submit: s, Limit: w, Budget: last - s}}, e[:])
		first := !tried
		tried = true
		most := e[0].Prob
		if first && r.HoldUntil == 0 { // or by any time before
			for i := 0; i < delay.Points && s+int64(delay.At(i)) <= last; i++ {
				f.Forecast(r.Job, r.Now, []workload.Candidate{{Submit: s, Limit: w, Budget: int64(delay.At(i))}}, e[:])
				most = max(most, e[0].Prob)
			}
		}
		if most >= r.Prob {
			return s, w, true
		}
	}
	return 0, 0, false
}

func TestPlanAgainstSlow(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	modes := map[string]int{}
	for i := range 3000 {
		f := steps{seed: uint64(i), width: 60 + r.Int64N(20000)}
		q := randomRequest(r)
		c := randomCluster(r, q)
		p := &Planner{Forecaster: f, Cluster: c, Horizon: 2 * fineSpan}
		a, _ := p.try(&q, 1)
		begin, limit, ok := slow(f, c, q)
		switch {
		case ok != (a.Plan != nil):
			t.Fatalf("request %+v: found %v, Plan says %+v", q, ok, a.Plan)
		case !ok:
			modes["refused"]++
		case a.Plan.Begin != begin || a.Plan.Limit != limit:
			t.Fatalf("request %+v: begin %d limit %d, found %d and %d", q, a.Plan.Begin, a.Plan.Limit, begin, limit)
		case q.HoldUntil == q.Deadline:
			modes["strict"]++
		case q.HoldUntil == 0 && begin > q.Now:
			modes["best effort, later"]++
		case q.HoldUntil == 0:
			modes["best effort, now"]++
		case begin < q.HoldUntil:
			modes["before the window"]++
		default:
			modes["in the window"]++
		}
	}
	if len(modes) != 6 || slices.Min(slices.Collect(maps.Values(modes))) < 10 {
		t.Errorf("%v: the test is lopsided", modes)
	}
}

// randomCluster has a partition with a time limit and some maintenance about the
// request's time.
func randomCluster(r *rand.Rand, q Request) *limits.Cluster {
	c := &limits.Cluster{Partitions: map[string]limits.Partition{"main": {
		Name: "main", Default: true, Up: true, MaxTime: limits.None, DefaultTime: limits.None,
		Nodes: []string{"n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"}, TotalCPUs: 64,
	}}}
	if r.IntN(2) == 0 {
		p := c.Partitions["main"]
		p.MaxTime = q.Job.Limit + r.Int64N(20000)
		c.Partitions["main"] = p
	}
	for range r.IntN(3) {
		start := q.Now + r.Int64N(2*fineSpan) - 3600
		c.Reservations = append(c.Reservations, limits.Reservation{
			Name: "maint", Start: start, End: start + 1 + r.Int64N(7200),
			Nodes: c.Partitions["main"].Nodes[:1+r.IntN(8)],
		})
	}
	return c
}

// These properties hold for any forecaster and any cluster.
func TestPlanProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	planned, refused, offered := 0, 0, 0
	for i := range 400 {
		f := steps{seed: uint64(i), width: 60 + r.Int64N(20000)}
		q := randomRequest(r)
		p := &Planner{Forecaster: f, Cluster: randomCluster(r, q), Horizon: 2 * fineSpan, MaxHold: float64(r.IntN(4))}
		a := p.Plan(q)
		if a.Refusal != nil {
			refused++
			offered += len(a.Refusal.Offers)
			for _, o := range a.Refusal.Offers {
				checkOffer(t, p, q, o)
			}
			for _, pt := range a.Trajectory {
				if pt.Prob >= q.Prob {
					t.Fatalf("refused, but %+v would do for %+v", pt, q)
				}
			}
			a.Refusal.Offers, a.Refusal.Reason = nil, strings.TrimSuffix(a.Refusal.Reason, NoOffer)
		} else {
			planned++
			checkPlan(t, p, q, a)
		}
		if decision := p.Decide(q); !reflect.DeepEqual(a, decision) {
			t.Fatalf("decided %+v, planned %+v but for the offers", decision, a)
		}
	}
	if planned < 50 || refused < 50 || offered < 50 {
		t.Errorf("%d planned, %d refused, %d offers: the test is lopsided", planned, refused, offered)
	}
}

func checkPlan(t *testing.T, p *Planner, q Request, a Answer) {
	t.Helper()
	got := a.Plan
	idle := func(begin int64) int64 { return max(0, q.HoldUntil-begin) }
	need := a.Job.Limit + idle(got.Begin)
	switch {
	case got.Estimate.Prob < q.Prob:
		t.Fatalf("%+v is planned at %v", q, got.Estimate.Prob)
	case got.Begin < q.Now || got.Begin >= q.Deadline:
		t.Fatalf("%+v begins at %d", q, got.Begin)
	case got.Begin != q.Now && got.Begin != q.HoldUntil && (q.Deadline-got.Begin)%30 != 0:
		t.Fatalf("%+v begins off the grid at %d", q, got.Begin)
	case got.Limit%60 != 0 || got.Limit < need || got.Limit >= need+60:
		t.Fatalf("%+v, begun at %d, has the limit %d", q, got.Begin, got.Limit)
	case got.Expected.NodeSeconds > got.Worst.NodeSeconds:
		t.Fatalf("expected %v above worst %v", got.Expected, got.Worst)
	}
	for _, pt := range a.Trajectory {
		cheaper := idle(pt.Begin) < idle(got.Begin) || idle(pt.Begin) == idle(got.Begin) && pt.Begin < got.Begin
		if pt.Prob >= q.Prob && cheaper {
			t.Fatalf("%+v costs less than %d, or is earlier, and good enough for %+v", pt, got.Begin, q)
		}
	}
	if most := p.Cluster.Partitions["main"].MaxTime; most > 0 && got.Limit > most {
		t.Fatalf("%+v has the limit %d, above the partition's %d", q, got.Limit, most)
	}
	if most := max(hour, p.MaxHold*float64(a.Job.Limit)); p.MaxHold > 0 && float64(got.Limit) >= float64(a.Job.Limit)+most+60 {
		t.Fatalf("%+v has the limit %d, and may hold nodes for %v", q, got.Limit, most)
	}
	// The work must not meet a maintenance that needs its nodes, and a job that starts
	// without a wait must end before that maintenance.
	for _, w := range p.Cluster.Job(a.Job, nil).Blocked(a.Pieces) {
		if w.Start < got.Begin+got.Limit && w.End > got.Begin {
			t.Fatalf("%+v from %d to %d meets %+v", q, got.Begin, got.Begin+got.Limit, w)
		}
	}
}

func checkOffer(t *testing.T, p *Planner, q Request, o Offer) {
	t.Helper()
	a := p.Plan(o.Request)
	if a.Plan == nil || a.Plan.Worst.NodeSeconds > o.Plan.Worst.NodeSeconds || a.Plan.Work != o.Plan.Work {
		t.Fatalf("offer %+v is planned as %+v", o, a)
	}
	checkPlan(t, p, o.Request, a)
	if o.Request.Now != q.Now {
		t.Fatalf("an offer from another time: %+v", o)
	}
	same := o.Request
	switch o.Kind {
	case OfferProb:
		if same.Prob >= q.Prob || same.Prob < q.Prob/2 {
			t.Fatalf("an offer of %v for %v", same.Prob, q.Prob)
		}
		same.Prob = q.Prob
	case OfferFree:
		if same.HoldUntil != 0 || q.HoldUntil != q.Deadline {
			t.Fatalf("not best effort for a strict request: %+v for %+v", o.Request, q)
		}
		if same.Prob > q.Prob || same.Prob < q.Prob/2 {
			t.Fatalf("an offer of %v for %v", same.Prob, q.Prob)
		}
		if later := same.Deadline - q.Deadline; later != 0 && (later < 0 || same.Deadline%60 != 0 || same.Prob != q.Prob) {
			t.Fatalf("a later deadline of %d with %v for %d with %v", same.Deadline, same.Prob, q.Deadline, q.Prob)
		}
		same.Deadline, same.HoldUntil, same.Prob = q.Deadline, q.HoldUntil, q.Prob
	case OfferLater:
		if same.Deadline <= q.Deadline || same.Deadline%60 != 0 {
			t.Fatalf("a later deadline of %d for %d", same.Deadline, q.Deadline)
		}
		if q.HoldUntil != 0 && same.Deadline-same.HoldUntil != q.Deadline-q.HoldUntil {
			t.Fatalf("the window changed from %+v to %+v", q, same)
		}
		same.Deadline, same.HoldUntil = q.Deadline, q.HoldUntil
	case OfferNodes:
		if same.Job.Nodes > q.Job.Nodes || same.Job.CPUs >= q.Job.CPUs {
			t.Fatalf("not fewer nodes: %+v for %+v", o.Request, q)
		}
		same.Job.Size = q.Job.Size
	case OfferTasks:
		if same.Tasks >= q.Tasks || same.Tasks < 1 {
			t.Fatalf("not fewer tasks: %+v for %+v", o.Request, q)
		}
		same.Tasks = q.Tasks
	case OfferTime:
		if same.Job.Limit >= q.Job.Limit || same.Job.Limit <= 0 {
			t.Fatalf("not less time: %+v for %+v", o.Request, q)
		}
		same.Job.Limit = q.Job.Limit
	}
	same.Job.Partition, same.TasksNodes = q.Job.Partition, q.TasksNodes
	if !reflect.DeepEqual(same, q) {
		t.Fatalf("offer %s differs in more than that: %+v for %+v", o.Kind, o.Request, q)
	}
}
