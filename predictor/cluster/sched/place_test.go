package sched

import (
	"math/rand/v2"
	"testing"
)

// drive submits random jobs to s and ends them, some at their limits. It calls look after each
// Pass.
func drive(s *Scheduler, random *rand.Rand, look func(now int64)) {
	const jobs = 2000
	ends := func(j *Job) int64 { return j.Start + min(j.Run, j.Limit) }
	next := int64(0)
	for n := 0; n < jobs || s.Queued()+len(s.Running())+len(s.reserved) > 0; {
		now := s.Wake()
		if n < jobs {
			now = min(now, next)
		}
		for _, j := range s.Running() {
			now = min(now, ends(j))
		}
		for i := 0; i < len(s.Running()); {
			if j := s.Running()[i]; ends(j) <= now {
				s.Finish(now, j)
			} else {
				i++
			}
		}
		for ; n < jobs && next <= now; n++ {
			j := &Job{
				ID: int64(n), Submit: now, Procs: 1 + random.Int32N(s.config.Procs)>>random.IntN(6),
				Limit: 1 + random.Int64N(1000), Run: random.Int64N(1000),
			}
			if s.config.Restart != nil {
				j.Estimate = random.Int64N(j.Limit)
			}
			if s.config.Protected > 0 && random.IntN(8) == 0 {
				s.Reserve(now, j, now+random.Int64N(2000))
			} else {
				s.Submit(now, j)
			}
			next += random.Int64N(250)
		}
		s.Pass(now)
		look(now)
	}
}

// TestProfileIsWhatIsTaken: the profile agrees with the sum of running jobs, reservations and
// places.
func TestProfileIsWhatIsTaken(t *testing.T) {
	for _, order := range []Order{FCFS(), LWF()} {
		for backfill := range Timeline + 1 {
			for _, restart := range []*Restart{nil, {A: 1}} {
				s := New(Config{Procs: 64, Order: order, Backfill: backfill, Protected: .5, Restart: restart})
				drive(s, rand.New(rand.NewPCG(1, 2)), func(now int64) {
					var taken Profile
					taken.Reset(now, 64)
					for _, j := range s.Running() {
						taken.Add(now, j.state.until, -j.Procs)
					}
					for _, j := range s.reserved {
						taken.Add(j.state.at, j.state.at+j.Limit, -j.Procs)
					}
					for j := range s.Queue() {
						if j.state.at != Never {
							taken.Add(j.state.at, j.state.at+j.planned(), -j.Procs)
						}
					}
					for _, p := range []*Profile{&s.profile, &taken} {
						for at := range p.Steps() {
							if got, want := s.profile.At(at), taken.At(at); got != want {
								t.Fatalf("%s/%v: at %d, the profile has %d free at %d; %d are", order.Name, backfill, now, got, at, want)
							}
						}
					}
					if taken.At(now) != s.Free() {
						t.Fatalf("%s/%v: at %d, %d processors are free, and not %d", order.Name, backfill, now, s.Free(), taken.At(now))
					}
				})
			}
		}
	}
}

// TestConservativeKeepsItsWord: no job's place is ever later than its first place, and each job
// starts at its place.
func TestConservativeKeepsItsWord(t *testing.T) {
	for _, order := range []Order{FCFS(), LWF()} {
		s := New(Config{Procs: 64, Order: order, Backfill: Conservative})
		place, early := map[*Job]int64{}, 0
		drive(s, rand.New(rand.NewPCG(3, 4)), func(now int64) {
			for j := range s.Queue() {
				if at, known := place[j]; known && j.state.at > at {
					t.Fatalf("%s: at %d, job %d is to start at %d, not at %d", order.Name, now, j.ID, j.state.at, at)
				} else if j.state.at < at {
					early++
				}
				place[j] = j.state.at
			}
			for _, j := range s.Running() {
				if at, waited := place[j]; waited && j.Start > at {
					t.Fatalf("%s: job %d starts at %d, not at %d", order.Name, j.ID, j.Start, at)
				}
			}
		})
		if early == 0 {
			t.Errorf("%s: no place ever moved forward", order.Name)
		}
	}
}
