package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

func TestTableIsUpToDate(t *testing.T) {
	var got bytes.Buffer
	if err := write(&got); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../rareruns_table.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("rareruns_table.go is not what go generate writes")
	}
}

// TestIndependentRuns: without autocorrelation a run of r has probability
// (1-q)^r.
func TestIndependentRuns(t *testing.T) {
	for _, q := range quantiles {
		want := int(math.Ceil(math.Log(rarity) / math.Log(1-q)))
		if got := runLength(0, q, rarity); got != want {
			t.Errorf("runLength(0, %v) = %d, want %d", q, got, want)
		}
	}
}

// TestRunsCounted counts runs in a long series, at lengths that are frequent enough.
// runLength must give about the length r whose runs have the counted share of all places.
func TestRunsCounted(t *testing.T) {
	const (
		rho    = .8
		length = 5 * 1000 * 1000
	)
	random := rand.New(rand.NewPCG(1, 1))
	counts := make([]int, 100) // by r: the number of places that end a run of r or more
	x, run := 0., 0
	for range length {
		x = rho*x + math.Sqrt(1-rho*rho)*random.NormFloat64()
		if x > 0 {
			run++
		} else {
			run = 0
		}
		for r := 1; r <= min(run, len(counts)-1); r++ {
			counts[r]++
		}
	}
	for _, r := range []int{1, 5, 10, 20, 30} {
		share := float64(counts[r]) / length
		if got := runLength(rho, .5, share); got < r-1 || got > r+1 {
			t.Errorf("runs of %d make up %.3g of the places, but runLength gives %d", r, share, got)
		}
	}
}
