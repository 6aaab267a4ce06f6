package forecast

import "math"

// The levels from 0 to 1 are divided into steps that become smaller towards both
// ends, where it matters whether one in a hundred is meant or one in a thousand:
// each halving of what is missing to 0, or to 1, takes the same number of steps.
const (
	octaves = 12
	perOct  = 8
	half    = octaves*perOct + 1 // steps below .5; the first begins at 0
	steps   = 2 * half
)

// edges are where the steps begin and, at the end, 1.
var edges = func() (e [steps + 1]float64) {
	for i := 1; i <= half; i++ {
		octave, part := (i-1)/perOct, (i-1)%perOct
		e[i] = math.Ldexp(1+float64(part)/perOct, octave-octaves-1)
	}
	for i := range half {
		e[steps-i] = 1 - e[i]
	}
	return e
}()

// step returns the step that a level lies in.
func step(level float64) int {
	if !(level < .5) {
		return steps - 1 - lowStep(1-level)
	}
	return lowStep(level)
}

// lowStep returns the step of a level up to .5, read off its bits.
func lowStep(level float64) int {
	const first = (1023 - octaves - 1) * perOct // of the least octave
	bits := int(math.Float64bits(max(level, 0)) >> (52 - 3))
	return max(0, min(bits-first+1, half-1))
}
