package trajectory

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

func TestReplanBeforeEligible(t *testing.T) {
	// With a mean of 1 h, probability .9 takes 8290 s: the latest submission is 8310 s
	// before the deadline. A fifth of the risk, .98, takes 14083 s: 14100 s before it.
	for _, c := range []struct {
		name  string
		mean  float64
		begin int64 // before the deadline
		want  int64
		prob  float64 // of the revision, at least
	}{
		{"right", hour, 8310, 8310, .9},
		{"early, but not by enough of the risk", hour, 14070, 14070, .9},
		{"too early by less than an eighth is left alone", hour / 2, 7050 + 990, 7050 + 990, .98},
		{"too early by an eighth moves", hour / 2, 7050 + 1020, 7050, .98},
		{"too early by less than four minutes is left alone", hour / 20, 720 + 210, 720 + 210, .98},
		{"the queue has become faster", hour / 2, 8310, 7050, .98},
		{"the queue has become slower", 1.5 * hour, 8310, 12450, .9},
		{"a step too late is left alone", hour, 8280, 8280, .89},
		{"two steps too late move", hour, 8250, 8310, .9},
		{"lost, but as good as it gets", 10 * hour, 8310, 4 * hour, .32},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Planner{Forecaster: curve{mean: c.mean, sample: 1000}, Cluster: site(nil)}
			r := request(2, 4*hour, .9)
			current := Submission{Begin: r.Deadline - c.begin, Limit: r.enlarged(r.Deadline - c.begin)}
			got := p.Replan(r, current)
			want := Submission{Begin: r.Deadline - c.want, Limit: r.enlarged(r.Deadline - c.want)}
			if got.Submission != want || got.Prob < c.prob {
				t.Errorf("%+v, want %+v and %v or more", got, want, c.prob)
			}
		})
	}
}

// TestReplanOfNoUse: a job is not moved where what room there is bounds the forecast with and
// without the move alike.
func TestReplanOfNoUse(t *testing.T) {
	r := request(2, 4*hour, .9)
	// starts in time with .63
	current := Submission{Begin: r.Deadline - 3600, Limit: r.enlarged(r.Deadline - 3600)}
	for prob, moves := range map[float64]bool{.4: false, .63: false, .7: true, 1: true} {
		p := &Planner{Forecaster: curve{mean: hour, sample: 1000}, Cluster: site(nil), Room: func(workload.Claim, int64, float64) workload.Room {
			return workload.Room{Prob: prob}
		}}
		if got := p.Replan(r, current); got.Begin != current.Begin != moves || got.Prob < got.Stay {
			t.Errorf("where there is room with probability %v: %+v", prob, got)
		}
	}
}

// A window or a best-effort request whose promise holds moves only if that lowers its cost.
func TestReplanWindowAndBestEffort(t *testing.T) {
	for _, c := range []struct {
		name               string
		mean               float64
		hold, begin, moved int64 // before the deadline; a hold of 0 is best effort
	}{
		{"before the window opens", hour, hour, 8310, 8310},
		{"a window that the queue is now fast enough for", hour / 4, hour, 8310, hour},
		{"no cheaper", hour / 3, 3 * hour, 8310, 8310},
		{"best effort, good enough", hour, 0, 8310, 8310},
		{"best effort, not good enough", 1.5 * hour, 0, 8310, 4 * hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Planner{Forecaster: curve{mean: c.mean, sample: 1000}, Cluster: site(nil)}
			r := request(2, 4*hour, .9)
			if r.HoldUntil = 0; c.hold != 0 {
				r.HoldUntil = r.Deadline - c.hold
			}
			current := Submission{Begin: r.Deadline - c.begin, Limit: r.enlarged(r.Deadline - c.begin)}
			want := Submission{Begin: r.Deadline - c.moved, Limit: r.enlarged(r.Deadline - c.moved)}
			if got := p.Replan(r, current); got.Submission != want || got.Prob < .9 {
				t.Errorf("%+v, want %+v and .9 or more", got, want)
			}
		})
	}
}

func TestReplanForbidden(t *testing.T) {
	c := site(nil)
	c.Reservations = []limits.Reservation{{Name: "maint", Start: noon + 3*hour, End: noon + 5*hour, Nodes: c.Partitions["main"].Nodes}}
	p := &Planner{Forecaster: curve{mean: hour, sample: 1000}, Cluster: c}
	current := Submission{Begin: noon + hour, Limit: 4 * hour}
	r := request(2, 4*hour, .9)
	r.Job.Partition = "main"
	if got := p.Replan(r, current); got.Submission != current || got.Prob != 0 {
		t.Errorf("a maintenance over the deadline: %+v", got)
	}
}

func TestReplanEligible(t *testing.T) {
	p := &Planner{Forecaster: curve{mean: hour, sample: 1000}}
	r := request(2, 4*hour, .9)
	begin := r.Deadline - 2*hour
	for _, c := range []struct {
		name      string
		now       int64 // after begin
		has, want int64 // limit
		prob      float64
	}{
		{"just eligible", 0, 3 * hour, 3 * hour, .864},
		{"half a minute later", 30, 3 * hour, 3 * hour, .863},
		{"half the way", hour, 3 * hour, 2*hour + 60, .632}, // the queue has no memory
		{"a second before", 2*hour - 1, 3 * hour, hour + 120, .0002},
		{"at the deadline", 2 * hour, 3 * hour, hour, 0},
		{"long after", 9 * hour, 3 * hour, hour, 0},
		{"lowered by somebody", hour, 90 * 60, 90 * 60, .632},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.Now = begin + c.now
			got := p.Replan(r, Submission{Begin: begin, Limit: c.has})
			if got.Begin != begin || got.Limit != c.want || got.Prob < c.prob || got.Prob > c.prob+.002 {
				t.Errorf("%+v, want limit %d and probability %v", got, c.want, c.prob)
			}
		})
	}
}

// Once the work may start, the job needs the work's time limit alone.
func TestReplanTrimsToTheWindow(t *testing.T) {
	p := &Planner{Forecaster: curve{mean: hour, sample: 1000}}
	r := request(2, 4*hour, .9)
	begin := r.Now
	r.HoldUntil = r.Now + hour
	for _, c := range []struct{ now, limit int64 }{
		{0, 2 * hour}, {hour / 2, hour + hour/2 + 60}, {hour - 1, hour + 120}, {hour, hour}, {2 * hour, hour},
	} {
		r.Now = begin + c.now
		if got := p.Replan(r, Submission{Begin: begin, Limit: 2 * hour}); got.Limit != c.limit {
			t.Errorf("after %d s the limit is %d s, want %d", c.now, got.Limit, c.limit)
		}
	}
}

// Whatever the forecast becomes, a change leaves the probability at least as high as before
// or as promised. The limit is never less than the job needs. A second Replan at the same
// time changes nothing.
func TestReplanProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	moved, trimmed := 0, 0
	for i := range 300 {
		q := randomRequest(r)
		c := randomCluster(r, q)
		p := &Planner{Forecaster: steps{seed: uint64(i), width: 60 + r.Int64N(9000)}, Cluster: c}
		a := p.Plan(q)
		if a.Plan == nil {
			continue
		}
		q.Job = a.Job
		current := Submission{a.Plan.Begin, a.Plan.Limit}
		for q.Now < q.Deadline+hour {
			// The forecast changes under the plan.
			p.Forecaster = steps{seed: r.Uint64(), width: 60 + r.Int64N(9000)}
			b := p.bounds(&q)
			before := p.pending(&q, b, current).Prob
			got := p.Replan(q, current)
			need := q.Job.Limit + max(0, q.HoldUntil-max(q.Now, got.Begin))
			switch {
			case got.Limit < need:
				t.Fatalf("limit %d, the job needs %d: %+v at %d", got.Limit, need, q, q.Now)
			case q.Now >= current.Begin && (got.Begin != current.Begin || got.Limit > current.Limit):
				t.Fatalf("%+v became %+v when eligible", current, got)
			case q.Now < current.Begin && got.Begin < q.Now:
				t.Fatalf("moved into the past: %+v at %d", got, q.Now)
			case q.Now < current.Begin && got.Prob < min(before, q.Prob):
				t.Fatalf("%+v at %v became %+v", current, before, got)
			case before >= q.Prob && got.Begin != current.Begin && q.idle(got.Begin) >= q.idle(current.Begin):
				t.Fatalf("%+v at %v became %+v, which costs no less", current, before, got)
			}
			if again := p.Replan(q, got.Submission); again.Submission != got.Submission {
				t.Fatalf("%+v became %+v and at once %+v", current, got, again)
			}
			if got.Begin != current.Begin {
				moved++
			} else if got.Limit != current.Limit {
				trimmed++
			}
			current = got.Submission
			q.Now += 1 + r.Int64N(2*hour)
		}
	}
	if moved < 50 || trimmed < 50 {
		t.Errorf("%d moves, %d trims: the test is lopsided", moved, trimmed)
	}
}

// jobs is a Forecaster that counts the candidates it is asked about by their job.
type jobs map[int64]int

func (f jobs) Forecast(_ workload.Request, _ int64, c []workload.Candidate, est []workload.Estimate) {
	for i := range c {
		f[c[i].Job]++
		est[i] = workload.Estimate{Prob: .95, Sample: 1000}
	}
}

// TestReplanNamesTheJob: all forecasts for a pending job say which job it is, and none for a
// request that has no job yet does.
func TestReplanNamesTheJob(t *testing.T) {
	f := jobs{}
	p := &Planner{Forecaster: f, Cluster: site(nil)}
	r := request(2, 4*hour, .9)
	p.Plan(r)
	if len(f) != 1 || f[0] == 0 {
		t.Errorf("a plan asks about %v", f)
	}
	clear(f)
	r.ID = 4711
	for _, begin := range []int64{r.Now + hour, r.Now - 60} {
		p.Replan(r, Submission{Begin: begin, Limit: r.enlarged(begin)})
	}
	if len(f) != 1 || f[4711] == 0 {
		t.Errorf("a revision asks about %v", f)
	}
}

// The job moves as far as its user has agreed to, though that is less than it moves for anything
// else.
func TestReplanMovesToWhatIsAgreed(t *testing.T) {
	p := Planner{Forecaster: curve{mean: 300, sample: 1000}}
	r := request(1, 2*hour, .9)
	a := p.Plan(r)
	now := Submission{Begin: a.Plan.Begin, Limit: a.Plan.Limit}
	p.Forecaster = curve{mean: 320, sample: 1000}
	r.Earliest = now.Begin
	to, ok := p.Rescue(r, p.Replan(r, now))
	if !ok || now.Begin-to.Begin >= leastMove {
		t.Fatalf("%+v, %v", to, ok)
	}
	r.Earliest = to.Begin
	if got := p.Replan(r, now); got.Begin != to.Begin || got.Prob < .9 {
		t.Errorf("agreed to %d: %+v", to.Begin, got)
	}
}

// plateau is a Forecaster by which an earlier submission is a little more probable.
type plateau struct{ base, slope float64 }

func (f plateau) Forecast(_ workload.Request, _ int64, c []workload.Candidate, est []workload.Estimate) {
	for i := range c {
		p := f.base + f.slope*float64(c[i].Budget)/hour
		est[i] = workload.Estimate{Prob: p, Forecast: p + .2, Sample: 1000}
	}
}

// A job is moved to reach its promise, or for a gain that forecasts can tell.
func TestReplanMovesForWhatIsWorthIt(t *testing.T) {
	for _, c := range []struct {
		name        string
		base, slope float64
		moves       bool
	}{
		{"within the exactness of forecasts", .70, .004, false},
		{"a gain", .70, .02, true},
		{"the promise is reached", .89, .003, true},
	} {
		r := request(1, 6*hour, .9)
		current := Submission{Begin: r.Deadline - 2*hour, Limit: 3 * hour}
		got := (&Planner{Forecaster: plateau{c.base, c.slope}}).Replan(r, current)
		if moved := got.Submission != current; moved != c.moves {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// Users are told the forecast, and not what could be promised.
func TestReplanForecasts(t *testing.T) {
	p := &Planner{Forecaster: plateau{.1, 0}}
	r := request(1, 2*hour, .9)
	for _, begin := range []int64{r.Now - hour, r.Now + hour} {
		if got := p.Replan(r, Submission{Begin: begin, Limit: 4 * hour}); math.Abs(got.Forecast-.3) > 1e-9 || got.Stay != .1 {
			t.Errorf("%+v", got)
		}
	}
	p.Room = from(r.Deadline+1, .2)
	if got := p.Replan(r, Submission{Begin: r.Now, Limit: 4 * hour}); got.Forecast != .2 {
		t.Errorf("with little room: %+v", got)
	}
}
