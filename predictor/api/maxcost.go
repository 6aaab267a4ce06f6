package api

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxCost is the ceiling on the cost of the idle nodes before the work, which no revision of the
// plan exceeds. At most one of the two is set. Without either it is what was quoted.
type MaxCost struct {
	// NodeSeconds bounds the node-seconds. The plan itself keeps to it too.
	NodeSeconds float64 `json:"node_seconds,omitempty"`
	// Times is a multiple, at least 1, of what was quoted.
	Times float64 `json:"times,omitempty"`
}

// The greatest ceilings that an option may name.
const (
	MaxNodeHours = 1e7
	MaxMultiple  = 1000
)

// ParseMaxCost reads the value of --max-cost: node-hours as in 0.5, or a multiple of what is
// quoted as in 2x.
func ParseMaxCost(text string) (MaxCost, error) {
	number, isMultiple := strings.CutSuffix(text, "x")
	n, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || math.IsNaN(n):
		return MaxCost{}, fmt.Errorf("%.40q is neither a number of node-hours such as 0.5 nor a multiple of the quote such as 2x", text)
	case isMultiple && (n < 1 || n > MaxMultiple):
		return MaxCost{}, fmt.Errorf("%.40q: a multiple of the quote lies between 1x and %dx", text, MaxMultiple)
	case isMultiple:
		return MaxCost{Times: n}, nil
	case n <= 0 || n > MaxNodeHours:
		return MaxCost{}, fmt.Errorf("%.40q: node-hours lie above 0 and up to %.0f; --best-effort lets no nodes idle", text, MaxNodeHours)
	}
	return MaxCost{NodeSeconds: 3600 * n}, nil
}

// String returns the value of --max-cost, or "" if the ceiling is what is quoted.
func (c MaxCost) String() string {
	switch {
	case c.Times != 0:
		return strconv.FormatFloat(c.Times, 'g', -1, 64) + "x"
	case c.NodeSeconds != 0:
		return nodeHours(c.NodeSeconds)
	}
	return ""
}

// nodeHours formats node-seconds as node-hours, with the fewest digits that ParseMaxCost reads as
// these node-seconds.
func nodeHours(nodeSeconds float64) string {
	hours := nodeSeconds / 3600
	for digits := 1; digits < 17; digits++ {
		short, err := strconv.ParseFloat(strconv.FormatFloat(hours, 'g', digits, 64), 64)
		if err == nil && 3600*short == nodeSeconds {
			hours = short
			break
		}
	}
	return strconv.FormatFloat(hours, 'f', -1, 64)
}
