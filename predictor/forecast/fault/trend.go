package fault

import "math"

// Trend follows a signal of a node by a level and a slope. It also follows how far the signal
// usually lies from the line. It is Holt's linear exponential smoothing (1957), for measurements at
// any distance t in time (Wright 1986), with a scale that is robust against outliers (Gelper, Fried
// and Croux 2010):
//
//	expected  y' = level + slope t
//	level     y' + a (y - y')                       a = 1 - exp(-t/levelTime)
//	slope     slope + a b (y - y')/t                b = 1 - exp(-t/slopeTime)
//	usual     usual + c (min(|y-y'|, far usual) - usual)   c = 1 - exp(-t/usualTime)
//
// The zero value has seen nothing.
type Trend struct {
	seen                int
	at                  int64 // of the last measurement, Unix seconds
	level, slope, usual float64
}

// The memories of a Trend, in seconds, and their limits.
const (
	levelTime = 3600.
	slopeTime = 6 * 3600.
	usualTime = day
	// far is how many usual distances an outlier counts for at most.
	far = 3.
	// Up to fewSeen measurements say nothing yet. After a gap longer than longestGap, in seconds, a
	// new trend begins.
	fewSeen    = 24
	longestGap = 6 * 3600
)

// Observe takes in a finite value, measured at a time in Unix seconds. It returns by how many usual
// distances the value exceeds the expected value. It returns 0 if the value does not exceed it, or
// if too little has been seen. A usual distance is at least least, which must be positive.
func (t *Trend) Observe(at int64, value, least float64) (off float64) {
	if t.seen == 0 || at-t.at > longestGap {
		*t = Trend{seen: 1, at: at, level: value}
		return 0
	}
	passed := float64(max(1, at-t.at))
	t.at = max(at, t.at)
	expected := t.level + t.slope*passed
	wrong := value - expected
	if t.seen >= fewSeen {
		off = max(0, wrong/max(t.usual, least))
	}
	gain := -math.Expm1(-passed / levelTime)
	t.level = expected + gain*wrong
	t.slope += gain * -math.Expm1(-passed/slopeTime) * wrong / passed
	distance := math.Abs(wrong)
	if t.seen > 1 {
		distance = min(distance, far*max(t.usual, least))
	}
	// At first usual is the mean of all distances.
	t.usual += max(-math.Expm1(-passed/usualTime), 1/float64(t.seen)) * (distance - t.usual)
	t.seen++
	return off
}
