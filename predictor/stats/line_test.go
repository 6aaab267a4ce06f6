package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

func TestLineAgainstGonum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		var line Line
		var xs, ys []float64
		shift := 1e6 * random.NormFloat64()
		for range 2 + random.IntN(50) {
			x := shift + random.NormFloat64()
			y := 3*x + random.NormFloat64()
			line.Add(x, y)
			xs, ys = append(xs, x), append(ys, y)
		}
		wantIntercept, wantSlope := stat.LinearRegression(xs, ys, nil, false)
		intercept, slope, ok := line.Fit()
		if !ok || line.Len() != len(xs) || math.Abs(slope-wantSlope) > 1e-6*math.Abs(wantSlope) ||
			math.Abs(intercept-wantIntercept) > 1e-6*math.Abs(wantIntercept)+1e-6*math.Abs(shift) {
			t.Fatalf("%v + %v x (%v), want %v + %v x", intercept, slope, ok, wantIntercept, wantSlope)
		}
		squares := 0.
		for i, x := range xs {
			off := ys[i] - intercept - slope*x
			squares += off * off
		}
		if got, want := line.Spread(), math.Sqrt(squares/float64(len(xs))); math.Abs(got-want) > 1e-3 {
			t.Fatalf("spread %v, want %v", got, want)
		}
		if got, want := line.Correlation(), stat.Correlation(xs, ys, nil); math.Abs(got-want) > 1e-6 {
			t.Fatalf("correlation %v, want %v", got, want)
		}
	}
}

func TestLineThroughTooLittle(t *testing.T) {
	var line Line
	for range 3 {
		if _, _, ok := line.Fit(); ok || line.Correlation() != 0 || line.Spread() != 0 {
			t.Fatalf("%d points fit", line.Len())
		}
		line.Add(2, float64(line.Len()))
	}
}
