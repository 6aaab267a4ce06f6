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
	// MaxNodeSeconds bounds the node-seconds. The plan itself keeps to it too.
	MaxNodeSeconds float64 `json:"max_node_seconds,omitempty"`
	// MaxTimes is a multiple, at least 1, of what was quoted.
	MaxTimes float64 `json:"max_times,omitempty"`
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
		return MaxCost{MaxTimes: n}, nil
	case n <= 0 || n > MaxNodeHours:
		return MaxCost{}, fmt.Errorf("%.40q: node-hours lie above 0 and up to %.0f; --best-effort lets no nodes idle", text, MaxNodeHours)
	}
	return MaxCost{MaxNodeSeconds: 3600 * n}, nil
}

// String returns the value of --max-cost, or "" if the ceiling is what is quoted.
func (c MaxCost) String() string {
	switch {
	case c.MaxTimes != 0:
		return strconv.FormatFloat(c.MaxTimes, 'g', -1, 64) + "x"
	case c.MaxNodeSeconds != 0:
		return strconv.FormatFloat(c.MaxNodeSeconds/3600, 'g', -1, 64)
	}
	return ""
}
