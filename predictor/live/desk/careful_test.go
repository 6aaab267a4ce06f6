package desk

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/twin"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/live/outlook"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/trajectory"
	"github.com/varq-project/varq/predictor/workload"
)

// served is an Outlook whose Model has learnt all and is up to date.
type served struct {
	*outlook.Outlook
	*site
}

func (served) Learning() bool { return false }
func (o served) Seen() int64  { return o.Clock }

// learnt returns a site of four CPUs with an Outlook that has learnt from so many jobs, which have
// waited for up to two hours and run for up to ten minutes. Three times as many of alice's promises
// were missed as forecast.
func learnt(t *testing.T, jobs int64) *site {
	t.Helper()
	s := newSite(t)
	o := outlook.New(outlook.Options{Confidence: .95, Now: s.Now, OldOdds: []forecast.Odds{
		{User: "alice", Range: 1, Missed: 6, Expected: 2}, {User: "alice", Range: 2, Missed: 12, Expected: 4}, {User: "alice", Range: 3, Missed: 6, Expected: 2},
	}})
	random := rand.New(rand.NewPCG(1, 2))
	past := make([]workload.Job, jobs)
	for i := range past {
		at := s.Clock - 7200*int64(len(past)-i+1)
		start := at + int64(7200*random.Float64()*random.Float64())
		past[i] = workload.Job{
			ID: int64(i + 1), Request: workload.Request{User: "bob", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 3600},
			Submit: at, Eligible: at, Start: start, End: start + 60 + random.Int64N(540), State: workload.Completed,
		}
	}
	m := o.NewModel(func(workload.Place) twin.Pool { return twin.Pool{Name: "main", Size: workload.Size{Nodes: 4, CPUs: 4}} })
	if err := m.Learn(t.Context(), past, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	m.Serve()
	s.desk.Outlook = reserved{served{o, s}, s.Premises}
	return s
}

// planned returns the plan for alice's job of an hour's limit, or a refusal.
func (s *site) planned(of api.PlanRequest) api.PlanAnswer {
	s.T.Helper()
	of.Job = workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 3600}
	a, err := s.desk.Plan(s.T.Context(), "alice", &of, false)
	if err != nil {
		s.T.Fatal(err)
	}
	return a
}

// An end is promised with no more than a start by the same time, of a job that may start at once:
// neither beside a window, nor where others take the room.
func TestEndIsNoSurerThanStart(t *testing.T) {
	const soon, later = desktest.Epoch + 3600, desktest.Epoch + 3*3600
	whole := workload.Claim{Request: workload.Request{Partition: "main", Size: workload.Size{Nodes: 4, CPUs: 4}, Limit: later - soon}, Start: soon, From: soon}
	for name, c := range map[string]struct {
		ends int // that are promised
		set  func(*site)
	}{
		"alone": {80, func(*site) {}},
		"window": {25, func(s *site) {
			s.Premises.Limits().Reservations = []limits.Reservation{{Name: "maint", Start: soon, End: later, Nodes: []string{"a", "b", "c", "d"}}}
		}},
		"promise": {30, func(s *site) { s.desk.plain.Store(&[]workload.Claim{whole}) }},
		"plain": {80, func(s *site) {
			plain := whole
			plain.Plain = true
			s.desk.plain.Store(&[]workload.Claim{plain})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, promised := learnt(t, 150), 0
			c.set(s)
			for by := int64(desktest.Epoch + 60); by < desktest.Epoch+5*3600; by += 180 {
				end := s.planned(api.PlanRequest{FinishBy: by, Prob: .02})
				if end.Plan == nil {
					continue
				}
				promised++
				start := s.planned(api.PlanRequest{BeginBy: by, BestEffort: true, Prob: end.Plan.Estimate})
				if start.Plan == nil {
					t.Errorf("an end within %d s with probability %v, and of a start %s", by-desktest.Epoch, end.Plan.Estimate, start.Refusal.Reason)
				}
			}
			if promised < c.ends {
				t.Errorf("%d ends are promised", promised)
			}
		})
	}
}

// Of an end it is told how much more is forecast than can be promised, and why.
func TestEndTellsCare(t *testing.T) {
	s := learnt(t, 150)
	const by, why = desktest.Epoch + 2*3600, "as only 150 past waits are known, and counts the risk of being late "
	p := s.planned(api.PlanRequest{FinishBy: by, Prob: .5}).Plan
	if p == nil || p.Forecast < p.Estimate+.05 || !strings.HasPrefix(p.Careful, "the forecast is "+prob.Format(p.Forecast)+", and a promise counts on ") || !strings.Contains(p.Careful, why) {
		t.Errorf("%+v", p)
	}
	if no := s.planned(api.PlanRequest{FinishBy: by, Prob: .9}).Refusal; no == nil || !strings.HasPrefix(no.Reason, "an end by the deadline can be promised with probability ") || !strings.Contains(no.Reason, why) {
		t.Errorf("%+v", no)
	}
}

// Where too little is known for a start, it is for an end, and both are refused in the same words.
func TestTooLittleIsKnownForAnEnd(t *testing.T) {
	for _, jobs := range []int64{10, 25} {
		s := learnt(t, jobs)
		start := s.planned(api.PlanRequest{BeginBy: desktest.Epoch + 12*3600, BestEffort: true, Prob: .9}).Refusal
		for _, r := range []api.PlanRequest{{FinishBy: desktest.Epoch + 12*3600, Prob: .9}, {Risk: .9}} {
			if end := s.planned(r).Refusal; start == nil || end == nil || end.Reason != start.Reason {
				t.Errorf("%d jobs: %+v; a start: %+v", jobs, end, start)
			}
		}
	}
}

// growing forecasts that a job starts within a budget with a probability that grows with it. The
// odds of budgets from three hours on are worse.
type growing struct{ *desktest.Outlook }

func (growing) Forecast(_ workload.Request, _ int64, c []workload.Candidate, est []workload.Estimate) {
	for i := range c {
		bound := 1 - .3*math.Exp(-float64(c[i].Budget)/3600)
		est[i] = workload.Estimate{Prob: max(0, 1-2*(1-bound)), Forecast: (1 + bound) / 2, Bound: bound, Sample: 40}
		if c[i].Budget >= 3*3600 {
			est[i].Prob = max(0, 1-6*(1-bound))
		}
	}
}

// The wait on which an end rests is at no second more likely to be over than a start can be
// promised by then, and is hardly longer.
func TestWaits(t *testing.T) {
	const opens, most = 5000, 3 * 3600 // seconds from now
	for name, c := range map[string]struct {
		windows []limits.Window
		resume  int64
		room    func(at int64) float64
		from    int64 // from when on the job may start
	}{
		"alone":      {},
		"window":     {windows: []limits.Window{{Start: desktest.Epoch + 60, End: desktest.Epoch + opens}}, from: opens},
		"powered up": {resume: opens},
		"room": {room: func(at int64) float64 {
			if at < desktest.Epoch+opens {
				return 0
			}
			return 1
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.desk.Outlook = growing{s.Outlook}
			cluster := s.Premises.Limits()
			main := cluster.Partitions["main"]
			main.Resume = c.resume
			cluster.Partitions["main"] = main
			r := &trajectory.Request{Job: workload.Request{Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 3600}, Now: desktest.Epoch}
			w := s.desk.waits(r, r.Now, cluster.Job(r.Job, nil), c.windows, func(at int64) workload.Room {
				room := workload.Room{Prob: 1}
				if c.room != nil {
					room.Prob = c.room(at)
				}
				return room
			})
			best := func(seconds int64) float64 {
				if name != "alone" && seconds < opens {
					return 0
				}
				est := make([]workload.Estimate, 1)
				growing{}.Forecast(r.Job, r.Now, []workload.Candidate{{Budget: seconds - c.from}}, est)
				return est[0].Prob
			}
			for seconds := range int64(most) {
				got := w.promised.Within(float64(seconds))
				if got > best(seconds)+1e-9 {
					t.Fatalf("within %d s: %v, and a start with %v", seconds, got, best(seconds))
				}
				if early := seconds*3/4 - 10; early >= c.from && got < min(best(early), best(most)) {
					t.Fatalf("within %d s: %v, and a start within %d s with %v", seconds, got, early, best(early))
				}
			}
			for i := range delay.Points {
				if at := delay.At(i); w.promised[i] > best(int64(at))+1e-9 {
					t.Errorf("within %v s: %v, and a start with %v", at, w.promised[i], best(int64(at)))
				}
			}
			if last := delay.Points - 1; w.promised[last] < .99 || w.forecast[last] < w.bound[last] || w.bound[last] < w.promised[last] || w.sample != 40 {
				t.Errorf("%v, %v, %v, of %d", w.promised[last], w.bound[last], w.forecast[last], w.sample)
			}
		})
	}
}

// What is likely of a job is what is forecast, without what promises allow for, and without the
// room of those that wait. It is not promised.
func TestAdvisory(t *testing.T) {
	const epoch = desktest.Epoch
	s := learnt(t, 150)
	for name, of := range map[string]api.PlanRequest{"a start": {BeginBy: epoch + 3600, BestEffort: true, Prob: .02}, "an end": {FinishBy: epoch + 7200, Prob: .02}} {
		careful := s.planned(of)
		of.Advisory = true
		s.desk.Shadow = true // which promises nothing
		likely := s.planned(of)
		s.desk.Shadow = false
		if careful.Plan == nil || likely.Plan == nil || math.Abs(likely.Plan.Estimate-careful.Plan.Forecast) > .011 || likely.Plan.Estimate < careful.Plan.Estimate+.05 {
			t.Errorf("%s: %+v, and with care %+v", name, likely.Plan, careful.Plan)
		}
		of.Prob = .999
		sure := s.planned(of)
		if sure.Refusal == nil {
			t.Fatalf("%s: %+v", name, sure)
		}
		for _, o := range sure.Refusal.Offers { // the reason tells what this deadline has
			if o.Kind == api.OfferProb || o.Kind == api.OfferEnd && o.FinishBy == of.FinishBy {
				t.Errorf("%s: %+v", name, o)
			}
		}
	}
	all := workload.Request{Size: workload.Size{Nodes: 4, CPUs: 4}, Limit: 36000}
	if a, err := s.desk.Plan(t.Context(), "bob", &api.PlanRequest{Job: all, BeginBy: epoch + 7200, Prob: .02, MaxCost: api.MaxCost{}}, true); err != nil || a.Plan == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	late := api.PlanRequest{BeginBy: epoch + 4*3600, BestEffort: true, Prob: .5, Advisory: true}
	if a := s.planned(late); a.Plan == nil {
		t.Errorf("beside a promise that waits: %+v", a.Refusal)
	}
	late.Job = workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 3600}
	if _, err := s.desk.Plan(t.Context(), "alice", &late, true); err == nil {
		t.Error("it is promised")
	}
}

// By a later deadline a start is no less likely, and can be promised with no less, whoever has the
// nodes in between and whatever is asked for.
func TestLaterIsNoLess(t *testing.T) {
	const soon, later = desktest.Epoch + 3600, desktest.Epoch + 3*3600
	whole := workload.Claim{Request: workload.Request{Partition: "main", Size: workload.Size{Nodes: 4, CPUs: 4}, Limit: later - soon}, Start: soon, From: soon}
	again := whole
	again.Start, again.From = later+1800, later+1800
	for name, plain := range map[string]bool{"promises": false, "plain jobs": true} {
		for _, asked := range []float64{.02, .5} {
			s, promised, before := learnt(t, 150), 0, api.Plan{}
			others := []workload.Claim{whole, again}
			others[0].Plain, others[1].Plain = plain, plain
			s.desk.plain.Store(&others)
			for by := int64(desktest.Epoch + 60); by < later+4*3600; by += 300 {
				p := s.planned(api.PlanRequest{BeginBy: by, BestEffort: true, Prob: asked}).Plan
				if p == nil && promised == 0 {
					continue
				}
				if p == nil || p.Estimate < before.Estimate-.001 || p.Forecast < before.Forecast-.001 {
					t.Fatalf("%v, %s: within %d s %+v; by an earlier deadline %+v", asked, name, by-desktest.Epoch, p, before)
				}
				promised, before = promised+1, *p
			}
			if promised < 18 {
				t.Errorf("%v, %s: %d deadlines can be promised", asked, name, promised)
			}
		}
	}
}
