package rollout_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/rollout"
	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/cluster/sim"
	"github.com/varq-project/varq/test/synthetic"
)

// simulated returns when a sim.Simulator starts the tasks of the scene. All processors are reserved, for so many stretches of
// time as at and seconds have: the nearest that running jobs leave. It returns these too.
func simulated(s *synthetic.Scene, policy rollout.Policy, at, seconds []int64) (starts []int64, reserved rollout.Windows) {
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
	for i := range at {
		m.Reserve(&sched.Job{ID: int64(-100 - i), Submit: s.Now, Limit: seconds[i], Run: seconds[i], Procs: s.Procs}, s.Now+at[i])
	}
	for i, t := range s.Tasks {
		// Jobs of equal order start by ID, which is the order of the scene.
		m.Submit(&sched.Job{ID: int64(i), Submit: t.Submit, Limit: t.Limit, Run: t.Run, Procs: t.Procs})
	}
	m.Drain()
	slices.SortFunc(w.reserved, func(a, b rollout.Window) int { return cmp.Compare(a.From, b.From) })
	return w.starts, w.reserved
}

// witness records when the jobs of a simulation start, and when all processors are reserved.
type witness struct {
	starts   []int64
	reserved rollout.Windows
}

func (w *witness) Started(now int64, j *sched.Job) {
	if j.ID >= 0 {
		w.starts[j.ID] = now
	}
}

func (w *witness) Reserved(_ int64, j *sched.Job, _, start int64) {
	w.reserved = append(w.reserved, rollout.Window{From: start, To: start + j.Limit})
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
		want, _ := simulated(&s, policy, nil, nil)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, %v: %d tasks on %d processors\nstart at %v\nsim:      %v", seed, policy, len(s.Tasks), s.Procs, got, want)
		}
	}
}

// TestWindowsAgainstSim compares rollouts with windows with package sim, where all processors are reserved in them.
func TestWindowsAgainstSim(t *testing.T) {
	m := new(rollout.Machine)
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 2))
		policy := randomPolicy(r)
		s := synthetic.RandomScene(r, policy, r.IntN(100))
		at, seconds := make([]int64, 1+r.IntN(4)), make([]int64, 4)
		for i := range at {
			at[i], seconds[i] = r.Int64N(150), 1+r.Int64N(60)
		}
		want, windows := simulated(&s, policy, at, seconds)
		m.Windows = windows
		var to recorder
		if r.IntN(2) == 0 { // a recorder changes nothing
			to = recorder{on: true}
		}
		if got := s.Starts(m, policy, to.orNil()); !slices.Equal(got, want) {
			t.Fatalf("seed %d, %v: %d tasks on %d processors, closed in %v\nstart at %v\nsim:      %v", seed, policy, len(s.Tasks), s.Procs, windows, got, want)
		}
	}
}

// recorder records nothing.
type recorder struct{ on bool }

func (recorder) Ended(rollout.Running)         {}
func (recorder) Passed(_, _ int64, _, _ int32) {}
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
		{Submit: 1000, Limit: 100, Run: 60, Procs: 4},  // ends just before the window
		{Submit: 1000, Limit: 110, Run: 30, Procs: 8},  // does not, nor has it room when that is over
		{Submit: 1000, Limit: 40, Run: 20, Procs: 4},   // fits before the window when the first has ended
		{Submit: 1000, Limit: 150, Run: 150, Procs: 1}, // fits between no windows
	}
	m.Load(sched.EASY, 1000, 4, running, tasks, nil, nil)
	if got, want := m.Starts(), []int64{1000, 1400, 1060, 1400}; !slices.Equal(got, want) {
		t.Errorf("start at %v, want %v", got, want)
	}
}

// TestWindows compares the methods of Windows with counting second by second.
func TestWindows(t *testing.T) {
	w := rollout.Windows{{From: 10, To: 20}, {From: 20, To: 25}, {From: 40, To: 50}}
	in := func(at int64) bool {
		return slices.ContainsFunc(w, func(w rollout.Window) bool { return w.From <= at && at < w.To })
	}
	for from := range int64(60) {
		for n := range int64(30) {
			closed := int64(0)
			for at := from; at < from+n; at++ {
				if in(at) {
					closed++
				}
			}
			if got := w.Closed(from, from+n); got != closed {
				t.Errorf("closed for %d s from %d to %d, want %d", got, from, from+n, closed)
			}
			open := from
			for n > 0 && w.Closed(open, open+n) > 0 {
				open++
			}
			if got := w.Open(from, n); n > 0 && got != open {
				t.Errorf("open for %d s from %d on at %d, want %d", n, from, got, open)
			}
			if no := w.For(n); n > 0 && (no.Closed(from, from+1) == 0) != (open == from) {
				t.Errorf("none of %d s at %d: %v", n, from, no)
			}
		}
		if since := w.Since(from); len(since) > 0 && since[0].To <= from || since.Closed(from, 100) != w.Closed(from, 100) {
			t.Errorf("since %d: %v", from, since)
		}
		if before := w.Before(from); len(before) > 0 && before[len(before)-1].From > from || before.Closed(0, from) != w.Closed(0, from) {
			t.Errorf("before %d: %v", from, before)
		}
	}
}
