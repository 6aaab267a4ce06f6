package axes

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// dumb returns the quality of the best numbers, of all that are neither many nor far apart. As in
// the paper, the last of them is none before which a whole step to the end of the range is left.
func dumb(low, high float64) float64 {
	best := math.Inf(-1)
	for skip := 1.; skip <= 4; skip++ {
		for rank, factor := range nice {
			for power := math.Floor(math.Log10(high-low)) - 2; power <= math.Ceil(math.Log10(high-low)); power++ {
				step := skip * factor * math.Pow10(int(power))
				unit := step / skip
				for n := math.Ceil(low / unit); n*unit <= high; n++ {
					for count := 2; n*unit+step*float64(count-1) <= high && count < 12; count++ {
						first := n * unit
						last := first + step*float64(count-1)
						if n < (math.Floor(high/step)-float64(count-1))*skip {
							continue
						}
						simple := 1 - float64(rank)/float64(len(nice)-1) - skip
						if first <= 0 && last >= 0 {
							simple++
						}
						best = max(best, quality(simple, cover(low, high, first, last), density(low, high, first, last, count)))
					}
				}
			}
		}
	}
	return best
}

// TestRoundNumbers: no numbers are better than those found.
func TestRoundNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		low := math.Round(2000*r.NormFloat64()) / 100
		high := low + math.Round(1+1000*r.ExpFloat64())/100
		n := roundNumbers(low, high)
		last := n.first + n.step*float64(n.count-1)
		skip := math.Round(n.step / (n.factor * math.Pow10(n.power)))
		rank := 0
		for nice[rank] != n.factor {
			rank++
		}
		simple := 1 - float64(rank)/float64(len(nice)-1) - skip
		if n.first <= 0 && last >= 0 {
			simple++
		}
		got := quality(simple, cover(low, high, n.first, last), density(low, high, n.first, last, n.count))
		if want := dumb(low, high); got < want-1e-9 || n.first < low || last > high {
			t.Errorf("from %v to %v: %v with %.4f, where there is %.4f", low, high, n, got, want)
		}
	}
}

func TestRound(t *testing.T) {
	for _, c := range []struct {
		low, high   float64
		long, short string
		small       int
	}{
		{0, 1, "0.0 0.5 1.0", "0 0.5 1", 8},
		{0, 10.5, "0 5 10", "0 5 10", 8},
		{-3, 12, "0 10", "0 10", 6},
		{0, 7.9e8, "0 2.5e+08 5e+08 7.5e+08", "0 2.5e+08 5e+08 7.5e+08", 12},
		{.001, .0043, "0.001 0.002 0.003 0.004", "0.001 0.002 0.003 0.004", 13},
		{3, 3 + 1e-16, "3 3 3", "3 3 3", 0},
	} {
		for _, short := range []bool{false, true} {
			var labels []string
			small := 0
			for _, tick := range (Round{short}).Ticks(c.low, c.high) {
				if tick.Value < c.low || tick.Value > c.high {
					t.Errorf("%v to %v has %v", c.low, c.high, tick)
				}
				if tick.Label != "" {
					labels = append(labels, tick.Label)
				} else {
					small++
				}
			}
			want := c.long
			if short {
				want = c.short
			}
			if got := strings.Join(labels, " "); got != want || small != c.small {
				t.Errorf("%v to %v: %s and %d small ones, want %s and %d", c.low, c.high, got, small, want, c.small)
			}
		}
	}
	for _, tick := range (Unlabelled{Round{}}).Ticks(0, 1) {
		if strings.TrimSpace(tick.Label) != "" {
			t.Errorf("%q", tick.Label)
		}
	}
}
