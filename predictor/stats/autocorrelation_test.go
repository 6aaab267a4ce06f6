package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// slowAutocorrelation follows the definition.
func slowAutocorrelation(x []float64) float64 {
	mean := 0.
	for _, v := range x {
		mean += v / float64(len(x))
	}
	var product, square float64
	for i, v := range x {
		square += (v - mean) * (v - mean)
		if i > 0 {
			product += (v - mean) * (x[i-1] - mean)
		}
	}
	return product / square
}

func TestLag1AgainstDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var window Lag1
	var x []float64
	for i := range 50_000 {
		v := 20 * random.Float64()
		window.Push(v)
		x = append(x, v)
		if len(x) > 300 {
			window.Drop(x[1])
			x = x[1:]
		}
		if i%997 == 5 {
			if got, want := window.Autocorrelation(), slowAutocorrelation(x); math.Abs(got-want) > 1e-9 {
				t.Fatalf("after %d: %v, want %v", i+1, got, want)
			}
		}
	}
}

func TestLag1OfAR1(t *testing.T) {
	for _, rho := range []float64{0, .3, .6, .9} {
		random := rand.New(rand.NewPCG(2, 2))
		var window Lag1
		x := 0.
		for range 100_000 {
			x = rho*x + math.Sqrt(1-rho*rho)*random.NormFloat64()
			window.Push(x)
		}
		if got := window.Autocorrelation(); math.Abs(got-rho) > .01 {
			t.Errorf("autocorrelation of AR(1) with %v is %v", rho, got)
		}
	}
}

func TestLag1WithoutVariation(t *testing.T) {
	var window Lag1
	for i := range 100 {
		if got := window.Autocorrelation(); got != 0 {
			t.Fatalf("%d equal values: %v, want 0", i, got)
		}
		window.Push(math.Log(3))
	}
}
