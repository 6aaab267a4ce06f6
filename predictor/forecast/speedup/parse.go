package speedup

import (
	"fmt"
	"strconv"
	"strings"
)

// The largest parameters read: no program comes near them, and no curve loses
// its properties to rounding before.
const (
	maxParallelism = 1e9
	maxVariance    = 1e6
)

// Parse reads "amdahl/SERIAL", such as amdahl/0.05, and "downey/A,SIGMA", such as
// downey/64,1.5. The error says which parameter makes no sense.
func Parse(text string) (Curve, error) {
	name, parameters, _ := strings.Cut(text, "/")
	switch name {
	case "amdahl":
		serial, err := parseNumber(parameters, 0, 1)
		if err != nil {
			return nil, fmt.Errorf("speedup amdahl/SERIAL: SERIAL: %w", err)
		}
		return Amdahl{serial}, nil
	case "downey":
		average, variance, _ := strings.Cut(parameters, ",")
		a, err := parseNumber(average, 1, maxParallelism)
		if err != nil {
			return nil, fmt.Errorf("speedup downey/A,SIGMA: A: %w", err)
		}
		sigma, err := parseNumber(variance, 0, maxVariance)
		if err != nil {
			return nil, fmt.Errorf("speedup downey/A,SIGMA: SIGMA: %w", err)
		}
		return Downey{a, sigma}, nil
	}
	return nil, fmt.Errorf("%.40q is no speedup (try amdahl/0.05 or downey/64,1.5)", text)
}

func parseNumber(text string, least, most float64) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(least <= x && x <= most) {
		return 0, fmt.Errorf("%.40q is not a number from %g to %g", text, least, most)
	}
	return x, nil
}
