package fault

import (
	"math"
	"math/rand/v2"
	"testing"
)

const fiveMinutes = 300

// TestTrendIsHolts: measurements at equal distances in time are smoothed as by Holt's own
// recursion.
func TestTrendIsHolts(t *testing.T) {
	a, b := 1-math.Exp(-fiveMinutes/levelTime), 1-math.Exp(-fiveMinutes/slopeTime)
	r := rand.New(rand.NewPCG(1, 2))
	var trend Trend
	level, slope := 0., 0. // slope per step
	for i := range int64(500) {
		y := 20 + .1*float64(i) + r.NormFloat64()
		trend.Observe(i*fiveMinutes, y, 1e-9)
		if i == 0 {
			level = y
			continue
		}
		before := level
		level = a*y + (1-a)*(level+slope)
		slope = b*(level-before) + (1-b)*slope
		if math.Abs(trend.level-level) > 1e-9 || math.Abs(trend.slope*fiveMinutes-slope) > 1e-9 {
			t.Fatalf("step %d: level %g, slope %g, want %g and %g", i, trend.level, trend.slope*fiveMinutes, level, slope)
		}
	}
	if math.Abs(slope-.1) > .05 {
		t.Errorf("the slope is %g", slope)
	}
}

// TestTrendTellsJumps: noise and a steady rise stay within ten usual distances, and a jump does
// not, whatever outliers came before.
func TestTrendTellsJumps(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var trend Trend
	at, worst := int64(0), 0.
	y := func(i int) float64 { return 40 + .02*float64(i) + r.NormFloat64() }
	for i := range 2000 {
		at += 200 + r.Int64N(200)
		worst = max(worst, trend.Observe(at, y(i), .1))
	}
	if worst > 8 {
		t.Errorf("noise is %g usual distances off", worst)
	}
	if usual := math.Sqrt(2 / math.Pi); trend.usual < usual/1.3 || trend.usual > 1.3*usual {
		t.Errorf("the usual distance is %g, want some %g", trend.usual, usual)
	}
	before := trend.usual
	if off := trend.Observe(at+fiveMinutes, 1e6, .1); off < 1000 || trend.usual > 1.1*before {
		t.Errorf("an outlier is %g off, and makes the usual distance %g of %g", off, trend.usual, before)
	}
	if off := trend.Observe(at+2*fiveMinutes, 0, .1); off != 0 {
		t.Errorf("a fall is %g off", off)
	}
}

// TestTrendBegins: few measurements say nothing, the least distance applies to a constant signal,
// and a new trend begins after a long gap.
func TestTrendBegins(t *testing.T) {
	var trend Trend
	for i := range int64(fewSeen) {
		if off := trend.Observe(i*fiveMinutes, float64(i%2*100), 1); off != 0 {
			t.Fatalf("measurement %d is %g off", i, off)
		}
	}
	trend = Trend{}
	for i := range int64(100) {
		trend.Observe(i*fiveMinutes, 5, 2)
	}
	if off := trend.Observe(100*fiveMinutes, 25, 2); math.Abs(off-10) > 1e-9 {
		t.Errorf("%g off, want 10", off)
	}
	if off := trend.Observe(100*fiveMinutes+longestGap+1, 1000, 2); off != 0 || trend.seen != 1 {
		t.Errorf("after a gap: %g, %+v", off, trend)
	}
	// A clock that stands still or goes back does no harm.
	for range 100 {
		if trend.Observe(0, 3, 1); math.IsNaN(trend.level) || math.IsInf(trend.slope, 0) {
			t.Fatalf("%+v", trend)
		}
	}
}
