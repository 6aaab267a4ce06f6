package rollout

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// sorted is releases in one sorted slice.
type sorted []release

func (s *sorted) add(x release) {
	*s = append(*s, x)
	slices.SortStableFunc(*s, func(a, b release) int { return cmp.Compare(a.at, b.at) })
}

func (s *sorted) remove(x release) { i := slices.Index(*s, x); *s = slices.Delete(*s, i, i+1) }

func (s sorted) freed(now int64, free, need int32) (int64, int32) {
	for _, r := range s {
		if free >= need && r.at != now {
			break
		}
		free, now = free+r.procs, r.at
	}
	return now, free
}

func (s sorted) by(at int64) (procs int32) {
	for _, r := range s {
		if r.at <= at {
			procs += r.procs
		}
	}
	return procs
}

// TestReleasesAgainstSorting adds and removes at random, with many at the same time, and asks when
// processors are free.
func TestReleasesAgainstSorting(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 3))
		var fast releases
		var slow sorted
		times := int64(3 + seed*seed*10)
		for step := range 3000 {
			switch n := random.IntN(100); {
			case n < 40+20*(step/500%2) || len(slow) == 0:
				x := release{100 + random.Int64N(times), random.Int32N(4)}
				fast.add(x)
				slow.add(x)
			case n < 99:
				x := slow[random.IntN(len(slow))]
				fast.remove(x)
				slow.remove(x)
			case n == 99 && random.IntN(20) == 0:
				fast.clear()
				slow = slow[:0]
			}
			free, need := random.Int32N(10), random.Int32N(1000)
			at, then := fast.freed(100, free, need)
			if by := 100 + random.Int64N(times); fast.by(by) != slow.by(by) {
				t.Fatalf("seed %d, step %d: %d by %d, want %d", seed, step, fast.by(by), by, slow.by(by))
			}
			if wantAt, want := slow.freed(100, free, need); at != wantAt || then != want {
				t.Fatalf("seed %d, step %d: %d at %d, want %d at %d", seed, step, then, at, want, wantAt)
			}
		}
	}
}

// BenchmarkReleases removes and adds one of many releases, and asks when half of the processors are
// free.
func BenchmarkReleases(b *testing.B) {
	for name, n := range map[string]int{"100": 100, "5000": 5000} {
		b.Run(name, func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 1))
			var r releases
			list := make([]release, n)
			for i := range list {
				list[i] = release{random.Int64N(86400), 1}
				r.add(list[i])
			}
			for b.Loop() {
				i := random.IntN(n)
				r.remove(list[i])
				list[i] = release{random.Int64N(86400), 1}
				r.add(list[i])
				r.freed(0, 0, int32(n/2))
			}
		})
	}
}
