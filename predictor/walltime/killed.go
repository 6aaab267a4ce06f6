package walltime

import "math"

// odds is the number of probabilities of being killed at the limit that are put to
// the test apart from each other: those whose odds are powers of e, half from e^-8 on.
const odds = 25

// killing tells what probabilities of being killed at the limit were worth. Its zero
// value believes them.
type killing struct {
	killed, n [odds]float64
}

// place returns the last of the odds that is not above that of a probability, and
// the share of the next in it.
func place(probability float64) (i int, share float64) {
	x := 2*math.Log(probability/(1-probability)) + 16
	x = max(0, min(x, odds-1-1e-9))
	i = int(x)
	return i, x - float64(i)
}

// add takes in whether a job was killed, which had a probability.
func (k *killing) add(probability float64, killed bool) {
	i, share := place(probability)
	for _, part := range [...]struct {
		i     int
		share float64
	}{{i, 1 - share}, {i + 1, share}} {
		keep := 1 - part.share/life
		k.n[part.i] = k.n[part.i]*keep + part.share
		k.killed[part.i] *= keep
		if killed {
			k.killed[part.i] += part.share
		}
	}
}

const killStart = 5

// of returns what a probability was worth.
func (k *killing) of(probability float64) float64 {
	i, share := place(probability)
	low := (k.killed[i] + killStart*probability) / (k.n[i] + killStart)
	high := (k.killed[i+1] + killStart*probability) / (k.n[i+1] + killStart)
	return low + (high-low)*share
}
