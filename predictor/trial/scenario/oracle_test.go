package scenario

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
	"github.com/varq-project/varq/test/thorough"
)

// policies are all the ways to order and to fill a queue.
func policies(yield func(sched.Order, sched.Backfill) bool) {
	for _, order := range []sched.Order{sched.FCFS(), sched.LWF()} {
		for _, backfill := range []sched.Backfill{sched.NoBackfill, sched.EASY, sched.Conservative, sched.Timeline} {
			if !yield(order, backfill) {
				return
			}
		}
	}
}

// choice is whether a job reserves, and how many seconds after its submission a hard
// reservation asks to start.
type choice struct {
	reserves bool
	ahead    int64
}

// choices draws the choice for each job, by ID, from the seed.
func choices(seed uint64, jobs []sched.Job, share float64, ahead int64) map[int64]choice {
	random := rand.New(rand.NewPCG(seed, 0x5641_5251))
	all := make(map[int64]choice)
	for _, j := range jobs {
		u, v := random.Float64(), random.Float64()
		all[j.ID] = choice{u < share, int64(v * float64(ahead))}
	}
	return all
}

// ended runs the scenario and returns its jobs as they were when they ended, by ID.
func ended(t *testing.T, s Scenario, jobs []sched.Job) (*Result, map[int64]sched.Job) {
	t.Helper()
	all := make(map[int64]sched.Job)
	r, err := s.Run(each(jobs), Callbacks{Ended: func(j *sched.Job) { all[j.ID] = *j }})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(jobs) {
		t.Fatalf("%d of %d jobs ended", len(all), len(jobs))
	}
	return r, all
}

// nobody observes a simulator without reservations. It collects the jobs that have ended,
// and reuses their memory.
type nobody struct {
	ended map[int64]sched.Job // by ID; nil: not collected
	spare []*sched.Job
}

func (*nobody) Reserved(int64, *sched.Job, int64, int64) {}
func (*nobody) Started(int64, *sched.Job)                {}
func (*nobody) Stopped(int64, *sched.Job)                {}
func (n *nobody) Ended(_ int64, j *sched.Job) {
	if n.ended != nil {
		n.ended[j.ID] = *j
	}
	n.spare = append(n.spare, j)
}

// alone simulates the jobs without a scenario.
func (n *nobody) alone(c sched.Config, jobs []sched.Job) {
	s := sim.New(c, n)
	for i := range jobs {
		var j *sched.Job
		if last := len(n.spare) - 1; last >= 0 {
			j, n.spare = n.spare[last], n.spare[:last]
		} else {
			j = new(sched.Job)
		}
		*j = jobs[i]
		s.Advance(j.Submit)
		s.Submit(j)
	}
	s.Drain()
}

// naive computes the waits of jobs from all of them at once.
func naive(jobs map[int64]sched.Job) Waits {
	var waits []int64
	var w Waits
	for _, j := range jobs {
		wait, run := j.Start-j.Submit, j.End-j.Start
		waits = append(waits, wait)
		w.Mean += float64(wait) / float64(len(jobs))
		w.Slowdown += max(1, float64(wait+run)/math.Max(float64(run), 10)) / float64(len(jobs))
	}
	slices.Sort(waits)
	w.Jobs = len(waits)
	// the shortest wait that percent % of the jobs did not exceed
	least := func(percent int) int64 {
		for i, wait := range waits {
			if 100*(i+1) >= percent*len(waits) {
				return wait
			}
		}
		panic("no jobs")
	}
	for percent := range 101 {
		w.Percentiles = append(w.Percentiles, least(percent))
	}
	w.Median, w.P95, w.Max = least(50), least(95), least(100)
	return w
}

// close treats numbers as equal that differ only by rounding.
var close = cmpopts.EquateApprox(1e-9, 1e-9)

// If no job reserves, jobs run as in a simulator without a scenario, for every kind of
// reservations with share 0.
func TestNobodyReserves(t *testing.T) {
	thorough.Only(t)
	jobs := busy(1000)
	for order, backfill := range policies {
		alone := nobody{ended: make(map[int64]sched.Job)}
		alone.alone(sched.Config{Procs: 64, Order: order, Backfill: backfill}, jobs)
		work, span := 0., 0.
		for _, j := range alone.ended {
			work += float64(j.Procs) * float64(j.End-j.Start)
			span = max(span, float64(j.End-jobs[0].Submit))
		}
		for _, kind := range []string{"none", "hard=0", "varq=0"} {
			reservations, err := ParseReservations(kind)
			if err != nil {
				t.Fatal(err)
			}
			r, got := ended(t, Scenario{Procs: 64, Order: order, Backfill: backfill, Seed: 9, Reservations: reservations}, jobs)
			for id, want := range alone.ended {
				if g := got[id]; g.Submit != want.Submit || g.Start != want.Start || g.End != want.End {
					t.Fatalf("%s %v %s: job %d ran from %d to %d, alone from %d to %d", order.Name, backfill, kind, id, g.Start, g.End, want.Start, want.End)
				}
			}
			if diff := cmp.Diff(naive(alone.ended), r.All, close); diff != "" {
				t.Errorf("%s %v %s: waits (-naive +got):\n%s", order.Name, backfill, kind, diff)
			}
			if want := work / 64 / span; math.Abs(r.UtilisationToEnd-want) > 1e-9 {
				t.Errorf("%s %v %s: utilisation %v, want %v", order.Name, backfill, kind, r.UtilisationToEnd, want)
			}
		}
	}
}

// hasty predicts half of each job's run time.
type hasty struct{}

func (hasty) Estimate(j *sched.Job) (int64, bool) { return j.Run / 2, true }
func (hasty) Learn(*sched.Job)                    {}

// The seed alone chooses the jobs that reserve. The result's offsets, waits, stops and
// lost work are those of the jobs that ended. No job with a reservation is stopped, and
// others are stopped only with Restart.
func TestHardReservationsStartWhenGranted(t *testing.T) {
	jobs := busy(1000)
	who := choices(11, jobs, .2, 7200)
	for order, backfill := range policies {
		for _, restart := range []*sched.Restart{nil, {A: .8, B: -.2}} {
			s := Scenario{Procs: 64, Order: order, Backfill: backfill, Seed: 11,
				Reservations: Reservations{Hard: &Hard{Share: .2, Ahead: 7200, Protected: .5, Restart: restart}}}
			if restart != nil {
				s.Estimator = hasty{}
			}
			r, got := ended(t, s, jobs)
			var want HardResult
			var offsets []int64
			others := make(map[int64]sched.Job)
			lost, stops := 0., 0
			for id, j := range got {
				lost += float64(j.Lost) * float64(j.Procs)
				stops += int(j.Stops)
				if !who[id].reserves {
					others[id] = j
					continue
				}
				if j.Stops > 0 {
					t.Errorf("%s %v: reserved job %d was stopped", order.Name, backfill, id)
				}
				asked := j.Submit + who[id].ahead
				offset := max(j.Start-asked, asked-j.Start)
				offsets = append(offsets, offset)
				want.Offset += float64(offset)
				if offset == 0 {
					want.Exact++
				}
			}
			slices.Sort(offsets)
			want.Jobs = len(offsets)
			want.Offset /= float64(want.Jobs)
			want.Median = offsets[(want.Jobs-1)/2]
			if diff := cmp.Diff(&want, r.Hard, close); diff != "" {
				t.Errorf("%s %v, restart %v (-naive +got):\n%s", order.Name, backfill, restart, diff)
			}
			if diff := cmp.Diff(naive(others), r.Others, close); diff != "" {
				t.Errorf("%s %v, restart %v: the others' waits (-naive +got):\n%s", order.Name, backfill, restart, diff)
			}
			if want := lost / 64 / float64(r.End-r.First); math.Abs(r.Lost-want) > 1e-9 || r.Stops != stops || (stops > 0) != (restart != nil) {
				t.Errorf("%s %v, restart %v: %d stops lost %v, want %d and %v", order.Name, backfill, restart, r.Stops, r.Lost, stops, want)
			}
		}
	}
}

// A promised job holds its processors until its deadline and then runs for as long as its
// work takes, however its limit changed before. At the end its limit is the time held plus
// the limit of the work. The result's counts and its overhead are those of the jobs.
func TestPromisedWorkRunsInFull(t *testing.T) {
	const share, every = .2, 2 * 3600
	jobs := busy(1200)
	for i := range jobs {
		if i%9 == 0 {
			jobs[i].Run = 0
		}
	}
	who := choices(4, jobs, share, 0)
	for order, backfill := range policies {
		for _, kind := range []VARQ{
			{Share: share, Prob: .5, Every: every},
			{Share: share, Prob: .5, Every: every, Replan: 300},
			{Share: share, Prob: .9, Every: every, Replan: 300, BestEffort: true},
		} {
			r, got := ended(t, Scenario{Procs: 64, Order: order, Backfill: backfill, Seed: 4, Reservations: Reservations{VARQ: &kind}}, jobs)
			asked, promised, kept, work, held := 0, 0, 0, 0., 0.
			others := make(map[int64]sched.Job)
			for _, before := range jobs {
				j := got[before.ID]
				run := min(before.Run, before.Limit)
				if !who[j.ID].reserves {
					others[j.ID] = j
				} else {
					asked++
				}
				hold := j.End - j.Start - run
				if hold < 0 || hold > 0 && (kind.BestEffort || !who[j.ID].reserves) {
					t.Fatalf("%s %v %v: job %d ran for %d s, its work takes %d s", order.Name, backfill, kind, j.ID, j.End-j.Start, run)
				}
				deadline := (before.Submit/every + 1) * every
				if hold > 0 && j.Start+hold != deadline {
					t.Fatalf("%s %v %v: the work of job %d began at %d, its deadline was %d", order.Name, backfill, kind, j.ID, j.Start+hold, deadline)
				}
				held += float64(hold) * float64(j.Procs)
				// A job that held processors or joined the queue late had a promise.
				// Other jobs may have had one: Callbacks.Ended does not show it.
				if hold > 0 || j.Submit > before.Submit {
					if run > 0 && j.Limit != hold+before.Limit {
						t.Fatalf("%s %v %v: the limit of job %d was %d s in the end, after %d s of holding for %d s of work",
							order.Name, backfill, kind, j.ID, j.Limit, hold, before.Limit)
					}
					promised++
					work += float64(run) * float64(j.Procs)
					if j.Start <= deadline {
						kept++
					}
				}
			}
			v := r.VARQ
			if v.Asked != asked || v.Promised < promised || v.Kept < kept || v.Kept-kept > v.Promised-promised || v.Promised > v.Asked {
				t.Errorf("%s %v %v: %+v, of which %d asked and %d of %d were kept", order.Name, backfill, kind, v, asked, kept, promised)
			}
			if r.All.Jobs+v.Promised != r.Jobs || r.Others.Jobs+v.Asked != r.Jobs {
				t.Errorf("%s %v %v: %d and %d waits of %d jobs, with %+v", order.Name, backfill, kind, r.All.Jobs, r.Others.Jobs, r.Jobs, v)
			}
			if diff := cmp.Diff(naive(others), r.Others, close); diff != "" {
				t.Errorf("%s %v %v: the others' waits (-naive +got):\n%s", order.Name, backfill, kind, diff)
			}
			if want := held / 64 / float64(r.End-r.First); math.Abs(r.Held-want) > 1e-9 {
				t.Errorf("%s %v %v: %v of the cluster held, want %v", order.Name, backfill, kind, r.Held, want)
			}
			if v.Promised == promised && promised > 0 && math.Abs(v.Overhead-held/work) > 1e-9 {
				t.Errorf("%s %v %v: overhead %v, want %v", order.Name, backfill, kind, v.Overhead, held/work)
			}
		}
	}
}

// spy estimates the true run times, and counts the jobs that end with other run times.
type spy struct {
	run            map[int64]int64 // seconds, by job
	learnt, misled int
}

func (s *spy) Estimate(j *sched.Job) (int64, bool) { return s.run[j.ID], true }

func (s *spy) Learn(j *sched.Job) {
	s.learnt++
	if j.End-j.Start != s.run[j.ID] {
		s.misled++
	}
}

// The time for which a promised job holds its processors is not part of its run time. So
// the estimator does not learn from promised jobs, and the scheduler does not plan them
// with its estimates.
func TestEstimatorKnowsNothingOfHolding(t *testing.T) {
	jobs := busy(4000)
	s := &spy{run: make(map[int64]int64)}
	for _, j := range jobs {
		s.run[j.ID] = max(1, min(j.Run, j.Limit))
	}
	scenario := Scenario{Procs: 64, Backfill: sched.EASY, Seed: 3, Estimator: s,
		Reservations: Reservations{VARQ: &VARQ{Share: .2, Prob: .5, Every: 6 * 3600}}}
	r, got := ended(t, scenario, jobs)
	if s.misled > 0 || s.learnt != r.Jobs-r.VARQ.Promised || r.VARQ.Overhead == 0 {
		t.Errorf("%d of %d lessons were wrong, with %+v", s.misled, s.learnt, r.VARQ)
	}
	for id, j := range got {
		if j.End-j.Start > s.run[id] && j.Estimate != 0 {
			t.Errorf("job %d was planned to run for %d s and held its processors", id, j.Estimate)
		}
	}
}

// BenchmarkAlone measures what a scenario costs beyond its simulator, per job.
func BenchmarkAlone(b *testing.B) {
	jobs := busy(100_000)
	perJob := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(len(jobs)*b.N), "ns/job")
	}
	b.Run("sim", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			new(nobody).alone(sched.Config{Procs: 64, Backfill: sched.EASY}, jobs)
		}
		perJob(b)
	})
	b.Run("scenario", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s := Scenario{Procs: 64, Backfill: sched.EASY}
			if _, err := s.Run(each(jobs), Callbacks{}); err != nil {
				b.Fatal(err)
			}
		}
		perJob(b)
	})
}
