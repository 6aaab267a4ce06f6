package qbets

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
)

// TestPartsAgainstOracle: waits are divided at the quantiles of a sorted list, and the gain
// is that of multiplied probabilities.
func TestPartsAgainstOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var groups [2][]int
		var counts [2]histogram
		var all []int
		var both histogram
		for g := range groups {
			zeros := random.Float64()
			for range 20 + random.IntN(300) {
				i := 0
				if random.Float64() > zeros {
					i = 1 + random.IntN(delay.Points)
				}
				groups[g] = append(groups[g], i)
				all = append(all, i)
				counts[g][i]++
				both[i]++
			}
		}
		slices.Sort(all)
		n := float64(len(all))
		part := func(i int) int {
			parts := map[int]bool{}
			for _, q := range []float64{.05, .25, .5, .75, .95} {
				if edge := all[int(math.Ceil(q*n-1e-9))-1]; edge < i {
					parts[edge] = true
				}
			}
			return len(parts)
		}
		likelihood := func(list []int, of []int) float64 {
			share := map[int]float64{}
			for _, i := range of {
				share[part(i)] += 1 / float64(len(of))
			}
			l := 0.
			for _, i := range list {
				l += math.Log(share[part(i)])
			}
			return l
		}
		want := 0.
		for _, list := range groups {
			want += likelihood(list, list) - likelihood(list, all)
		}
		parts := both.divide(len(all))
		if got := parts.gain(parts.tally(&counts[0]), parts.tally(&counts[1])); math.Abs(got-want) > 1e-6 {
			t.Fatalf("gain %v, want %v", got, want)
		}
		if want := part(delay.Points); parts.number != want && parts.number != want+1 {
			t.Fatalf("%d parts, want %d", parts.number, want)
		}
	}
}
