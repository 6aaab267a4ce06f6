package recalibration

import "math"

// Probabilities from 0 to 1 are divided into bins. Bins become narrower towards both ends,
// where the difference between 1 in 100 and 1 in 1000 matters. Below .5, each octave, from
// a probability to its double, has the same number of bins of equal width. The bins above
// .5 mirror those below.
const (
	octaves   = 12
	perOctave = 8
	half      = octaves*perOctave + 1 // bins below .5; the first lies below all octaves
	bins      = 2 * half
)

// edges are the lower ends of the bins and, last, 1.
var edges = func() (e [bins + 1]float64) {
	for i := 1; i <= half; i++ {
		octave, part := (i-1)/perOctave, (i-1)%perOctave
		e[i] = math.Ldexp(1+float64(part)/perOctave, octave-octaves-1)
	}
	for i := range half {
		e[bins-i] = 1 - e[i]
	}
	return e
}()

// bin returns the bin that a probability lies in.
func bin(p float64) int {
	if !(p < .5) {
		return bins - 1 - lowBin(1-p)
	}
	return lowBin(p)
}

// lowBin returns the bin of a probability up to .5. It reads the bin off the bits of the
// number: the exponent gives the octave, and the top 3 bits of the mantissa give the bin
// within the octave.
func lowBin(p float64) int {
	const first = (1023 - octaves - 1) * perOctave // the bits of the lowest octave's first bin
	bits := int(math.Float64bits(max(p, 0)) >> (52 - 3))
	return max(0, min(bits-first+1, half-1))
}
