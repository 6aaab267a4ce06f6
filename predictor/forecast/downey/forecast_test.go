package downey

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/stats"
)

// state is a machine as a forecast sees it.
type state struct {
	free int32
	jobs []Running
}

func randomState(random *rand.Rand, most int) state {
	s := state{free: int32(random.IntN(8))}
	lifetimes := [...]stats.LogUniform{{Min: math.Exp(2), Max: math.Exp(12)}, {Min: 60, Max: 3600}}
	for range random.IntN(most + 1) {
		s.jobs = append(s.jobs, Running{
			Procs: 1 + int32(random.IntN(1<<random.IntN(6))),
			// some too young, some too old
			Age: stats.LogUniform{Min: .1, Max: 200_000}.Rand(random),
			// Mostly of one class.
			Lifetimes: lifetimes[max(0, random.IntN(4)-2)],
		})
	}
	return s
}

func (s *state) look() *Forecast {
	f := new(Forecast)
	f.Look(s.free, s.jobs)
	return f
}

// counted returns the jobs that a forecast counts: those younger than the longest lifetime.
func (s *state) counted() []Running {
	var jobs []Running
	for _, j := range s.jobs {
		if j.Age < j.Lifetimes.Max {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// running is the probability that the job still runs in q seconds: equation 5.
func (s *state) running(j Running, q float64) float64 {
	return (1 - j.Lifetimes.CDF(j.Age+q)) / (1 - j.Lifetimes.CDF(j.Age))
}

// crossing finds, by bisection, where a function that falls reaches the level.
func (s *state) crossing(level float64, f func(q float64) float64) float64 {
	low, high := 0., math.Exp(12)
	if f(high) > level {
		return math.Inf(1)
	}
	for range 60 {
		if middle := (low + high) / 2; f(middle) > level {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// slowMedian solves equation 9.
func (s *state) slowMedian(n int32) float64 {
	return s.crossing(.5, func(q float64) float64 {
		none := 1.
		for _, j := range s.counted() {
			if j.Procs >= n-s.free {
				none *= s.running(j, q)
			}
		}
		return none
	})
}

// slowMean solves equation 10.
func (s *state) slowMean(n int32) float64 {
	return s.crossing(0, func(q float64) float64 {
		missing := float64(n - s.free)
		for _, j := range s.counted() {
			missing -= float64(j.Procs) * (1 - s.running(j, q))
		}
		return missing - 1e-9
	})
}

// exactMedian solves equation 8.
func (s *state) exactMedian(n int32) float64 {
	return s.crossing(.5, func(q float64) float64 { return s.missed(n, q) })
}

// missed is the probability that n processors are not free in q seconds, exactly:
// equations 6 to 8.
func (s *state) missed(n int32, q float64) float64 {
	jobs := s.counted()
	missed := 0.
	for ended := range 1 << len(jobs) {
		free, probability := s.free, 1.
		for i, j := range jobs {
			if p := s.running(j, q); ended>>i&1 == 1 {
				free += j.Procs
				probability *= 1 - p
			} else {
				probability *= p
			}
		}
		if free < n {
			missed += probability
		}
	}
	return missed
}

func near(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-5*(1+math.Abs(b)) }

func TestForecastAgainstBisection(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		s := randomState(random, 20)
		f := s.look()
		for range 10 {
			n := 1 + int32(random.IntN(64))
			median, mean := 0., 0.
			if n > s.free {
				median, mean = s.slowMedian(n), s.slowMean(n)
			}
			if got := f.Median(n); !near(got, median) {
				t.Fatalf("%+v: median for %d is %v, want %v", s, n, got, median)
			}
			if got := f.Mean(n); !near(got, mean) {
				t.Fatalf("%+v: mean for %d is %v, want %v", s, n, got, mean)
			}
			benefactors := 0
			for _, j := range s.counted() {
				if j.Procs >= n-s.free {
					benefactors++
				}
			}
			want := mean
			if benefactors >= 2 {
				want = median
			}
			if got := f.Wait(n); !near(got, want) {
				t.Fatalf("%+v: wait for %d is %v, want %v", s, n, got, want)
			}
		}
	}
}

// TestMedianAgainstEnumeration: predictor A does not consider that several small jobs may
// free enough processors together. So it is never too short, and it is exact if they cannot.
func TestMedianAgainstEnumeration(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	exact := 0
	for range 200 {
		s := randomState(random, 8)
		n := s.free + 1 + int32(random.IntN(20))
		small := int32(0)
		for _, j := range s.counted() {
			if j.Procs < n-s.free {
				small += j.Procs
			}
		}
		got, want := s.look().Median(n), s.exactMedian(n)
		if small < n-s.free {
			exact++
			if !near(got, want) {
				t.Fatalf("%+v: median for %d is %v, want %v", s, n, got, want)
			}
		} else if got < want && !near(got, want) {
			t.Fatalf("%+v: median for %d is %v, less than %v", s, n, got, want)
		}
	}
	if exact < 30 {
		t.Errorf("only %d cases are exact", exact)
	}
}

// TestForecastRises: with the same predictor, more processors do not take less time to wait
// for. Earlier questions do not change an answer.
func TestForecastRises(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	for range 100 {
		s := randomState(random, 30)
		f := s.look()
		last := [3]float64{}
		for n := int32(1); n < 100; n++ {
			now := [3]float64{f.Median(n), f.Mean(n), f.Wait(n)}
			if fresh := (s.look()); !near(fresh.Median(n), now[0]) || !near(fresh.Mean(n), now[1]) {
				t.Fatalf("%+v: %d: %v, asked at once %v and %v", s, n, now, fresh.Median(n), fresh.Mean(n))
			}
			if now[0] < last[0] || now[1] < last[1] || now[2] < last[2] && n <= f.rising(n-1) {
				t.Fatalf("%+v: %d: %v after %v", s, n, now, last)
			}
			last = now
		}
	}
}

func BenchmarkForecast(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	var f Forecast
	states := make([]state, 100)
	for i := range states {
		states[i] = randomState(random, 40)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s := &states[i%len(states)]
		f.Look(s.free, s.jobs)
		for n := int32(1); n <= 128; n++ {
			f.Wait(n)
		}
	}
}
