package axes

import (
	"math"
	"strconv"
)

// Round is a Marker of round numbers, three of them or so, with smaller ticks between.
type Round struct {
	Short bool // labels have as few digits as they need, and not all the same number of decimals
}

// Ticks implements Marker.
func (r Round) Ticks(low, high float64) []Tick {
	n := roundNumbers(low, high)
	var ticks []Tick
	for i := range n.count {
		at := n.first + float64(i)*n.step
		label := n.label(at)
		if r.Short {
			label = strconv.FormatFloat(at, 'g', mostDigits, 64)
		}
		ticks = append(ticks, Tick{Value: at, Label: label})
	}
	if n.parts == 0 {
		return ticks
	}
	small, i := n.step/n.parts, 0.
	for n.first+(i-1)*small > low {
		i--
	}
	for ; n.first+i*small <= high; i++ {
		at := n.first + i*small
		near := false
		for _, t := range ticks[:n.count] {
			near = near || math.Abs(t.Value-at) < small/2
		}
		if !near {
			ticks = append(ticks, Tick{Value: at})
		}
	}
	return ticks
}

// Unlabelled is a Marker with the ticks of another, but without their labels, which take room all
// the same.
type Unlabelled struct{ Marker }

// Ticks implements Marker.
func (u Unlabelled) Ticks(low, high float64) []Tick {
	ticks := u.Marker.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = " "
		}
	}
	return ticks
}

// mostDigits is the largest number of digits of a label, or of its decimals.
const mostDigits = 6

// numbers are so many from first on, a step apart.
type numbers struct {
	first, step float64
	count       int
	parts       float64 // into which smaller ticks divide a step; 0: there are none
	factor      float64 // of the step, one of those that are nice
	power       int     // of ten, of the step
}

// label writes one of the numbers with as many decimals as all of them need.
func (n *numbers) label(x float64) string {
	format, decimals := byte('f'), 0
	if n.power < -1 || n.power > mostDigits {
		format, decimals = 'g', 1
	}
	if math.Trunc(n.factor) != n.factor {
		decimals += 2
	}
	return strconv.FormatFloat(x, format, min(mostDigits, max(decimals, -n.power)), 64)
}

// The numbers of "An Extension of Wilkinson's Algorithm for Positioning Tick Labels on Axes"
// (Talbot, Lin and Hanrahan 2010): the factors of steps, the nicest first, and how many numbers
// there had better be.
var nice = [...]float64{1, 5, 2, 2.5, 4, 3}

const wanted = 3

// quality is a weighted sum of how simple numbers are, how much of the range they cover, and how
// near their number is to the one wanted. All of them are equally legible.
func quality(simple, cover, dense float64) float64 { return .25*simple + .2*cover + .5*dense + .05 }

// roundNumbers returns the best numbers from low to high.
func roundNumbers(low, high float64) numbers {
	const tiny = 100. / (1 << 52)
	step := (high - low) / (wanted - 1)
	best, most := numbers{first: low, step: step, count: wanted, power: int(math.Floor(math.Log10(step)))}, -2.
	if high-low < tiny {
		return best
	}
	// What is skipped, which of the nice numbers and how many numbers are tried in turn, for as
	// long as they may be better than the best so far.
	for skip := 1.; ; skip++ {
		for rank, factor := range nice {
			simplest := 2 - float64(rank)/(float64(len(nice))-1) - skip
			if quality(simplest, 1, 1) < most {
				return best
			}
			for count := 2; ; count++ {
				densest := 1.
				if count >= wanted {
					densest = 2 - float64(count-1)/(wanted-1)
				}
				if quality(simplest, 1, densest) < most {
					break
				}
				for power := math.Ceil(math.Log10((high - low) / float64(count+1) / skip / factor)); ; power++ {
					step := skip * factor * math.Pow10(int(power))
					span := step * float64(count-1)
					if span > 1e300 || quality(simplest, widest(low, high, span), densest) < most {
						break
					}
					start, end := (math.Floor(high/step)-float64(count-1))*skip, math.Ceil(high/step)*skip
					for ; start <= end && start != start-1; start++ {
						first := start * (step / skip)
						last := first + span
						if first < low || last > high {
							continue
						}
						simple := simplest - 1
						if first <= 0 && last >= 0 {
							// they reach from one side of 0 to the other; the paper wants 0 itself
							simple++
						}
						if q := quality(simple, cover(low, high, first, last), density(low, high, first, last, count)); q > most {
							best, most = numbers{first, step, count, parts(skip * factor), factor, int(power)}, q
						}
					}
				}
			}
		}
	}
}

// cover returns how near to the ends of the range the first and the last number are.
func cover(low, high, first, last float64) float64 {
	tenth := .1 * (high - low)
	return 1 - .5*((high-last)*(high-last)+(low-first)*(low-first))/(tenth*tenth)
}

// widest returns what cover is at most for numbers of a span.
func widest(low, high, span float64) float64 {
	beyond := (span - (high - low)) / 2
	if beyond <= 0 {
		return 1
	}
	tenth := .1 * (high - low)
	return 1 - beyond*beyond/(tenth*tenth)
}

// density returns how near to those wanted the numbers of a unit are.
func density(low, high, first, last float64, count int) float64 {
	is, ought := float64(count-1)/(last-first), (wanted-1)/(max(last, high)-min(low, first))
	return 2 - max(is/ought, ought/is)
}

// parts returns into how many parts a step is divided by smaller ticks.
func parts(step float64) float64 {
	switch step {
	case 1, 2.5:
		return 5
	case 2, 3, 4, 5:
		return step
	}
	return 2
}
