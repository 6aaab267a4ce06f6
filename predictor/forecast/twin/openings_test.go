package twin

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// TestOpenings compares what Room says of later room with a check of every moment.
func TestOpenings(t *testing.T) {
	b := rooms()
	random := rand.New(rand.NewPCG(5, 5))
	opened := 0
	for range 500 {
		var claims []workload.Claim
		var times []int64
		for range random.IntN(12) {
			c := claim(1+random.Int32N(8), opening+random.Int64N(100))
			c.Limit = 1 + random.Int64N(30)
			claims, times = append(claims, c), append(times, c.Start, c.Start+c.Limit)
		}
		r := request(1+random.Int32N(8), 1+random.Int64N(30))
		at := opening + random.Int64N(100)
		fits := func(from int64) bool {
			for when := from; when < from+r.Limit; when++ {
				procs := r.CPUs
				for i := range claims {
					if c := &claims[i]; c.Start <= when && when < c.Start+c.Limit {
						procs += c.CPUs
					}
				}
				if procs > 8 {
					return false
				}
			}
			return true
		}
		slices.Sort(times)
		var want []int64
		if i := slices.IndexFunc(times, func(when int64) bool { return when > at && fits(when) }); i >= 0 && !fits(at) {
			want, opened = times[i:i+1], opened+1
		}
		if room := b.room(r, 0, at, claims); !slices.Equal(room.Next, want) {
			t.Fatalf("%+v for %d processors and %d s, after %d: %+v, want next %d", claims, r.CPUs, r.Limit, at, room, want)
		}
	}
	if opened < 100 {
		t.Errorf("%d of 500 open", opened)
	}
}

// TestOpeningsBesideRunningJobs: there may be more room between claims, although a job runs that
// may go on; and there is room for sure when it has reached its limit.
func TestOpeningsBesideRunningJobs(t *testing.T) {
	b := rooms()
	b.start(opening, b.submit(opening, 8, 3000))
	claims := []workload.Claim{claim(4, opening+100), claim(4, opening+2500)}
	room := b.room(request(8, run), 0, opening+50, claims)
	if want := []int64{opening + 100 + run, opening + 2500 + run}; !slices.Equal(room.Next, want) {
		t.Errorf("%+v, want next %d", room, want)
	}
}
