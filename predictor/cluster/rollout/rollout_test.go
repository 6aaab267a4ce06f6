package rollout_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
	"github.com/varq-project/varq/test/synthetic"
)

// reservation is of processors for a time, in seconds, as near to a time from now as jobs that run
// leave it.
type reservation struct {
	at, seconds int64
	procs       int32
}

// simulated returns when a sim.Simulator starts the tasks of the scene, with these reservations,
// and what they leave of the processors.
func simulated(s *synthetic.Scene, policy rollout.Policy, reservations []reservation) (starts []int64, left rollout.Windows) {
	w := &witness{starts: make([]int64, len(s.Tasks))}
	config := sched.Config{Procs: s.Procs, Backfill: policy.Backfill}
	if policy.Order == rollout.LWF {
		config.Order = sched.LWF()
	}
	if policy.Order == rollout.Priority {
		config.Order = sched.Order{Key: func(_ int64, j *sched.Job) float64 { return -float64(s.Tasks[j.ID].Priority) }}
	}
	m := sim.New(config, w)
	m.Reset(s.Now)
	for i, o := range s.Running {
		m.Place(&sched.Job{ID: int64(-1 - i), Start: s.Now, Limit: o.Planned - s.Now, Run: o.End - s.Now, Procs: o.Procs})
	}
	for i, v := range reservations {
		m.Reserve(&sched.Job{ID: int64(-100 - i), Submit: s.Now, Limit: v.seconds, Run: v.seconds, Procs: v.procs}, s.Now+v.at)
	}
	for i, t := range s.Tasks {
		// Jobs of equal order start by ID, which is the order of the scene.
		m.Submit(&sched.Job{ID: int64(i), Submit: t.Submit, Limit: t.Limit, Run: t.Run, Procs: t.Procs})
	}
	m.Drain()
	return w.starts, w.windows(s.Procs)
}

// witness records when the jobs of a simulation start, and the edges of its reservations: how many
// processors more these have from a time on.
type witness struct {
	starts   []int64
	reserved []edge
}

type edge struct {
	at    int64
	procs int32
}

// windows returns when the reservations leave how many of so many processors.
func (w *witness) windows(procs int32) (windows rollout.Windows) {
	slices.SortFunc(w.reserved, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	left := procs
	for i, e := range w.reserved {
		left -= e.procs
		if left < procs && w.reserved[i+1].at > e.at {
			windows = append(windows, rollout.Window{From: e.at, To: w.reserved[i+1].at, Left: left, Of: procs})
		}
	}
	return windows
}

func (w *witness) Started(now int64, j *sched.Job) {
	if j.ID >= 0 {
		w.starts[j.ID] = now
	}
}

func (w *witness) Reserved(_ int64, j *sched.Job, _, start int64) {
	w.reserved = append(w.reserved, edge{start, j.Procs}, edge{start + j.Limit, -j.Procs})
}
func (*witness) Stopped(_ int64, _ *sched.Job) {}
func (*witness) Ended(_ int64, _ *sched.Job)   {}

// randomPolicy returns any policy.
func randomPolicy(r *rand.Rand) rollout.Policy {
	return rollout.Policy{Order: rollout.Order(r.IntN(rollout.Orders)), Backfill: [...]sched.Backfill{sched.EASY, sched.NoBackfill}[r.IntN(2)]}
}

// TestAgainstSim compares rollouts with package sim, whose own test compares it with a naive
// simulator.
func TestAgainstSim(t *testing.T) {
	m := new(rollout.Machine)
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		policy := randomPolicy(r)
		s := synthetic.RandomScene(r, policy, r.IntN(100))
		got := s.Starts(m, policy, nil)
		want, _ := simulated(&s, policy, nil)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, %v: %d tasks on %d processors\nstart at %v\nsim:      %v", seed, policy, len(s.Tasks), s.Procs, got, want)
		}
	}
}

// TestWindowsAgainstSim compares rollouts with windows with package sim, where all or some of the
// processors are reserved in them.
func TestWindowsAgainstSim(t *testing.T) {
	m := new(rollout.Machine)
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 2))
		policy := randomPolicy(r)
		s := synthetic.RandomScene(r, policy, r.IntN(100))
		reservations := make([]reservation, 1+r.IntN(4))
		for i := range reservations {
			reservations[i] = reservation{r.Int64N(150), 1 + r.Int64N(60), s.Procs}
			if seed%4 > 0 {
				reservations[i].procs = 1 + r.Int32N(s.Procs)
			}
		}
		want, windows := simulated(&s, policy, reservations)
		m.Windows = windows
		var to recorder
		if r.IntN(2) == 0 { // a recorder changes nothing
			to = recorder{on: true}
		}
		if got := s.Starts(m, policy, to.orNil()); !slices.Equal(got, want) {
			t.Fatalf("seed %d, %v: %d tasks on %d processors, windows %+v\nstart at %v\nsim:      %v", seed, policy, len(s.Tasks), s.Procs, windows, got, want)
		}
	}
}

// recorder records nothing.
type recorder struct{ on bool }

func (recorder) Ended(rollout.Running)                          {}
func (recorder) Passed(_, _ int64, _, _ int32, _ rollout.Rooms) {}
func (r recorder) orNil() (to rollout.Recorder) {
	if r.on {
		to = r
	}
	return to
}

// TestThroughAWindow: a job that runs into a window runs through it, and keeps its processors.
func TestThroughAWindow(t *testing.T) {
	m := rollout.Machine{Windows: rollout.Windows{{From: 10, To: 50}, {From: 1100, To: 1200}, {From: 1300, To: 1400}}}
	running := []rollout.Running{{Planned: 1250, End: 1230, Procs: 6, Place: -1}}
	tasks := []rollout.Task{
		{Submit: 1000, Limit: 100, Run: 60, Procs: 4}, // ends just before the window
		// does not, nor has it room when that is over
		{Submit: 1000, Limit: 110, Run: 30, Procs: 8},
		// fits before the window when the first has ended
		{Submit: 1000, Limit: 40, Run: 20, Procs: 4},
		{Submit: 1000, Limit: 150, Run: 150, Procs: 1}, // fits between no windows
	}
	m.Load(sched.EASY, 1000, 4, running, tasks, nil, nil)
	if got, want := m.Starts(), []int64{1000, 1400, 1060, 1400}; !slices.Equal(got, want) {
		t.Errorf("start at %v, want %v", got, want)
	}
}

// TestWindows compares the methods of Windows with counting second by second.
func TestWindows(t *testing.T) {
	w := rollout.Windows{{From: 10, To: 20}, {From: 20, To: 25, Left: 1, Of: 4}, {From: 40, To: 50, Left: 2, Of: 4}, {From: 52, To: 53, Left: 1, Of: 20}}
	left := func(at, limit int64) float64 { // from at on, for so many seconds
		least := 1.
		for i := range w {
			if w[i].From < at+limit && at < w[i].To {
				least = min(least, float64(w[i].Left)/float64(max(1, w[i].Of)))
			}
		}
		return least
	}
	for from := range int64(60) {
		for n := range int64(30) {
			closed := 0.
			for at := from; at < from+n; at++ {
				closed += 1 - left(at, 1)
			}
			if got := float64(w.Closed(from, from+n)); got < closed || got >= closed+4 {
				t.Errorf("closed for %v s from %d to %d, want %v", got, from, from+n, closed)
			}
			last := int64(math.MinInt64)
			for _, is := range w.For(n) {
				if is.From < last || is.From >= is.To {
					t.Fatalf("for %d s: %v", n, w.For(n))
				}
				last = is.To
			}
			share := 1.
			for _, is := range w.For(n) {
				if is.From <= from && from < is.To {
					share = float64(is.Left) / float64(max(1, is.Of))
				}
			}
			if n > 0 && share != left(from, n) {
				t.Errorf("%v is left for %d s at %d, want %v", share, n, from, left(from, n))
			}
		}
		if since := w.Since(from); len(since) > 0 && since[0].To <= from || since.Closed(from, 100) != w.Closed(from, 100) {
			t.Errorf("since %d: %v", from, since)
		}
		if before := w.Before(from); len(before) > 0 && before[len(before)-1].From > from || before.Closed(0, from) != w.Closed(0, from) {
			t.Errorf("before %d: %v", from, before)
		}
	}
	if got, want := w.Closing(), (rollout.Windows{w[0], w[3]}); !slices.Equal(got, want) {
		t.Errorf("closing %v, want %v", got, want)
	}
}
