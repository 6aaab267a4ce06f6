package checkpoint

import "math"

// Table is the Hazard of nodes whose failures a forecast expects at certain times.
type Table struct {
	// Expected is in the order of its times. Between them the rate of failures is constant.
	Expected []Expected
	// LongRun is the failures per second of as many nodes in the long run, and after the last of
	// the times.
	LongRun float64
}

// Expected is how many failures are expected within a time from now on: one or more come with
// probability 1-exp(-Failures).
type Expected struct{ Within, Failures float64 }

// Within implements Hazard.
func (t *Table) Within(seconds float64) float64 {
	var before Expected
	for _, e := range t.Expected {
		if seconds < e.Within {
			rate := (e.Failures - before.Failures) / (e.Within - before.Within)
			return -math.Expm1(-before.Failures - rate*(seconds-before.Within))
		}
		before = e
	}
	return -math.Expm1(-before.Failures - t.LongRun*(seconds-before.Within))
}

// Rate implements Hazard.
func (t *Table) Rate() float64 { return t.LongRun }
