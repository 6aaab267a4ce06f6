package sched

import (
	"math/rand/v2"
	"testing"
)

// naive is a Profile of the moments 0 to naiveEnd-1, one number each, of which the
// last lasts for ever.
type naiveProfile struct {
	begin int64
	free  [naiveEnd]int32
}

const naiveEnd = 64

func (p *naiveProfile) at(t int64) int32 {
	return p.free[min(max(t, p.begin), naiveEnd-1)]
}

func (p *naiveProfile) add(from, to int64, n int32) {
	for t := max(from, p.begin); t < naiveEnd && (t < to || to == Never); t++ {
		p.free[t] += n
	}
}

func (p *naiveProfile) fits(from, to int64, n int32) bool {
	from = max(from, p.begin)
	for t := from; t < to; t++ {
		if p.at(t) < n {
			return false
		}
		if t >= naiveEnd {
			break
		}
	}
	return true
}

func (p *naiveProfile) earlier(from, before, length int64, n int32) int64 {
	for t := max(from, p.begin); t < before; t++ {
		if p.fits(t, min(add(t, length), before), n) {
			return t
		}
		if t >= naiveEnd {
			break
		}
	}
	return before
}

func (p *naiveProfile) latest(from, to, length int64, n int32) (int64, bool) {
	for t := min(to, Never-1); t >= max(from, p.begin); t-- {
		if p.fits(t, add(t, length), n) {
			return t, true
		}
		if t > naiveEnd {
			t = naiveEnd + 1
		}
	}
	return 0, false
}

func TestProfileMatchesNaive(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		moment := func() int64 {
			if rng.IntN(20) == 0 {
				return Never - rng.Int64N(3)
			}
			return rng.Int64N(naiveEnd+6) - 3
		}
		var p Profile
		var q naiveProfile
		p.Reset(0, 5)
		q.add(0, Never, 5)
		for range 100 {
			a, b, n := moment(), moment(), rng.Int32N(13)-4
			length := max(1, b)
			if to := min(b, Never); to <= naiveEnd-1 || to == Never {
				if a < naiveEnd-1 {
					p.Add(a, to, n-3)
					q.add(a, to, n-3)
				}
			}
			if rng.IntN(20) == 0 && q.begin < naiveEnd-10 {
				q.begin += rng.Int64N(8)
				p.Advance(q.begin)
			}
			if got, want := p.At(a), q.at(a); got != want {
				t.Fatalf("seed %d: At(%d) = %d, want %d", seed, a, got, want)
			}
			if got, want := p.Fits(a, b, n), q.fits(a, b, n); got != want {
				t.Fatalf("seed %d: Fits(%d, %d, %d) = %v", seed, a, b, n, got)
			}
			if got, want := p.EarliestFit(a, length, n), q.earlier(a, Never, length, n); got != want {
				t.Fatalf("seed %d: EarliestFit(%d, %d, %d) = %d, want %d", seed, a, length, n, got, want)
			}
			c := moment()
			if got, want := p.EarlierFit(a, c, length, n), q.earlier(a, c, length, n); got != want {
				t.Fatalf("seed %d: EarlierFit(%d, %d, %d, %d) = %d, want %d", seed, a, c, length, n, got, want)
			}
			got, ok := p.LatestFit(a, c, length, n)
			want, wantOK := q.latest(a, c, length, n)
			if ok != wantOK || ok && got != want {
				t.Fatalf("seed %d: LatestFit(%d, %d, %d, %d) = %d, %v, want %d, %v\n%v\n%v", seed, a, c, length, n, got, ok, want, wantOK, p, q)
			}
		}
	}
}
