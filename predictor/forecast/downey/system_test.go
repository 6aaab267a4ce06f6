package downey

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/forecast/speedup"
)

// strategies returns a strategy for each rule, and two with the additions of section 6.1 to
// BIAS.
func strategies() []Strategy {
	var all []Strategy
	for _, rule := range []Rule{AVG, OPT, PRED, BIAS, HEUR} {
		all = append(all, Strategy{Rule: rule, Lifetimes: paper.Lifetimes()})
	}
	return append(all,
		Strategy{Rule: BIAS, LockIn: true, Lifetimes: paper.Lifetimes()},
		Strategy{Rule: BIAS, LockIn: true, RiskAversion: .2, Lifetimes: paper.Lifetimes()})
}

// TestDay: with every strategy, jobs start in their order, not before they are submitted,
// and on no more processors than are free. Only rebels wait while a processor is free.
func TestDay(t *testing.T) {
	workload := days(1, 5)
	for _, strategy := range strategies() {
		s := NewSystem(paper.Procs, strategy)
		for _, jobs := range workload {
			outcomes := s.Day(jobs)
			for i, o := range outcomes {
				j := &jobs[i]
				if o.Start < j.Submit || i > 0 && o.Start < outcomes[i-1].Start ||
					o.Procs < 1 || o.Procs > j.Most() || o.End != o.Start+j.Run(o.Procs) {
					t.Fatalf("%+v: %+v of %+v", strategy, o, j)
				}
				free := freeAt(outcomes[:i], o.Start)
				if o.Procs > free || !strategy.LockIn && o.Procs != min(free, j.Most()) {
					t.Fatalf("%+v: %+v with %d processors free", strategy, o, free)
				}
				if ready := reached(outcomes[:i], j); !o.Rebel && o.Start != ready {
					t.Fatalf("%+v: %+v, though there was a processor at %v", strategy, o, ready)
				}
			}
		}
	}
}

// freeAt counts the processors that the earlier jobs leave free.
func freeAt(earlier []Outcome, now float64) int32 {
	free := paper.Procs
	for _, o := range earlier {
		if o.End > now {
			free -= o.Procs
		}
	}
	return free
}

// reached returns when the job is at the head of the queue, behind the earlier ones, and a
// processor is free.
func reached(earlier []Outcome, j *Job) float64 {
	now := j.Submit
	if len(earlier) > 0 {
		now = max(now, earlier[len(earlier)-1].Start)
	}
	for freeAt(earlier, now) == 0 {
		next := math.Inf(1)
		for _, o := range earlier {
			if o.End > now {
				next = min(next, o.End)
			}
		}
		now = next
	}
	return now
}

// TestOptimumAgainstEverySize: OPT, alone among jobs that follow AVG, ends as early as any
// size allows.
func TestOptimumAgainstEverySize(t *testing.T) {
	s := NewSystem(paper.Procs, Strategy{Rule: OPT})
	for _, jobs := range days(2, 3) {
		alternatives := s.Alone(jobs)
		var earlier []Outcome
		for i, a := range alternatives {
			earliest := a.AVG.End
			ends := slices.Clone(earlier)
			slices.SortFunc(ends, func(a, b Outcome) int { return cmp.Compare(a.End, b.End) })
			for _, o := range ends {
				if o.End > a.AVG.Start {
					n := min(freeAt(earlier, o.End), jobs[i].Most())
					earliest = min(earliest, o.End+jobs[i].Run(n))
				}
			}
			if math.Abs(a.Own.End-earliest) > 1e-6 || a.Own.Rebel != (a.Saving() > 0) {
				t.Fatalf("job %d: %+v, but it could end at %v", i, a, earliest)
			}
			earlier = append(earlier, a.AVG)
		}
		if !slices.Equal(earlier, NewSystem(paper.Procs, Strategy{Rule: AVG}).Day(jobs)) {
			t.Error("the jobs do not follow AVG")
		}
	}
}

// TestHeuristicConcedes: HEUR waits for at most a fifth of what it could gain.
func TestHeuristicConcedes(t *testing.T) {
	s := NewSystem(paper.Procs, Strategy{Rule: HEUR})
	rebels := 0
	for _, jobs := range days(3, 3) {
		for i, a := range s.Alone(jobs) {
			gain := jobs[i].Run(a.AVG.Procs) - jobs[i].Run(jobs[i].Most())
			if a.Own.Rebel != (gain > 0) || a.Own.Start > a.AVG.Start+patience*gain+1e-6 {
				t.Fatalf("%+v with %v s to gain", a, gain)
			}
			if a.Own.Rebel {
				rebels++
			}
		}
	}
	if rebels < 100 {
		t.Errorf("only %d rebels", rebels)
	}
}

// TestBestAgainstEverySize: best skips sizes, but only sizes that it would not choose.
func TestBestAgainstEverySize(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 1))
	var s System
	for range 2000 {
		state := randomState(random, 20)
		state.free++
		f := state.look()
		h := &head{
			job:     &Job{Work: work.Rand(random), Curve: speedup.Downey{A: float64(state.free) + 100*random.Float64(), Sigma: 2 * random.Float64()}},
			machine: &machine{free: state.free},
		}
		h.most = h.job.Most()
		s.RiskAversion = .2 * float64(random.IntN(2))
		want, least := state.free, h.docile()*(1-s.RiskAversion)
		for n := state.free + 1; n <= h.most; n++ {
			if turnaround := f.Wait(n) + h.job.Run(n); turnaround < least {
				want, least = n, turnaround
			}
		}
		if got, _ := s.best(h, f.Wait, f.rising); got != want {
			t.Fatalf("%+v: %d processors, want %d", state, got, want)
		}
	}
}

// TestLockIn: a rebel that is locked in takes only as many processors as it waited for: two
// of the three that are free in the end.
func TestLockIn(t *testing.T) {
	for _, lockIn := range []bool{false, true} {
		s := NewSystem(4, Strategy{Rule: OPT, LockIn: lockIn})
		s.dawn()
		s.machine.start(1, 0, 1000)
		s.machine.start(2, 0, 10)
		job := Job{Submit: 5, Work: 100, Curve: speedup.Downey{A: 3, Sigma: 0}}
		want := int32(3)
		choose := s.choose
		if lockIn {
			want = 2
			choose = func(*head) (int32, float64) { return 2, math.Inf(1) }
		}
		o := s.place(&s.machine, choose, []Job{job}, job.Submit)
		if o.Procs != want || o.Start != 10 || !o.Rebel {
			t.Errorf("lock-in %v: %+v", lockIn, o)
		}
	}
}

func TestUtilisation(t *testing.T) {
	jobs := []Job{{Work: 1000}, {Work: 4000}}
	// The first job does all of its work within the day, the second half of its work.
	outcomes := []Outcome{{Start: 0, End: 500}, {Start: dayTime - 100, End: dayTime + 100}}
	if got, want := Utilisation(10, jobs, outcomes), (1000+2000)/(10*float64(dayTime)); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCorrection(t *testing.T) {
	var c Correction
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 1000 {
		if i < enough && c.Apply(500) != 500 {
			t.Fatalf("%d waits correct 500 to %v", i, c.Apply(500))
		}
		wait := math.Exp(3 + 5*random.Float64())
		c.Learn(math.Pow(wait, 1.5)*math.Exp(.01*random.NormFloat64()), wait)
	}
	for _, wait := range []float64{50, 500, 2000} {
		if got := c.Apply(math.Pow(wait, 1.5)); math.Abs(got-wait) > .02*wait {
			t.Errorf("corrected to %v, want %v", got, wait)
		}
	}
	if c.Apply(0) != 0 {
		t.Error("what is free at once is not")
	}
}

// TestGolden compares two days of one seed with the outcomes at the time of writing.
func TestGolden(t *testing.T) {
	type golden struct{ jobs, rebels, turnaround int }
	want := []golden{
		{476, 0, 4425}, {476, 67, 4896}, {476, 44, 4453}, {476, 44, 4690}, {476, 150, 5675},
		{476, 52, 4580}, {476, 35, 4383},
	}
	for i, strategy := range strategies() {
		s := NewSystem(paper.Procs, strategy)
		var got golden
		sum := 0.
		for _, day := range days(7, 2) {
			for i, o := range s.Day(day) {
				got.jobs++
				sum += o.End - day[i].Submit
				if o.Rebel {
					got.rebels++
				}
			}
		}
		got.turnaround = int(math.Round(sum / float64(got.jobs)))
		if got != want[i] {
			t.Errorf("%+v: %+v, want %+v", strategy, got, want[i])
		}
	}
}
