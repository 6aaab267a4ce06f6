// Package prob reads and writes probabilities in the notations that people use.
package prob

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Least is the least probability that can be asked for: a promise of less is none.
const Least = .01

// slip is for numbers that floating point has a little too low: 0.29 is less than 29/100.
const slip = 1e-9

// Parse reads a probability from Least to 1, which is excluded: "0.9" or "90%".
func Parse(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	p, err := strconv.ParseFloat(number, 64)
	if percent {
		p /= 100
	}
	if p == 1 {
		return 0, fmt.Errorf("%.40q is certainty, which nobody can promise (try 0.9 or 90%%)", text)
	}
	if err == nil && !percent && p >= 2 && p < 100 {
		return 0, fmt.Errorf("%.40q is not a probability between 0 and 1: did you mean %[1]s%%?", text)
	}
	if err != nil || !(p > 0 && p < 1) {
		return 0, fmt.Errorf("%.40q is not a probability between 0 and 1 (try 0.9 or 90%%)", text)
	}
	if p < Least {
		return 0, fmt.Errorf("%.40q is less than %g, and no promise (try 0.9 or 90%%)", text, Least)
	}
	return p, nil
}

// Format writes a probability with two decimals. It rounds down: a promise is
// never made to look better.
func Format(p float64) string {
	return strconv.FormatFloat(math.Floor(p*100+slip)/100, 'f', 2, 64)
}

// Beside writes a probability and a greater one with as many decimals as tell them apart, and the
// greater one as it is if it has at most four. It rounds down.
func Beside(p, greater float64) (less, more string) {
	for decimals := 2; ; decimals++ {
		digits := math.Pow10(decimals)
		down := func(p float64) float64 { return math.Floor(p*digits+slip) / digits }
		less, more = strconv.FormatFloat(down(p), 'f', decimals, 64), strconv.FormatFloat(down(greater), 'f', decimals, 64)
		if less < more && (decimals >= 4 || greater-down(greater) < slip) || decimals == 9 {
			return less, more
		}
	}
}

// Percent rounds a probability down to a whole percent: what is returned is never more than p, and
// p itself if that is a whole percent.
func Percent(p float64) float64 {
	n := math.Ceil(p * 100)
	if n/100 > p {
		n--
	}
	return n / 100
}
