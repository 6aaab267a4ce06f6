package downey

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRuns against keeping all run times.
func TestRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var r runs
	var all []float64
	for range mostRuns + 500 {
		x := math.Floor(100 * random.Float64()) // with ties
		r.add(x)
		all = append(all, x)
	}
	want := slices.Clone(all[len(all)-mostRuns:])
	slices.Sort(want)
	if !slices.Equal(r.sorted, want) {
		t.Error("other runs are remembered than the last ones")
	}
}

// TestLonger: a job is compared with those of its size that ran for longer, or with all if these
// are few.
func TestLonger(t *testing.T) {
	var h history
	for i := range 100 {
		h.learn(8+int32(i%8), float64(i))
		h.learn(16, 1000+float64(i))
	}
	for _, c := range []struct {
		procs int32
		age   float64
		least float64
		n     int
	}{
		{8, 0, 0, 100}, {15, 50, 50, 50}, {8, 80, 80, 20}, {8, 81, 81, 119}, {16, 500, 1000, 100}, {4, 0, 0, 200}, {16, 1090, 0, 0},
	} {
		got := h.longer(c.procs, c.age)
		if len(got) != c.n || c.n > 0 && got[0] != c.least {
			t.Errorf("%d processors for %v s: %d runs", c.procs, c.age, len(got))
		}
	}
}

// TestSimulated: where all past jobs ran for as long, waits are those of the machine, and expected
// waits are means over many draws.
func TestSimulated(t *testing.T) {
	s := NewSystem(64, Strategy{Rule: VARQ})
	for range 100 {
		s.history.learn(8, 500)
		s.history.learn(20, 1000)
	}
	m := &machine{}
	m.empty(64)
	m.start(9, 0, 500)
	m.start(21, 0, 1000)
	m.start(10, 100, 600)
	m.advance(300)
	h := head{most: 60, now: 300, machine: m}
	waits := s.simulated(&h)
	if len(waits) != 60-24 {
		t.Fatalf("%d waits for 25 to 60 processors", len(waits))
	}
	for i, got := range waits {
		if want := m.available(m.free+1+int32(i), h.now) - h.now; math.Abs(got-want) > 1e-9 {
			t.Errorf("%d processors: %v s, want %v", m.free+1+int32(i), got, want)
		}
	}

	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		s.history.learn(4, 1000*random.Float64())
	}
	m.empty(64)
	m.start(6, 0, 1)
	m.start(5, 100, 200)
	m.jobs[0].end, m.jobs[1].end = 2000, 2000
	h = head{most: 64, now: 200, machine: m}
	// The remaining times are uniform up to 800 and 900: the first of them ends after their
	// expected minimum, 800/2 - 800^2/(6*900) = 281.5 s, and the last after 568.5 s.
	first, last := 0., 0.
	const times = 200
	for range times {
		w := s.simulated(&h)
		first += w[0] / times
		last += w[len(w)-1] / times
	}
	if math.Abs(first-281.5) > 15 || math.Abs(last-568.5) > 15 {
		t.Errorf("%v s until the first has ended, and %v s until both", first, last)
	}
}

// TestSimulatedGains: jobs that choose by simulated waits save at least 95 % of what is possible,
// and their machine is used no less efficiently than with AVG.
func TestSimulatedGains(t *testing.T) {
	model := Model{Procs: 128, Load: .75}
	random := rand.New(rand.NewPCG(1, 3))
	own, best := NewSystem(128, Strategy{Rule: VARQ}), NewSystem(128, Strategy{Rule: OPT})
	all, avg := NewSystem(128, Strategy{Rule: VARQ}), NewSystem(128, Strategy{Rule: AVG})
	saved, possible, ours, theirs := 0., 0., 0., 0.
	for range 30 {
		jobs := model.Day(random)
		for _, a := range own.Alone(jobs) {
			saved += a.Saving()
		}
		for _, a := range best.Alone(jobs) {
			possible += a.Saving()
		}
		ours += Utilisation(128, jobs, all.Day(jobs))
		theirs += Utilisation(128, jobs, avg.Day(jobs))
	}
	if saved < .95*possible {
		t.Errorf("%.1f %% is saved of what is possible", 100*saved/possible)
	}
	if ours < theirs {
		t.Errorf("utilisation is %v, and with AVG %v", ours, theirs)
	}
}
